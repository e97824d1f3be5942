/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_H_INCLUDED
#define MPIDI_ISSUE_H_INCLUDED

/* How an operation reaches its VCI: the contract that each thread-safety model fulfils in one file of
 * this folder, and the dispatch to the model in force, which folds away where the model is fixed.
 *
 * int MPIDI_issue(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
 *   Returns when the operation is issued or posted, with the request to wait on in *req, or an error
 *   code. IMRECV takes the message in *req; every other kind ignores its value.
 *   op        in the caller's memory; not read after the return
 *   vci       the VCI that the operation will use (MPIDI_op_*_vci); not used by lock
 *   order     operations of one thread to one peer on one communicator go out in the order of the
 *             calls, whether issued or posted
 *   may block lock: on the lock of the VCI. lockq, offload: on malloc now and then, and on the VCI
 *             if the operation cannot be posted (post.h). mp-server: also on room in the server's
 *             mailbox. csync, hybcomb: until the operation is issued, here or by the thread that
 *             holds the VCI
 *   may run   by any thread, with no VCI held or with the one that op uses
 *   errors    of the arguments: found before; of the operation: returned if it was issued before the
 *             return, else in the status, and by the error handler, when the request is completed
 *   locks     takes the VCI, and maybe SELF; no other */

#include "../model.h"
#include "../op_apply.h"
#include "../stats/hooks.h"
#include "../vci_at.h"
#include "csync.h"
#include "hybcomb.h"
#include "lock.h"
#include "lockq.h"
#include "offload.h"
#include "rma_direct.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
/* For csync and hybcomb: returns the lock of the VCI, now ours, or NULL. Never waits. */
MPL_STATIC_INLINE_PREFIX MPIDU_Thread_mutex_t *MPIDI_issue_try(int vci)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;

    return MPIDI_section_try(m) ? m : NULL;
}
#endif

/* always inline: a caller's operation then stays in registers, and its kind is a constant */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_issue(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    MPIDI_per_vci_t *lockq = NULL;
    MPIDU_Thread_mutex_t *held = NULL;
    int mpi_errno;

    /* lockq first, which has the least to do; it looks for a flush only before it posts */
    if (!MPIR_ThreadInfo.isThreaded || (MPIDI_op_is_rma(op->kind) && MPIDI_rma_is_direct(op))) {
        /* issued below */
    } else if (MPIDI_MODEL_ISSUE == MPIDI_ISSUE_LOCKQ) {
        lockq = MPIDI_vci_at(vci);
        if (unlikely(!MPIDI_lockq_enter(lockq, 0))) {
            if (!MPIDI_op_is_rma(op->kind) || !MPIDI_rma_awaits_flush(op))
                return MPIDI_lockq_post(vci, op, req);
            lockq = NULL;
        }
    } else if (MPIDI_MODEL_ISSUE == MPIDI_ISSUE_LOCK ||
               (MPIDI_op_is_rma(op->kind) && MPIDI_rma_awaits_flush(op))) {
        /* issued below */
    } else if (MPIDI_MODEL_ISSUE == MPIDI_ISSUE_LOCKQ_CHOSEN) {
        held = &MPIDI_vci_at(vci)->lock;
        if (unlikely(!MPIDI_lockq_enter(MPIDI_vci_at(vci), 1)))
            return MPIDI_lockq_post(vci, op, req);
    } else if (MPIDI_MODEL_ISSUE == MPIDI_ISSUE_CSYNC) {
        held = MPIDI_issue_try(vci);
        if (unlikely(!held))
            return MPIDI_csync_announce(vci, op, req);
    } else if (MPIDI_MODEL_ISSUE == MPIDI_ISSUE_HYBCOMB) {
        held = MPIDI_issue_try(vci);
        if (unlikely(!held))
            return MPIDI_hybcomb_delegate(vci, op, req);
    } else if ((MPIDI_MODEL_ISSUE == MPIDI_ISSUE_OFFLOAD ||
                MPIDI_MODEL_ISSUE == MPIDI_ISSUE_MP_SERVER) && MPIDI_offload_posts()) {
        return MPIDI_offload_post(vci, op, req);
    }
    /* the one place of all models from which MPICH's function is called, so that it is inlined */
    MPIDI_STATS(MPIDI_stats_issued(MPIDI_STATS_DIRECT, MPIDI_op_stats_kind(op->kind)));
    mpi_errno = MPIDI_issue_lock(op, req);
    if (lockq)
        MPIDI_section_leave_vci(&lockq->lock, &lockq->threads, 0);
    else if (held)
        MPIDI_section_exit(held);
    return mpi_errno;
#else
    MPIDI_STATS(MPIDI_stats_issued(MPIDI_STATS_DIRECT, MPIDI_op_stats_kind(op->kind)));
    return MPIDI_issue_lock(op, req);
#endif
}

/* The VCI of a send and of a receive, for MPIDI_issue. */
MPL_STATIC_INLINE_PREFIX int MPIDI_op_send_vci(MPIR_Comm * comm, int rank, int tag)
{
    return MPIDI_vci_of(MPIDI_get_vci(SRC_VCI_FROM_SENDER, comm, comm->rank, rank, tag));
}

MPL_STATIC_INLINE_PREFIX int MPIDI_op_recv_vci(MPIR_Comm * comm, int rank, int tag)
{
    return MPIDI_vci_of(MPIDI_get_vci(DST_VCI_FROM_RECVER, comm, rank, comm->rank, tag));
}

#endif /* MPIDI_ISSUE_H_INCLUDED */
