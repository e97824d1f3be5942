/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/issue/issue.h"
#include "threads/issue/post.h"

int MPIDI_offload_post_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    int mpi_errno = MPIDI_issue_post(vci, op, req, 0);

    if (mpi_errno == MPI_SUCCESS)
        MPIDI_served_ring(vci);
    return mpi_errno;
}

#endif
