/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/issue/issue.h"
#include "threads/issue/post.h"

int MPIDI_lockq_is_blocked(MPIDI_vci_t * vci)
{
    if (!vci->draining)
        MPIDI_posted_issue(vci, MPIR_CVAR_CH4_MAX_COMBINE);
    return vci->draining || MPIDI_section_has_posted(vci);
}

int MPIDI_lockq_post_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    int mpi_errno = MPIDI_issue_post(vci, op, req);

    /* the holder may have looked at the queue for the last time just before */
    if (mpi_errno == MPI_SUCCESS && !MPIDI_thread_local.draining)
        MPIDI_section_help(&MPIDI_VCI(vci).lock, &MPIDI_VCI(vci).threads);
    return mpi_errno;
}

#endif
