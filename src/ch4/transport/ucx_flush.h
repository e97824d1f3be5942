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
 *
 * The first two with the VCI locked; they let other threads in while they wait. */

#include "ucx_impl.h"

/* Guarded by the VCI: the thread that drives it runs the callbacks. */
typedef struct MPIDI_UCX_flush_wait {
    int pending;                /* endpoints whose flush has not ended */
    ucs_status_t status;        /* the last error, or UCS_OK */
} MPIDI_UCX_flush_wait_t;

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
    while (wait->pending > 0) {
        if (MPIDI_progress_turn_locked(vni) != MPI_SUCCESS)
            wait->status = UCS_ERR_IO_ERROR;
    }
    return wait->status;
}

MPL_STATIC_INLINE_PREFIX ucs_status_t MPIDI_UCX_flush_target(MPIR_Win * win, int rank, int vni)
{
    MPIDI_UCX_flush_wait_t wait = { 0, UCS_OK };

    MPIDI_UCX_flush_begin(&wait, MPIDI_UCX_WIN_TO_EP(win, rank, vni));
    return MPIDI_UCX_flush_end(&wait, vni);
}

MPL_STATIC_INLINE_PREFIX ucs_status_t MPIDI_UCX_flush_win(MPIR_Win * win, int vni)
{
    MPIDI_UCX_flush_wait_t wait = { 0, UCS_OK };

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
    if (!MPIR_ThreadInfo.isThreaded)
        MPIDI_UCX_WIN(win).target_sync[rank].need_sync = MPIDI_UCX_WIN_SYNC_UNSET;
}

/* An earlier operation that is not complete locally still needs the local flush. */
MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_need_flush(MPIR_Win * win, int rank)
{
    if (MPIDI_UCX_WIN(win).target_sync[rank].need_sync == MPIDI_UCX_WIN_SYNC_UNSET)
        MPIDI_UCX_WIN(win).target_sync[rank].need_sync = MPIDI_UCX_WIN_SYNC_FLUSH;
}

#endif /* UCX_FLUSH_H_INCLUDED */
