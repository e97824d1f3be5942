/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/issue/issue.h"
#include "threads/issue/post.h"

int MPIDI_lockq_is_blocked(MPIDI_per_vci_t * vci)
{
    MPIDI_vci_t *v = &vci->threads;

    if (!v->draining)
        MPIDI_posted_issue(v, MPIR_CVAR_CH4_MAX_COMBINE);
    return v->draining || MPIDI_section_has_posted(v);
}

int MPIDI_lockq_post_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    int mpi_errno = MPIDI_issue_post(vci, op, req, 1);

    if (mpi_errno != MPI_SUCCESS)
        return mpi_errno;
    /* the holder may have looked at the queue for the last time just before */
    tsm_second_look_tell(&MPIDI_VCI(vci).threads.second_look);
    /* A thread that drains does not drain within that. If it holds this VCI, it looks again when it
     * leaves; if it holds another one, the next holder or poll of this VCI finds the operation. */
    if (!MPIDI_thread_local.draining) {
        MPIDI_SECTION_POST_FENCE();
        MPIDI_section_help(&MPIDI_VCI(vci).lock);
    }
    return MPI_SUCCESS;
}

#endif
