/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ofi_events.h"

#define DEFERRED(req_, field_) MPIDI_OFI_REQUEST(req_, util.deferred.send.field_)
#define ITEM_REQUEST(item_) \
    MPL_container_of(item_, MPIR_Request, dev.ch4.netmod.ofi.util.deferred.send.item)

/* The error code of a call of libfabric that failed. */
int MPIDI_OFI_native_error(MPIDI_OFI_native_kind_t kind, ssize_t ret)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDI_OFI_ERR(kind == MPIDI_OFI_NATIVE_INJECT, mpi_errno, MPI_ERR_OTHER, "**ofid_tinjectdata",
                  "**ofid_tinjectdata %s %d %s %s", __SHORT_FILE__, __LINE__, __func__,
                  fi_strerror(-ret));
    MPIDI_OFI_ERR(kind == MPIDI_OFI_NATIVE_SEND, mpi_errno, MPI_ERR_OTHER, "**ofid_tsenddata",
                  "**ofid_tsenddata %s %d %s %s", __SHORT_FILE__, __LINE__, __func__,
                  fi_strerror(-ret));
    MPIDI_OFI_ERR(kind == MPIDI_OFI_NATIVE_RECV, mpi_errno, MPI_ERR_OTHER, "**ofid_trecv",
                  "**ofid_trecv %s %d %s %s", __SHORT_FILE__, __LINE__, __func__,
                  fi_strerror(-ret));
    MPIDI_OFI_ERR(1, mpi_errno, MPI_ERR_OTHER, "**ofid_tsendv", "**ofid_tsendv %s %d %s %s",
                  __SHORT_FILE__, __LINE__, __func__, fi_strerror(-ret));
  fn_fail:
    return mpi_errno;
}

void MPIDI_OFI_defer_send(MPIDI_OFI_native_kind_t kind, MPIR_Request * sreq, MPIR_Comm * comm,
                          int ctx_idx, const void *buf, size_t len, uint64_t cq_data, fi_addr_t addr,
                          uint64_t match_bits, uint64_t flags, ssize_t ret)
{
    MPIDI_CH4_REQUEST_KEEPS(sreq, comm);
    MPIDI_OFI_REQUEST(sreq, util.deferred.send) = (MPIDI_OFI_deferred_send_t) {
        .item = {.addr = addr,.kind = kind},
        .buf = buf,.len = len,.cq_data = cq_data,.match_bits = match_bits,.flags = flags,
        .refused = ret == -FI_EAGAIN ? 0 : ret
    };
    MPIDI_OFI_defer_item(&MPIDI_OFI_REQUEST(sreq, util.deferred.send.item), ctx_idx);
}

/* Complete a deferred send that libfabric has refused for good. A synchronous one and a huge one
 * also count the peer's acknowledgement, which will not come. If libfabric does not give back the
 * receive of the former, that still points to the request, which therefore keeps a reference: it is
 * lost, but never reused. */
static int fail_send(int vni, MPIR_Request * sreq, ssize_t ret)
{
    int is_sync = MPIDI_OFI_is_tag_sync(DEFERRED(sreq, match_bits));
    int is_huge = MPIDI_OFI_REQUEST(sreq, event_id) == MPIDI_OFI_EVENT_SEND_HUGE;
    int mpi_errno = MPI_SUCCESS;

    sreq->status.MPI_ERROR = MPIDI_OFI_native_error(DEFERRED(sreq, item.kind), ret);
    if (is_sync && MPIDI_OFI_ack_cancel(sreq, vni, DEFERRED(sreq, match_bits)) != 0)
        MPIR_Request_add_ref(sreq);
    if (is_sync || is_huge)
        mpi_errno = MPIDI_OFI_dispatch_function(vni, NULL, sreq);
    if (mpi_errno == MPI_SUCCESS)
        mpi_errno = MPIDI_OFI_dispatch_function(vni, NULL, sreq);
    return mpi_errno;
}

static ssize_t issue_send(MPIR_Request * sreq, int ctx_idx)
{
    const MPIDI_OFI_deferred_send_t *d = &MPIDI_OFI_REQUEST(sreq, util.deferred.send);
    struct fid_ep *tx = MPIDI_OFI_global.ctx[ctx_idx].tx;
    void *context = &MPIDI_OFI_REQUEST(sreq, context);

    if (d->refused)
        return d->refused;
    if (d->item.kind == MPIDI_OFI_NATIVE_INJECT)
        return (fi_tinjectdata) (tx, d->buf, d->len, d->cq_data, d->item.addr, d->match_bits);
    if (d->item.kind == MPIDI_OFI_NATIVE_SEND)
        return (fi_tsenddata) (tx, d->buf, d->len, NULL /* desc */ , d->cq_data, d->item.addr,
                               d->match_bits, context);
    const struct fi_msg_tagged msg = {
        .msg_iov = d->buf,.iov_count = d->len,.addr = d->item.addr,.tag = d->match_bits,
        .context = context,.data = d->cq_data
    };
    return (fi_tsendmsg) (tx, &msg, d->flags);
}

/* Issue a deferred send or call: 0, or what libfabric returns. */
static ssize_t issue(MPIDI_OFI_deferred_item_t * item, int ctx_idx)
{
    if (item->kind == MPIDI_OFI_NATIVE_CALL)
        return MPIDI_OFI_deferred_call_issue(item);
    return issue_send(ITEM_REQUEST(item), ctx_idx);
}

/* After issue has returned ret. The item is out of the circle. */
static int end(MPIDI_OFI_deferred_item_t * item, int vni, ssize_t ret)
{
    MPIR_Request *sreq = ITEM_REQUEST(item);

    if (item->kind == MPIDI_OFI_NATIVE_CALL)
        return MPIDI_OFI_deferred_call_end(item, vni, ret);
    if (ret != 0)
        return fail_send(vni, sreq, ret);
    if (item->kind == MPIDI_OFI_NATIVE_INJECT)
        return MPIDI_OFI_send_event(vni, NULL, sreq, MPIDI_OFI_REQUEST(sreq, event_id));
    return MPI_SUCCESS;
}

/* Issue to the address whose turn it is, until there is no room. */
static int issue_peer(MPIDI_OFI_deferred_t * d, int vni, int ctx_idx, int *left)
{
    int mpi_errno = MPI_SUCCESS, more = 1;

    while (more && *left > 0 && mpi_errno == MPI_SUCCESS) {
        MPIDI_OFI_deferred_item_t *item = MPIDI_OFI_deferred_first(d);
        ssize_t ret = issue(item, ctx_idx);
        --*left;
        if (ret == -FI_EAGAIN)
            break;
        more = MPIDI_OFI_deferred_remove(d);
        mpi_errno = end(item, vni, ret);
    }
    if (more)
        MPIDI_OFI_deferred_pass(d);
    return mpi_errno;
}

/* Of progress that the caller needed, for the next poll to return: the first one. */
void MPIDI_OFI_keep_error(int ctx_idx, int err)
{
    MPIDI_OFI_deferred_t *d = &MPIDI_OFI_global.ctx[ctx_idx].deferred;

    d->kept_error = d->kept_error ? d->kept_error : err;
}

/* Issue receives, then give each address a turn. In MPIDI_NM_progress, when MPIDI_OFI_HAS_DEFERRED. */
int MPIDI_OFI_deferred_progress(int vni, int ctx_idx)
{
    MPIDI_OFI_deferred_t *d = &MPIDI_OFI_global.ctx[ctx_idx].deferred;
    int mpi_errno = MPIDI_OFI_deferred_recv_progress(vni, ctx_idx);
    int left = MPIDI_OFI_DEFERRED_TURN;

    if (unlikely(d->kept_error) && mpi_errno == MPI_SUCCESS) {
        mpi_errno = d->kept_error;
        d->kept_error = MPI_SUCCESS;
    }
    for (int peers = d->n_peers; peers > 0 && left > 0 && mpi_errno == MPI_SUCCESS; peers--)
        mpi_errno = issue_peer(d, vni, ctx_idx, &left);
    return mpi_errno;
}

/* A short send failed, or has to be deferred. If the user has asked for an error after some attempts
 * instead, make those attempts here, unless the send would overtake others. */
int MPIDI_OFI_inject_refused(int ctx_idx, int vni, ssize_t ret, const void *buf, size_t len,
                             uint64_t cq_data, fi_addr_t addr, uint64_t match_bits, int eagain)
{
    int mpi_errno = MPI_SUCCESS;

    if (ret != -FI_EAGAIN)
        return MPIDI_OFI_native_error(MPIDI_OFI_NATIVE_INJECT, ret);
    if (!eagain || MPIR_CVAR_CH4_OFI_MAX_EAGAIN_RETRY < 0 || MPIDI_OFI_must_defer(ctx_idx, addr))
        return MPIDI_OFI_SEND_NEEDS_REQUEST;
    MPIDI_OFI_CALL_RETRY((fi_tinjectdata) (MPIDI_OFI_global.ctx[ctx_idx].tx, buf, len, cq_data, addr,
                                           match_bits), vni, tinjectdata, eagain);
  fn_fail:
    return mpi_errno;
}

/* A domain cannot be closed while memory is registered with it. */
static int forget_left_windows(void)
{
    MPIDIU_map_entry_t *entry, *next;
    int mpi_errno = MPI_SUCCESS;

    HASH_ITER(hh, ((MPIDIU_map_t *) MPIDI_OFI_global.win_map)->head, entry, next) {
        MPIDI_CHECKED(MPIDI_OFI_mpi_win_free_hook(entry->value));
    }
  fn_fail:
    return mpi_errno;
}

/* In MPI_Finalize, by the only thread left: issue what is still deferred, and give back what windows
 * that the program has not freed have from libfabric. */
int MPIDI_OFI_deferred_finish(void)
{
    int mpi_errno = MPI_SUCCESS;

    for (int vni = 0; vni < MPIDI_OFI_global.num_vnis; vni++) {
        for (int nic = 0; nic < MPIDI_OFI_global.num_nics; nic++) {
            int ctx_idx = MPIDI_OFI_get_ctx_index(NULL, vni, nic);

            while (MPIDI_OFI_HAS_DEFERRED_PEERS(ctx_idx))
                MPIDI_OFI_PROGRESS(vni);
            MPIDI_OFI_flush_new_counter(ctx_idx);
            MPIDI_OFI_global.ctx[ctx_idx].deferred.kept_error = MPI_SUCCESS;
        }
    }
    MPIDI_CHECKED(forget_left_windows());
  fn_fail:
    return mpi_errno;
}
