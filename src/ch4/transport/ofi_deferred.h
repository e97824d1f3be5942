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
 *   MPIDI_OFI_ctx_tsenddata      issue or defer a send that has a request: libfabric's functions
 *   MPIDI_OFI_ctx_tsendmsg       with the index of the context in place of the endpoint, and the
 *   MPIDI_OFI_req_tinjectdata    communicator; they return 0 or an error, but with a request never
 *                                -FI_EAGAIN
 *   MPIDI_OFI_send_lightweight   issues a short send that has none, or refuses it: in place of MPICH's
 *   MPIDI_OFI_deferred_progress  issues what there is room for: sends, receives, and other calls
 *                                (ofi_deferred_call.h)
 *
 * All with the VCI locked. Nothing is allocated: arguments and links are in the request, which has
 * no other use for them before it is issued. A short send gets a request only when it is refused. A
 * send that libfabric refuses for good is deferred, too, since the caller still uses the request: the
 * next poll completes it, with the error in its status, and gives back what it holds. A deferred send
 * keeps its communicator, whose handler gets the error. Included by ofi_calls.h. */

#include "ofi_deferred_peers.h"

/* From MPIDI_OFI_send_lightweight: nothing was sent; send it with a request. */
#define MPIDI_OFI_SEND_NEEDS_REQUEST (-2)

/* Receives, and other calls, that one poll issues at most, so that polls stay short. */
#define MPIDI_OFI_DEFERRED_TURN 256

#define MPIDI_OFI_HAS_DEFERRED_RECVS(ctx_idx_) \
    (MPIDI_OFI_global.ctx[ctx_idx_].deferred.first_recv != NULL || \
     MPIDI_OFI_global.ctx[ctx_idx_].deferred.first_ack != NULL)
#define MPIDI_OFI_HAS_DEFERRED(ctx_idx_) \
    (MPIDI_OFI_HAS_DEFERRED_PEERS(ctx_idx_) || MPIDI_OFI_HAS_DEFERRED_RECVS(ctx_idx_) || \
     MPIDI_OFI_global.ctx[ctx_idx_].deferred.kept_error)

/* buf, len: memory, or, with IOV, an array of struct iovec; either stays until the send ends. ret: what
 * libfabric has returned. */
void MPIDI_OFI_defer_send(MPIDI_OFI_native_kind_t kind, MPIR_Request * sreq, MPIR_Comm * comm,
                          int ctx_idx, const void *buf, size_t len, uint64_t cq_data, fi_addr_t addr,
                          uint64_t match_bits, uint64_t flags, ssize_t ret);

int MPIDI_OFI_inject_refused(int ctx_idx, int vni, ssize_t ret, const void *buf, size_t len,
                             uint64_t cq_data, fi_addr_t addr, uint64_t match_bits, int eagain);
int MPIDI_OFI_native_error(MPIDI_OFI_native_kind_t kind, ssize_t ret);
int MPIDI_OFI_deferred_progress(int vni, int ctx_idx);
void MPIDI_OFI_keep_error(int ctx_idx, int err);
int MPIDI_OFI_deferred_finish(void);

/* Whether a send that libfabric has not taken completes later, with ret as its error if that is not
 * -FI_EAGAIN. Else the call returns the error: the peer knows the request of a huge send, which
 * therefore never ends. */
MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_ends_later(MPIR_Request * sreq, ssize_t ret)
{
    return ret == -FI_EAGAIN || MPIDI_OFI_REQUEST(sreq, event_id) != MPIDI_OFI_EVENT_SEND_HUGE;
}

/* context: of a request, as in the next one, or of a message between processes that connect, which its
 * sender repeats. desc: NULL. */
MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_ctx_tsenddata(int ctx_idx, MPIR_Comm * comm,
                                                         const void *buf, size_t len,
                                                         void *desc, uint64_t cq_data,
                                                         fi_addr_t addr, uint64_t match_bits,
                                                         void *context)
{
    MPIR_Request *sreq;
    ssize_t ret = -FI_EAGAIN;

    if (likely(!MPIDI_OFI_must_defer(ctx_idx, addr)))
        ret = fi_tsenddata(MPIDI_OFI_global.ctx[ctx_idx].tx, buf, len, desc, cq_data, addr, match_bits,
                           context);
    if (likely(ret == 0) || MPIDI_OFI_is_dynproc(context))
        return ret;
    sreq = MPIDI_OFI_context_to_request(context);
    if (!MPIDI_OFI_ends_later(sreq, ret))
        return ret;
    MPIDI_OFI_defer_send(MPIDI_OFI_NATIVE_SEND, sreq, comm, ctx_idx, buf, len, cq_data, addr,
                         match_bits, 0, ret);
    return 0;
}

/* The array msg->msg_iov stays until the send ends; *msg does not. */
MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_ctx_tsendmsg(int ctx_idx, MPIR_Comm * comm,
                                                        const struct fi_msg_tagged *msg, uint64_t flags)
{
    ssize_t ret = -FI_EAGAIN;

    if (likely(!MPIDI_OFI_must_defer(ctx_idx, msg->addr)))
        ret = fi_tsendmsg(MPIDI_OFI_global.ctx[ctx_idx].tx, msg, flags);
    if (likely(ret == 0))
        return ret;
    MPIDI_OFI_defer_send(MPIDI_OFI_NATIVE_IOV, MPIDI_OFI_context_to_request(msg->context), comm,
                         ctx_idx, msg->msg_iov, msg->iov_count, msg->data, msg->addr, msg->tag, flags,
                         ret);
    return 0;
}

/* The caller then counts an event of sreq (MPIDI_OFI_send_event), as after fi_tinjectdata. A deferred
 * send has one more, counted when it is issued, so that the caller's is not the last. */
MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_req_tinjectdata(MPIR_Request * sreq, MPIR_Comm * comm,
                                                           int ctx_idx, const void *buf, size_t len,
                                                           uint64_t cq_data, fi_addr_t addr,
                                                           uint64_t match_bits)
{
    ssize_t ret = -FI_EAGAIN;

    if (likely(!MPIDI_OFI_must_defer(ctx_idx, addr)))
        ret = fi_tinjectdata(MPIDI_OFI_global.ctx[ctx_idx].tx, buf, len, cq_data, addr, match_bits);
    if (likely(ret == 0))
        return ret;
    MPIR_cc_inc(sreq->cc_ptr);
    MPIDI_OFI_defer_send(MPIDI_OFI_NATIVE_INJECT, sreq, comm, ctx_idx, buf, len, cq_data, addr,
                         match_bits, 0, ret);
    return 0;
}

/* eagain: the user prefers MPIX_ERR_EAGAIN. */
MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_native_inject(int ctx_idx, int vni, const void *buf,
                                                     size_t len, uint64_t cq_data, fi_addr_t addr,
                                                     uint64_t match_bits, int eagain)
{
    ssize_t ret = -FI_EAGAIN;

    if (likely(!MPIDI_OFI_must_defer(ctx_idx, addr)))
        ret = fi_tinjectdata(MPIDI_OFI_global.ctx[ctx_idx].tx, buf, len, cq_data, addr, match_bits);
    if (likely(ret == 0))
        return MPI_SUCCESS;
    return MPIDI_OFI_inject_refused(ctx_idx, vni, ret, buf, len, cq_data, addr, match_bits, eagain);
}

/* Inject a send without a request, or return MPIDI_OFI_SEND_NEEDS_REQUEST. */
MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_send_lightweight(const void *buf, size_t len, uint64_t cq_data,
                                                        int rank, int tag, MPIR_Comm * comm,
                                                        int context_offset, MPIDI_av_entry_t * addr,
                                                        int vni_src, int vni_dst)
{
    const int nic = MPIDI_OFI_multx_sender_nic_index(comm, comm->context_id, rank, tag);
    const int peer_nic =
        MPIDI_OFI_multx_receiver_nic_index(comm, comm->context_id, MPIR_Process.rank, tag);
    int mpi_errno =
        MPIDI_OFI_native_inject(MPIDI_OFI_get_ctx_index(comm, vni_src, nic), vni_src, buf, len, cq_data,
                                MPIDI_OFI_av_to_phys(addr, peer_nic, vni_src, vni_dst),
                                MPIDI_OFI_init_sendtag(comm->context_id + context_offset, tag, 0),
                                comm->hints[MPIR_COMM_HINT_EAGAIN]);

    if (likely(mpi_errno == MPI_SUCCESS))
        MPIR_T_PVAR_COUNTER_INC(MULTINIC, nic_sent_bytes_count[nic], len);
    return mpi_errno;
}

#endif /* OFI_DEFERRED_H_INCLUDED */
