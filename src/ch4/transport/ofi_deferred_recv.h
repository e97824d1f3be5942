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
 *   MPIDI_OFI_ctx_trecv             issue or defer a receive; the first one also that of an
 *   MPIDI_OFI_ctx_trecvmsg          acknowledgement, the second one also probes, with FI_PEEK
 *   MPIDI_OFI_recv_cancel           cancels a receive
 *   MPIDI_OFI_ack_cancel            cancels that of an acknowledgement, which has failed with its send
 *   MPIDI_OFI_ack_canceled          at an error of libfabric: whether it ends such a receive
 *   MPIDI_OFI_deferred_recv_progress  issues what there is room for
 *
 * The first two are libfabric's functions with the index of the context in place of the endpoint; they
 * never return -FI_EAGAIN, except for a probe or a message without a request (MPIDI_OFI_is_dynproc).
 *
 * All with the VCI locked. Only a deferred acknowledgement is allocated: any other receive has its
 * arguments in the request, which has no other use for them before it is issued. A receive that
 * libfabric refuses for good is deferred, too, since the caller still uses the request: the next poll
 * completes it, with the error in its status, and gives back what it holds. An error of a deferred
 * acknowledgement ends the poll.
 *
 * A probe finds nothing while a receive whose pattern overlaps its own is deferred, because that
 * receive comes first. Included by ofi_calls.h. */

#include "ofi_deferred.h"

/* buf, len: memory, or, with flags, an array of struct iovec; either stays until the receive ends. ret:
 * what libfabric has returned. */
void MPIDI_OFI_defer_recv(MPIR_Request * rreq, int ctx_idx, void *buf, size_t len, fi_addr_t addr,
                          uint64_t match_bits, uint64_t mask_bits, uint64_t flags, ssize_t ret);

/* Of an empty message. desc: NULL; mask_bits: 0. */
ssize_t MPIDI_OFI_ctx_trecv_ack(int ctx_idx, void *buf, size_t len, void *desc, fi_addr_t addr,
                                uint64_t match_bits, uint64_t mask_bits, void *context);

/* Of a synchronous send that has failed: 0 if libfabric, or the queue, gives its receive back. */
int MPIDI_OFI_ack_cancel(MPIR_Request * sreq, int vni, uint64_t match_bits);

/* fid: the endpoint of the receive, whose request has the context. */
ssize_t MPIDI_OFI_recv_cancel(struct fid *fid, void *context);

/* fi_trecvmsg with FI_PEEK: without room there is no message yet. */
ssize_t MPIDI_OFI_ctx_peek(int ctx_idx, const struct fi_msg_tagged *msg, uint64_t flags);

/* For ofi_probe.h, MPIDI_OFI_PROGRESS_WHILE a peek has no answer: libfabric writes that to a request on
 * the caller's stack, so that an error of progress, of whatever operation, has to wait for it. With
 * `message` the answer may be a message that no other call can receive any more: the next poll has the
 * error. */
#define MPIDI_OFI_PEEK_WHILE(cond_, vni_) \
    do { \
        while (cond_) { \
            int error_ = MPIDI_NM_progress(vni_, 0); \
            mpi_errno = mpi_errno ? mpi_errno : error_; \
            MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX); \
        } \
        if (unlikely(mpi_errno) && message) { \
            MPIDI_OFI_keep_error(ctx_idx, mpi_errno); \
            mpi_errno = MPI_SUCCESS; \
        } \
        MPIR_ERR_CHECK(mpi_errno); \
    } while (0)

int MPIDI_OFI_deferred_recv_progress(int vni, int ctx_idx);

MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_is_ssend_ack(void *context)
{
    return MPIDI_OFI_REQUEST(MPIDI_OFI_context_to_request(context), event_id) ==
        MPIDI_OFI_EVENT_SSEND_ACK;
}

MPL_STATIC_INLINE_PREFIX bool MPIDI_OFI_ack_canceled(const struct fi_cq_err_entry *error)
{
    if (error->err != FI_ECANCELED || !MPIDI_OFI_is_ssend_ack(error->op_context))
        return false;
    MPL_free(MPIDI_OFI_context_to_request(error->op_context));
    return true;
}

/* The room of a receive that has none, which no one reads: libfabric's rxm (behind tcp) never completes
 * a receive without room for which a long message comes. */
extern const struct iovec MPIDI_OFI_no_room;

/* What of the status of rreq the message says. One of a single byte fits into MPIDI_OFI_no_room. */
MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_recv_error(MPIR_Request * rreq,
                                                  const struct fi_cq_tagged_entry *wc)
{
    if (unlikely(wc->len == 1)) {
        const size_t room = MPIDI_OFI_REQUEST(rreq, event_id) == MPIDI_OFI_EVENT_RECV_NOPACK ?
            MPIDI_OFI_REQUEST(rreq, noncontig.nopack[0]).iov_len :
            MPIDI_OFI_REQUEST(rreq, util.iov.iov_len);
        if (room == 0)
            return MPI_ERR_TRUNCATE;
    }
    return MPIDI_OFI_idata_get_error_bits(wc->data);
}

/* context: of a request, of an acknowledgement, or of a message without a request. desc: NULL. */
MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_ctx_trecv(int ctx_idx, void *buf, size_t len, void *desc,
                                                     fi_addr_t addr, uint64_t match_bits,
                                                     uint64_t mask_bits, void *context)
{
    ssize_t ret = -FI_EAGAIN;

    if (len == 0) {
        buf = MPIDI_OFI_no_room.iov_base;
        len = MPIDI_OFI_no_room.iov_len;
    }
    if (likely(!MPIDI_OFI_HAS_DEFERRED_RECVS(ctx_idx)))
        ret = fi_trecv(MPIDI_OFI_global.ctx[ctx_idx].rx, buf, len, desc, addr, match_bits, mask_bits,
                       context);
    if (likely(ret == 0) || MPIDI_OFI_is_dynproc(context))
        return ret;
    if (MPIDI_OFI_is_ssend_ack(context))
        return ret != -FI_EAGAIN ? ret :
            MPIDI_OFI_ctx_trecv_ack(ctx_idx, buf, len, desc, addr, match_bits, mask_bits, context);
    MPIDI_OFI_defer_recv(MPIDI_OFI_context_to_request(context), ctx_idx, buf, len, addr, match_bits,
                         mask_bits, 0, ret);
    return 0;
}

/* flags: not 0. The array msg->msg_iov stays until the receive ends; *msg does not. context: of a
 * request. */
MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_ctx_trecvmsg(int ctx_idx, const struct fi_msg_tagged *msg,
                                                        uint64_t flags)
{
    ssize_t ret = -FI_EAGAIN;
    struct fi_msg_tagged one_byte;

    if (flags & FI_PEEK)
        return MPIDI_OFI_ctx_peek(ctx_idx, msg, flags);
    if (msg->iov_count == 0 || (msg->iov_count == 1 && msg->msg_iov->iov_len == 0)) {
        one_byte = *msg;
        one_byte.msg_iov = &MPIDI_OFI_no_room;
        one_byte.iov_count = 1;
        msg = &one_byte;
    }
    if (likely(!MPIDI_OFI_HAS_DEFERRED_RECVS(ctx_idx)) || (flags & FI_CLAIM))
        ret = fi_trecvmsg(MPIDI_OFI_global.ctx[ctx_idx].rx, msg, flags);
    if (likely(ret == 0))
        return ret;
    MPIDI_OFI_defer_recv(MPIDI_OFI_context_to_request(msg->context), ctx_idx, (void *) msg->msg_iov,
                         msg->iov_count, msg->addr, msg->tag, msg->ignore, flags, ret);
    return 0;
}

#endif /* OFI_DEFERRED_RECV_H_INCLUDED */
