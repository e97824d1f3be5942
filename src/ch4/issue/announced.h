/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_ANNOUNCED_H_INCLUDED
#define MPIDI_ISSUE_ANNOUNCED_H_INCLUDED

/* An operation on the stack of a thread that waits until another thread, which holds the VCI, has
 * issued it: for csync.c and hybcomb.c. */

#include "../op_apply.h"

/* All of a two-sided operation is in one cache line, which goes to the thread that issues it and
 * back. */
typedef struct MPIDI_announced {
    MPIR_Request *req;          /* in and out */
    int mpi_errno;
    int vci;
    MPIDI_op_t op;
} __attribute__ ((aligned(TSM_CACHELINE))) MPIDI_announced_t;

/* op, with its own copy of the request: the caller's is in a line of the caller's. */
static inline MPIDI_announced_t MPIDI_announced_make(int vci, const MPIDI_op_t * op,
                                                     MPIR_Request * const *req)
{
    return (MPIDI_announced_t) {
        .req = op->kind == MPIDI_OP_IMRECV ? *req : NULL,.mpi_errno = MPI_SUCCESS,.vci = vci,
        .op = MPIDI_op_copy(op)
    };
}

/* Issue it. By any thread that holds the VCI: the owner of the VCI is the calling thread, so MPICH's
 * function enters it once more. */
static inline void MPIDI_announced_issue(void *arg)
{
    MPIDI_announced_t *a = arg;
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(a->vci).lock;
    const int depth = m->count;

    a->mpi_errno = MPIDI_op_apply_any(&a->op, &a->req);
    if (unlikely(a->mpi_errno != MPI_SUCCESS))
        m->count = depth;       /* MPICH may fail inside the section */
}

#endif /* MPIDI_ISSUE_ANNOUNCED_H_INCLUDED */
