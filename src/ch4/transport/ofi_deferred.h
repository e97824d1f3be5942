/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_DEFERRED_H_INCLUDED
#define OFI_DEFERRED_H_INCLUDED

/* Deferred native sends: MPI_Isend never waits for room in libfabric. A send that libfabric refuses
 * with FI_EAGAIN stays in its request and the call returns; MPIDI_NM_progress issues it later, in order
 * (ofi_deferred_peers.h).
 *
 *   MPIDI_OFI_native_send        issues or defers a send that has a request
 *   MPIDI_OFI_native_inject      issues a short send that has none, or refuses it
 *   MPIDI_OFI_deferred_progress  issues what there is room for: sends, receives, and other calls
 *                                (ofi_deferred_call.h)
 *
 * All with the VCI locked. Nothing is allocated: arguments and links are in the request, which has
 * no other use for them before it is issued. A short send gets a request only when it is refused.
 * A failure of a deferred send is reported in the status of its request. */

#include "ofi_deferred_peers.h"
#include "ofi_events.h"

/* From MPIDI_OFI_native_inject: nothing was sent; send it with a request. */
#define MPIDI_OFI_SEND_NEEDS_REQUEST (-2)

/* Receives, and other calls, that one poll issues at most, so that polls stay short. */
#define MPIDI_OFI_DEFERRED_TURN 256

#define MPIDI_OFI_HAS_DEFERRED_RECVS(ctx_idx_) \
    (MPIDI_OFI_global.ctx[ctx_idx_].deferred.first_recv != NULL || \
     MPIDI_OFI_global.ctx[ctx_idx_].deferred.first_ack != NULL)
#define MPIDI_OFI_HAS_DEFERRED(ctx_idx_) \
    (MPIDI_OFI_HAS_DEFERRED_PEERS(ctx_idx_) || MPIDI_OFI_HAS_DEFERRED_RECVS(ctx_idx_))

int MPIDI_OFI_inject_refused(int ctx_idx, int vni, ssize_t ret, const void *buf, size_t len,
                             uint64_t cq_data, fi_addr_t addr, uint64_t match_bits, int eagain);
int MPIDI_OFI_native_error(MPIDI_OFI_native_kind_t kind, ssize_t ret);
int MPIDI_OFI_deferred_progress(int vni, int ctx_idx);
int MPIDI_OFI_deferred_finish(void);

MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_call_native(MPIDI_OFI_native_kind_t kind,
                                                       MPIR_Request * sreq, int ctx_idx,
                                                       const void *buf, size_t len,
                                                       uint64_t cq_data, fi_addr_t addr,
                                                       uint64_t match_bits)
{
    struct fid_ep *tx = MPIDI_OFI_global.ctx[ctx_idx].tx;

    if (kind == MPIDI_OFI_NATIVE_INJECT) {
        return fi_tinjectdata(tx, buf, len, cq_data, addr, match_bits);
    } else if (kind == MPIDI_OFI_NATIVE_SEND) {
        return fi_tsenddata(tx, buf, len, NULL /* desc */ , cq_data, addr, match_bits,
                            (void *) &(MPIDI_OFI_REQUEST(sreq, context)));
    } else {
        struct fi_msg_tagged msg = {
            .msg_iov = buf,
            .iov_count = len,
            .addr = addr,
            .tag = match_bits,
            .context = (void *) &(MPIDI_OFI_REQUEST(sreq, context)),
            .data = cq_data,
        };
        return fi_tsendmsg(tx, &msg, FI_COMPLETION | FI_REMOTE_CQ_DATA);
    }
}

/* Issue a send, or defer it until there is room. An injected send is complete on return. */
MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_native_send(MPIDI_OFI_native_kind_t kind,
                                                   MPIR_Request * sreq, int ctx_idx, int vni,
                                                   const void *buf, size_t len, uint64_t cq_data,
                                                   fi_addr_t addr, uint64_t match_bits)
{
    ssize_t ret = -FI_EAGAIN;

    if (!MPIDI_OFI_must_defer(ctx_idx, addr))
        ret = MPIDI_OFI_call_native(kind, sreq, ctx_idx, buf, len, cq_data, addr, match_bits);
    if (unlikely(ret == -FI_EAGAIN)) {
        MPIDI_OFI_deferred_send_t d = {
            .item = {.addr = addr,.kind = kind},
            .buf = buf,
            .len = len,
            .cq_data = cq_data,
            .match_bits = match_bits,
        };
        MPIDI_OFI_REQUEST(sreq, util.deferred) = d;
        MPIDI_OFI_defer_item(&MPIDI_OFI_REQUEST(sreq, util.deferred.item), ctx_idx);
        return MPI_SUCCESS;
    }
    if (unlikely(ret != 0))
        return MPIDI_OFI_native_error(kind, ret);
    if (kind == MPIDI_OFI_NATIVE_INJECT)
        return MPIDI_OFI_send_event(vni, NULL, sreq, MPIDI_OFI_REQUEST(sreq, event_id));
    return MPI_SUCCESS;
}

/* Inject a send without a request, or return MPIDI_OFI_SEND_NEEDS_REQUEST. eagain: the user prefers
 * MPIX_ERR_EAGAIN. */
MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_native_inject(int ctx_idx, int vni, const void *buf,
                                                     size_t len, uint64_t cq_data, fi_addr_t addr,
                                                     uint64_t match_bits, int eagain)
{
    ssize_t ret = -FI_EAGAIN;

    if (likely(!MPIDI_OFI_must_defer(ctx_idx, addr)))
        ret = MPIDI_OFI_call_native(MPIDI_OFI_NATIVE_INJECT, NULL, ctx_idx, buf, len, cq_data, addr,
                                    match_bits);
    if (likely(ret == 0))
        return MPI_SUCCESS;
    return MPIDI_OFI_inject_refused(ctx_idx, vni, ret, buf, len, cq_data, addr, match_bits, eagain);
}

#endif /* OFI_DEFERRED_H_INCLUDED */
