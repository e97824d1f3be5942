/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/issue/issue.h"

/* An announced operation, on the stack of the thread that waits for it. */
typedef struct announced {
    const MPIDI_op_t *op;
    MPIR_Request **req;
    int mpi_errno;
} announced_t;

/* Issue it. By the thread that announced it, or by another one that holds the VCI, when that enters
 * or leaves (section.c). The owner of the VCI is then the calling thread, so that MPICH's function
 * enters it once more. */
static void issue(void *arg)
{
    announced_t *a = arg;

    a->mpi_errno = MPIDI_issue_lock(a->op, a->req);
}

int MPIDI_csync_announce_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;
    announced_t mine = {.op = op,.req = req,.mpi_errno = MPI_SUCCESS };

    if (MPIDI_thread_local.held)
        MPIDI_section_enter(m, 0, 0);
    else if (!MPIDI_vci_csync_announce(m, issue, &mine))
        return mine.mpi_errno;
    issue(&mine);
    MPIDI_section_exit(m);
    return mine.mpi_errno;
}

#endif
