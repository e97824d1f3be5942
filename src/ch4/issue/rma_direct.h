/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_RMA_DIRECT_H_INCLUDED
#define MPIDI_ISSUE_RMA_DIRECT_H_INCLUDED

/* The one-sided operations that, whatever the model, the calling thread issues itself:
 *   - a put or get of its own memory, and an operation on a window in shared memory (MPI_Win_allocate)
 *     at a process of its node: it copies, or updates under the window's mutex, and takes no VCI;
 *   - an accumulate that may be an atomic operation of the network, because it may have to wait for
 *     active messages first;
 *   - an operation during a flush of the VCI, because the flush may have to hold it back
 *     (transport/ofi_flush.h, ucx_flush.h). With lockq such an operation may be issued with the VCI
 *     held, which a wait for the flush gives up meanwhile. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../op.h"
#include "../vci.h"

/* Whether an accumulate may be an atomic operation of the network; the netmods decide likewise. */
#if defined(HAVE_CH4_NETMOD_UCX) && !defined(HAVE_CH4_NETMOD_OFI)
#define MPIDI_RMA_MAY_BE_ATOMIC(winattr_) ((void) (winattr_), 0)
#elif defined(MPIDI_CH4_DIRECT_NETMOD)
#define MPIDI_RMA_MAY_BE_ATOMIC(winattr_) ((void) (winattr_), 1)
#elif !defined(MPIDI_OFI_ENABLE_ATOMICS)
#define MPIDI_RMA_MAY_BE_ATOMIC(winattr_) ((winattr_) & MPIDI_WINATTR_ACCU_NO_SHM)
#else
#define MPIDI_RMA_MAY_BE_ATOMIC(winattr_) \
    (((winattr_) & MPIDI_WINATTR_ACCU_NO_SHM) && ((winattr_) & MPIDI_WINATTR_NM_REACHABLE) && \
     MPIDI_OFI_ENABLE_RMA && MPIDI_OFI_ENABLE_ATOMICS)
#endif

__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_rma_is_direct(const MPIDI_op_t * op)
{
    const MPIDI_winattr_t winattr = MPIDI_WIN(op->win, winattr);
    const int puts_or_gets = op->kind == MPIDI_OP_PUT || op->kind == MPIDI_OP_GET ||
        op->kind == MPIDI_OP_RPUT || op->kind == MPIDI_OP_RGET;

#ifndef MPIDI_CH4_DIRECT_NETMOD
    if ((winattr & MPIDI_WINATTR_SHM_ALLOCATED) ?
        MPIDI_av_is_local(MPIDIU_win_rank_to_av(op->win, op->rank, winattr)) :
        puts_or_gets && op->rank == MPIDIU_win_comm_rank(op->win, winattr))
        return 1;
#endif
    return !puts_or_gets && MPIDI_RMA_MAY_BE_ATOMIC(winattr);
}

/* Relaxed: a flush that is not seen yet waits for this operation. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_rma_awaits_flush(const MPIDI_op_t * op)
{
    return tsm_load(&MPIDI_VCI(MPIDI_WIN(op->win, am_vci)).threads.flushing, TSM_RELAXED);
}
#endif

#endif /* MPIDI_ISSUE_RMA_DIRECT_H_INCLUDED */
