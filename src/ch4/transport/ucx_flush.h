/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef UCX_FLUSH_H_INCLUDED
#define UCX_FLUSH_H_INCLUDED

/* Flush while other threads go on issuing one-sided operations over UCX. The flush of a worker ends
 * when nothing at all is under way, which may never happen while other threads issue more. The flush
 * of an endpoint waits only for what was issued to it before, so a window flushes all its endpoints
 * at once.
 *
 *   MPIDI_UCX_flush_win      all targets of a window that need it
 *   MPIDI_UCX_flush_target   one target
 *   MPIDI_UCX_set_flushed    afterwards: the target needs no flush until its next operation
 *   MPIDI_UCX_need_flush     an operation is complete locally: the target needs a remote flush
 *   MPIDI_UCX_hold_back      before an operation, VCI not locked; does nothing in one that another
 *                            thread has posted
 *   MPIDI_UCX_count_issued   an operation is issued; VCI locked
 *
 * The first two with the VCI locked; they let other threads in while they wait. Of a context of UCX:
 * issued, the operations; holds, the flushes that hold operations back; holds_ended, those that have
 * ended. All three are written with the VCI locked, and holds is read without.
 *
 * Where the transport has no one-sided operations (shared memory, if the window is the user's own),
 * UCX sends them in pieces, and the target answers each piece. One poll of UCX sends as many pieces as
 * there is room for, but takes in 16 answers at most, and a put that finds room is sent with no poll at
 * all. So threads that put without pause get further and further ahead of the answers, which queue up
 * in the target's memory, and each flush takes a multiple of the time of the one before. Therefore a
 * flush lets a number of operations pass, and then other threads hold theirs back until one flush has
 * ended; they drive progress meanwhile. They issue one operation then even if another flush holds,
 * so neither a flush nor an operation starves. */

#include "ucx_impl.h"
#include "threads/transport/flush_holds.h"

/* Operations that other threads may issue during a flush before it holds them back. Many more than are
 * issued in the few microseconds of a flush that has nothing to catch up with. */
#define MPIDI_UCX_FLUSH_PASSES 256

/* Guarded by the VCI: the thread that drives it runs the callbacks. */
typedef struct MPIDI_UCX_flush_wait {
    int pending;                /* endpoints whose flush has not ended */
    ucs_status_t status;        /* the last error, or UCS_OK */
    unsigned issued;            /* operations of the VCI when the flush began */
    int holds;                  /* it holds operations back */
} MPIDI_UCX_flush_wait_t;

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_count_issued(int vni)
{
    MPIDI_UCX_global.ctx[vni].issued++;
}

/* Until one flush that holds operations back has ended. An error of progress ends the wait: the
 * operation will return it as well. */
static inline void MPIDI_UCX_hold_back_wait(int vni)
{
    MPIDI_UCX_context_t *ctx = &MPIDI_UCX_global.ctx[vni];
    unsigned ended;
    int mpi_errno = MPI_SUCCESS;

    if (MPIDI_flush_issues_for_others())
        return;
    MPIDI_TURNS_BEGIN();
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vni).lock);
    ended = ctx->holds_ended;
    while (ended == ctx->holds_ended && MPL_atomic_relaxed_load_int(&ctx->holds) &&
           mpi_errno == MPI_SUCCESS)
        mpi_errno = MPIDI_progress_turn_locked(vni);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vni).lock);
}

/* Relaxed: the operation may pass a flush that is not seen to hold yet. */
MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_hold_back(int vni)
{
    if (unlikely(MPL_atomic_relaxed_load_int(&MPIDI_UCX_global.ctx[vni].holds)))
        MPIDI_UCX_hold_back_wait(vni);
}

/* n: 1 or -1. The VCI counts them as well, for the models that post operations. */
MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_count_holds(int vni, int n)
{
    MPL_atomic_int_t *holds = &MPIDI_UCX_global.ctx[vni].holds;

    MPL_atomic_relaxed_store_int(holds, MPL_atomic_relaxed_load_int(holds) + n);
    MPIDI_flush_count(vni, n);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_flush_hold(MPIDI_UCX_flush_wait_t * wait, int vni)
{
    if (wait->holds || MPIDI_UCX_global.ctx[vni].issued - wait->issued < MPIDI_UCX_FLUSH_PASSES)
        return;
    wait->holds = 1;
    MPIDI_UCX_count_holds(vni, 1);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_flush_release(MPIDI_UCX_flush_wait_t * wait, int vni)
{
    if (!wait->holds)
        return;
    MPIDI_UCX_global.ctx[vni].holds_ended++;
    MPIDI_UCX_count_holds(vni, -1);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_flush_ended(void *request, ucs_status_t status, void *wait_)
{
    MPIDI_UCX_flush_wait_t *wait = wait_;

    if (status != UCS_OK)
        wait->status = status;
    wait->pending--;
    ucp_request_free(request);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_flush_begin(MPIDI_UCX_flush_wait_t * wait, ucp_ep_h ep)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = MPIDI_UCX_flush_ended,
        .user_data = wait,
    };
    void *request = ucp_ep_flush_nbx(ep, &param);

    if (UCS_PTR_IS_ERR(request))
        wait->status = UCS_PTR_STATUS(request);
    else if (request)
        wait->pending++;
}

/* Callbacks refer to `wait`, so an error of progress, which has another cause, is returned only after
 * the last of them has run. */
MPL_STATIC_INLINE_PREFIX ucs_status_t MPIDI_UCX_flush_end(MPIDI_UCX_flush_wait_t * wait, int vni)
{
    MPIDI_TURNS_BEGIN();
    while (wait->pending > 0) {
        MPIDI_UCX_flush_hold(wait, vni);
        if (MPIDI_progress_turn_locked(vni) != MPI_SUCCESS)
            wait->status = UCS_ERR_IO_ERROR;
    }
    MPIDI_UCX_flush_release(wait, vni);
    return wait->status;
}

MPL_STATIC_INLINE_PREFIX ucs_status_t MPIDI_UCX_flush_target(MPIR_Win * win, int rank, int vni)
{
    MPIDI_UCX_flush_wait_t wait = {
        .status = UCS_OK,
        .issued = MPIDI_UCX_global.ctx[vni].issued,
    };

    MPIDI_UCX_flush_begin(&wait, MPIDI_UCX_WIN_TO_EP(win, rank, vni));
    return MPIDI_UCX_flush_end(&wait, vni);
}

MPL_STATIC_INLINE_PREFIX ucs_status_t MPIDI_UCX_flush_win(MPIR_Win * win, int vni)
{
    MPIDI_UCX_flush_wait_t wait = {
        .status = UCS_OK,
        .issued = MPIDI_UCX_global.ctx[vni].issued,
    };

    for (int rank = 0; rank < win->comm_ptr->local_size; rank++) {
        if (MPIDI_UCX_WIN(win).target_sync[rank].need_sync >= MPIDI_UCX_WIN_SYNC_FLUSH_LOCAL)
            MPIDI_UCX_flush_begin(&wait, MPIDI_UCX_WIN_TO_EP(win, rank, vni));
    }
    return MPIDI_UCX_flush_end(&wait, vni);
}

/* Does nothing with several threads: another one may have issued an operation since our flush began,
 * and relies on the mark. */
MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_set_flushed(MPIR_Win * win, int rank)
{
    if (!MPIR_IS_THREADED)
        MPIDI_UCX_WIN(win).target_sync[rank].need_sync = MPIDI_UCX_WIN_SYNC_UNSET;
}

/* An earlier operation that is not complete locally still needs the local flush. */
MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_need_flush(MPIR_Win * win, int rank)
{
    if (MPIDI_UCX_WIN(win).target_sync[rank].need_sync == MPIDI_UCX_WIN_SYNC_UNSET)
        MPIDI_UCX_WIN(win).target_sync[rank].need_sync = MPIDI_UCX_WIN_SYNC_FLUSH;
}

#endif /* UCX_FLUSH_H_INCLUDED */
