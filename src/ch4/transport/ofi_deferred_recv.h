/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_DEFERRED_RECV_H_INCLUDED
#define OFI_DEFERRED_RECV_H_INCLUDED

/* Deferred native receives: MPI_Irecv never waits for room in libfabric. A receive that libfabric
 * refuses with FI_EAGAIN stays in its request and the call returns; MPIDI_NM_progress issues it later.
 * Receives match in the order in which they were started, so while one is deferred, all later ones of
 * the endpoint are. A matched receive (FI_CLAIM) has its message already and goes before the others.
 *
 *   MPIDI_OFI_native_recv           issues or defers a receive
 *   MPIDI_OFI_native_cancel         cancels it; 0, or what fi_cancel returns
 *   MPIDI_OFI_recv_ack              issues or defers that of an acknowledgement
 *   MPIDI_OFI_is_deferred_match     whether a message that a probe looks for may be for one of them
 *   MPIDI_OFI_deferred_recv_progress  issues what there is room for
 *
 * All with the VCI locked. Only a deferred acknowledgement is allocated: any other receive has its
 * arguments in the request, which has no other use for them before it is issued. A failure of a
 * deferred receive is reported in the status of its request; that of an acknowledgement ends the poll.
 *
 * A probe finds nothing while a receive whose pattern overlaps its own is deferred, because that
 * receive comes first. */

#include "ofi_impl.h"
#include "ofi_deferred.h"

void MPIDI_OFI_defer_recv(MPIR_Request * rreq, int ctx_idx);
int MPIDI_OFI_recv_ack(int ctx_idx, fi_addr_t addr, uint64_t match_bits, void *context);
int MPIDI_OFI_native_cancel(MPIR_Request * rreq, int ctx_idx);
int MPIDI_OFI_is_deferred_match(int ctx_idx, fi_addr_t addr, uint64_t match_bits,
                                uint64_t mask_bits);
int MPIDI_OFI_deferred_recv_progress(int vni, int ctx_idx);

/* buf: of len bytes; or, with flags, an array of len struct iovec that stays until the receive ends. */
MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_call_recv(MPIR_Request * rreq, int ctx_idx, void *buf,
                                                     size_t len, fi_addr_t addr,
                                                     uint64_t match_bits, uint64_t mask_bits,
                                                     uint64_t flags)
{
    struct fid_ep *rx = MPIDI_OFI_global.ctx[ctx_idx].rx;
    void *context = &MPIDI_OFI_REQUEST(rreq, context);

    if (flags) {
        struct fi_msg_tagged msg = {
            .msg_iov = buf,
            .iov_count = len,
            .addr = addr,
            .tag = match_bits,
            .ignore = mask_bits,
            .context = context,
        };
        return fi_trecvmsg(rx, &msg, flags);
    }
    return fi_trecv(rx, buf, len, NULL /* desc */ , addr, match_bits, mask_bits, context);
}

/* Issue a receive, or defer it until there is room. */
MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_native_recv(MPIR_Request * rreq, int ctx_idx, void *buf,
                                                   size_t len, fi_addr_t addr, uint64_t match_bits,
                                                   uint64_t mask_bits, uint64_t flags)
{
    ssize_t ret = -FI_EAGAIN;

    if (likely(!MPIDI_OFI_HAS_DEFERRED_RECVS(ctx_idx)) || (flags & FI_CLAIM))
        ret = MPIDI_OFI_call_recv(rreq, ctx_idx, buf, len, addr, match_bits, mask_bits, flags);
    if (unlikely(ret == -FI_EAGAIN)) {
        MPIDI_OFI_deferred_recv_t d = {
            .iov = MPIDI_OFI_REQUEST(rreq, util.iov),
            .buf = buf,
            .len = len,
            .match_bits = match_bits,
            .mask_bits = mask_bits,
            .addr = addr,
            .flags = flags,
        };
        MPIDI_OFI_REQUEST(rreq, util.deferred_recv) = d;
        MPIDI_OFI_defer_recv(rreq, ctx_idx);
        return MPI_SUCCESS;
    }
    return likely(ret == 0) ? MPI_SUCCESS : MPIDI_OFI_native_error(MPIDI_OFI_NATIVE_RECV, ret);
}

#endif /* OFI_DEFERRED_RECV_H_INCLUDED */
