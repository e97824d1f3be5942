/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_ANNOUNCED_H_INCLUDED
#define MPIDI_ISSUE_ANNOUNCED_H_INCLUDED

/* An operation on the stack of a thread that waits until another thread, which holds the VCI, has
 * issued it: for csync.c and hybcomb.c. */

#include "../op_apply.h"

typedef struct MPIDI_announced {
    const MPIDI_op_t *op;
    MPIR_Request **req;
    MPIDU_Thread_mutex_t *m;    /* of the VCI */
    int mpi_errno;
} MPIDI_announced_t;

/* Issue it. By any thread that holds the VCI: the owner of the VCI is the calling thread, so MPICH's
 * function enters it once more. */
static inline void MPIDI_announced_issue(void *arg)
{
    MPIDI_announced_t *a = arg;
    const int depth = a->m->count;

    if (a->op->kind != MPIDI_OP_IMRECV)
        *a->req = NULL;
    a->mpi_errno = MPIDI_op_apply_any(a->op, a->req);
    if (unlikely(a->mpi_errno != MPI_SUCCESS))
        a->m->count = depth;    /* MPICH may fail inside the section */
}

#endif /* MPIDI_ISSUE_ANNOUNCED_H_INCLUDED */
