/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ofi_events.h"

#define DEFERRED(req_, field_) MPIDI_OFI_REQUEST(req_, util.deferred.recv.field_)

static char one_byte;
const struct iovec MPIDI_OFI_no_room = {.iov_base = &one_byte,.iov_len = 1 };

static MPIDI_OFI_deferred_t *deferred_of(int ctx_idx)
{
    return &MPIDI_OFI_global.ctx[ctx_idx].deferred;
}

static void queue_recv(MPIDI_OFI_deferred_t * d, MPIR_Request * rreq)
{
    int is_first = !d->first_recv || (DEFERRED(rreq, flags) & FI_CLAIM);

    DEFERRED(rreq, next) = is_first ? d->first_recv : NULL;
    if (!d->first_recv)
        d->last_recv = rreq;
    if (is_first) {
        d->first_recv = rreq;
    } else {
        DEFERRED(d->last_recv, next) = rreq;
        d->last_recv = rreq;
    }
}

void MPIDI_OFI_defer_recv(MPIR_Request * rreq, int ctx_idx, void *buf, size_t len, fi_addr_t addr,
                          uint64_t match_bits, uint64_t mask_bits, uint64_t flags, ssize_t ret)
{
    const MPIDI_OFI_deferred_recv_t d = {
        .iov = MPIDI_OFI_REQUEST(rreq, util.iov),
        .buf = buf,.len = len,.match_bits = match_bits,.mask_bits = mask_bits,
        .addr = addr,.flags = flags,.refused = ret == -FI_EAGAIN ? 0 : ret
    };

    MPIDI_OFI_REQUEST(rreq, util.deferred.recv) = d;
    queue_recv(deferred_of(ctx_idx), rreq);
}

static ssize_t issue_recv(MPIR_Request * rreq, int ctx_idx)
{
    const MPIDI_OFI_deferred_recv_t *d = &MPIDI_OFI_REQUEST(rreq, util.deferred.recv);
    struct fid_ep *rx = MPIDI_OFI_global.ctx[ctx_idx].rx;
    void *context = &MPIDI_OFI_REQUEST(rreq, context);
    const struct fi_msg_tagged msg = {
        .msg_iov = d->buf,.iov_count = d->len,.addr = d->addr,.tag = d->match_bits,
        .ignore = d->mask_bits,.context = context
    };

    if (d->refused)
        return d->refused;
    if (d->flags)
        return (fi_trecvmsg) (rx, &msg, d->flags);
    return (fi_trecv) (rx, d->buf, d->len, NULL /* desc */ , d->addr, d->match_bits, d->mask_bits,
                       context);
}

/* Take rreq out of the queue; before: the one in front of it, NULL for the first. */
static void take_out(MPIDI_OFI_deferred_t * d, MPIR_Request * rreq, MPIR_Request * before)
{
    if (before)
        DEFERRED(before, next) = DEFERRED(rreq, next);
    else
        d->first_recv = DEFERRED(rreq, next);
    if (d->last_recv == rreq)
        d->last_recv = before;
}

/* Complete a deferred receive that libfabric has refused for good. */
static int fail_recv(int vni, MPIR_Request * rreq, ssize_t ret)
{
    struct fi_cq_tagged_entry nothing = {
        .op_context = &MPIDI_OFI_REQUEST(rreq, context),
        .tag = DEFERRED(rreq, match_bits),
    };

    rreq->status.MPI_ERROR = MPIDI_OFI_native_error(MPIDI_OFI_NATIVE_RECV, ret);
    return MPIDI_OFI_dispatch_function(vni, &nothing, rreq);
}

static ssize_t defer_ack(MPIDI_OFI_deferred_t * d, fi_addr_t addr, uint64_t match_bits, void *context)
{
    MPIDI_OFI_deferred_ack_t *ack = MPL_malloc(sizeof(*ack), MPL_MEM_OTHER);

    if (!ack)
        return -FI_ENOMEM;
    *ack = (MPIDI_OFI_deferred_ack_t) {
        .match_bits = match_bits,.addr = addr,.context = context
    };
    if (d->first_ack)
        d->last_ack->next = ack;
    else
        d->first_ack = ack;
    d->last_ack = ack;
    return 0;
}

/* It has tag bits of its own, so it needs no order and goes ahead of the deferred receives. */
ssize_t MPIDI_OFI_ctx_trecv_ack(int ctx_idx, void *buf, size_t len, void *desc, fi_addr_t addr,
                                uint64_t match_bits, uint64_t mask_bits, void *context)
{
    MPIDI_OFI_deferred_t *d = deferred_of(ctx_idx);
    ssize_t ret = -FI_EAGAIN;

    if (likely(!d->first_ack))
        ret = (fi_trecv) (MPIDI_OFI_global.ctx[ctx_idx].rx, buf, len, desc, addr, match_bits, mask_bits,
                          context);
    return likely(ret != -FI_EAGAIN) ? ret : defer_ack(d, addr, match_bits, context);
}

/* Take the acknowledgement of context out of the queue: 1 if it was there. */
static int take_ack(MPIDI_OFI_deferred_t * d, const void *context)
{
    MPIDI_OFI_deferred_ack_t *ack = d->first_ack, *before = NULL;

    for (; ack && ack->context != context; ack = ack->next)
        before = ack;
    if (!ack)
        return 0;
    if (before)
        before->next = ack->next;
    else
        d->first_ack = ack->next;
    if (d->last_ack == ack)
        d->last_ack = before;
    MPL_free(ack);
    return 1;
}

int MPIDI_OFI_ack_cancel(MPIR_Request * sreq, int vni, uint64_t match_bits)
{
    MPIDI_OFI_ssendack_request_t *ackreq = MPIDI_OFI_REQUEST(sreq, huge.remote_info);
    const int nic = MPIDI_OFI_multx_receiver_nic_index(sreq->comm, sreq->comm->context_id,
                                                       MPIR_Process.rank,
                                                       MPIDI_OFI_init_get_tag(match_bits));
    const int ctx_idx = MPIDI_OFI_get_ctx_index(sreq->comm, vni, nic);

    if (!take_ack(deferred_of(ctx_idx), &ackreq->context))
        return (int) (fi_cancel) (&MPIDI_OFI_global.ctx[ctx_idx].rx->fid, &ackreq->context);
    MPL_free(ackreq);
    return 0;
}

/* Issue acknowledgements, as far as there is room. */
static int ack_progress(MPIDI_OFI_deferred_t * d, int ctx_idx)
{
    while (d->first_ack) {
        MPIDI_OFI_deferred_ack_t *ack = d->first_ack;
        ssize_t ret = (fi_trecv) (MPIDI_OFI_global.ctx[ctx_idx].rx, NULL, 0, NULL, ack->addr,
                                  ack->match_bits, 0, ack->context);
        if (ret == -FI_EAGAIN)
            break;
        d->first_ack = ack->next;
        MPL_free(ack);
        if (ret != 0)
            return MPIDI_OFI_native_error(MPIDI_OFI_NATIVE_RECV, ret);
    }
    return MPI_SUCCESS;
}

/* The next receive that may be issued, or NULL. */
static MPIR_Request *next_recv(const MPIDI_OFI_deferred_t * d)
{
    MPIR_Request *rreq = d->first_recv;

    return rreq && d->first_ack && !(DEFERRED(rreq, flags) & FI_CLAIM) ? NULL : rreq;
}

int MPIDI_OFI_deferred_recv_progress(int vni, int ctx_idx)
{
    MPIDI_OFI_deferred_t *d = deferred_of(ctx_idx);
    MPIR_Request *rreq;
    int mpi_errno = ack_progress(d, ctx_idx);

    for (int left = MPIDI_OFI_DEFERRED_TURN; left > 0 && !mpi_errno && (rreq = next_recv(d)); left--) {
        ssize_t ret = issue_recv(rreq, ctx_idx);
        if (ret == -FI_EAGAIN)
            break;
        take_out(d, rreq, NULL);
        if (ret != 0)
            mpi_errno = fail_recv(vni, rreq, ret);
    }
    return mpi_errno;
}

/* Release what the receive holds. libfabric's event for a cancelled one does it in MPICH, but for the
 * memory. */
static void release(MPIR_Request * rreq)
{
    MPIR_Datatype_release_if_not_builtin(MPIDI_OFI_REQUEST(rreq, datatype));
    if (MPIDI_OFI_REQUEST(rreq, event_id) == MPIDI_OFI_EVENT_RECV_NOPACK)
        MPL_free(MPIDI_OFI_REQUEST(rreq, noncontig.nopack));
    else if (MPIDI_OFI_REQUEST(rreq, event_id) == MPIDI_OFI_EVENT_RECV_PACK)
        MPIR_gpu_free_host(MPIDI_OFI_REQUEST(rreq, noncontig.pack.pack_buffer));
}

ssize_t MPIDI_OFI_recv_cancel(struct fid *fid, void *context)
{
    MPIR_Request *rreq = MPIDI_OFI_context_to_request(context);
    MPIDI_OFI_deferred_t *d =
        deferred_of(MPIDI_OFI_get_ctx_index(rreq->comm, MPIDI_Request_get_vci(rreq),
                                            MPIDI_OFI_REQUEST(rreq, nic_num)));
    MPIR_Request *r = d->first_recv, *before = NULL;

    for (; r && r != rreq; r = DEFERRED(r, next))
        before = r;
    if (!r)
        return (fi_cancel) (fid, context);
    take_out(d, rreq, before);
    release(rreq);
    MPIR_STATUS_SET_CANCEL_BIT(rreq->status, TRUE);
    return 0;
}

/* Whether a message that a probe looks for may be for a deferred receive. */
static int is_deferred_match(const MPIDI_OFI_deferred_t * d, const struct fi_msg_tagged *msg)
{
    for (MPIR_Request * r = d->first_recv; r; r = DEFERRED(r, next)) {
        uint64_t ignored = DEFERRED(r, mask_bits) | msg->ignore;
        if ((DEFERRED(r, match_bits) | ignored) == (msg->tag | ignored) &&
            (DEFERRED(r, addr) == msg->addr || DEFERRED(r, addr) == FI_ADDR_UNSPEC ||
             msg->addr == FI_ADDR_UNSPEC) && !(DEFERRED(r, flags) & FI_CLAIM))
            return 1;
    }
    return 0;
}

ssize_t MPIDI_OFI_ctx_peek(int ctx_idx, const struct fi_msg_tagged *msg, uint64_t flags)
{
    ssize_t ret = -FI_ENOMSG;

    if (!is_deferred_match(deferred_of(ctx_idx), msg))
        ret = (fi_trecvmsg) (MPIDI_OFI_global.ctx[ctx_idx].rx, msg, flags);
    return ret == -FI_EAGAIN ? -FI_ENOMSG : ret;
}
