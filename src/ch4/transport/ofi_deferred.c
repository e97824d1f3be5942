/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ofi_events.h"
#include "ofi_deferred.h"
#include "ofi_deferred_recv.h"

/* The deferred sends of an endpoint are a circle of addresses; each is represented by its first
 * request, which points to the last one to that address. last_peer is the address that had the last
 * turn; its next_peer is next. An address without room only loses its turn, so that a stalled peer
 * delays no other. */

#define DEFERRED(req_, field_) MPIDI_OFI_REQUEST(req_, util.deferred.field_)

/* The first deferred send to this address, or NULL. */
static MPIR_Request *find_peer(const MPIDI_OFI_deferred_t * d, fi_addr_t addr)
{
    MPIR_Request *peer = d->last_peer;

    for (int i = 0; i < d->n_peers; i++, peer = DEFERRED(peer, next_peer)) {
        if (DEFERRED(peer, addr) == addr)
            return peer;
    }
    return NULL;
}

int MPIDI_OFI_is_deferred_peer(int ctx_idx, fi_addr_t addr)
{
    return find_peer(&MPIDI_OFI_global.ctx[ctx_idx].deferred, addr) != NULL;
}

/* Append a request, with its arguments set, to the sends to its address. */
void MPIDI_OFI_defer_send(MPIR_Request * sreq, int ctx_idx)
{
    MPIDI_OFI_deferred_t *d = &MPIDI_OFI_global.ctx[ctx_idx].deferred;
    MPIR_Request *peer = find_peer(d, DEFERRED(sreq, addr));

    DEFERRED(sreq, next) = NULL;
    if (peer) {
        DEFERRED(DEFERRED(peer, last), next) = sreq;
        DEFERRED(peer, last) = sreq;
        return;
    }
    DEFERRED(sreq, last) = sreq;
    if (d->last_peer) {
        DEFERRED(sreq, next_peer) = DEFERRED(d->last_peer, next_peer);
        DEFERRED(d->last_peer, next_peer) = sreq;
    } else {
        DEFERRED(sreq, next_peer) = sreq;
    }
    d->last_peer = sreq;
    d->n_peers++;
}

/* Remove the first send to the address whose turn it is. 1 if there is another one to it. */
static int remove_first(MPIDI_OFI_deferred_t * d)
{
    MPIR_Request *before = d->last_peer;
    MPIR_Request *sreq = DEFERRED(before, next_peer);
    MPIR_Request *next = DEFERRED(sreq, next);
    int is_only_peer = before == sreq;

    if (next) {
        DEFERRED(next, last) = DEFERRED(sreq, last);
        DEFERRED(next, next_peer) = is_only_peer ? next : DEFERRED(sreq, next_peer);
        if (is_only_peer)
            d->last_peer = next;
        else
            DEFERRED(before, next_peer) = next;
        return 1;
    }
    if (is_only_peer)
        d->last_peer = NULL;
    else
        DEFERRED(before, next_peer) = DEFERRED(sreq, next_peer);
    d->n_peers--;
    return 0;
}

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

/* Complete a deferred send that libfabric has refused for good. A synchronous one and a huge one
 * also count the peer's acknowledgement, which will not come. The posted receive of the former
 * still points to the request and matches the acknowledgement of a later send with the same tag, so
 * the request keeps a reference: it is lost, but never reused. */
static int fail_send(int vni, MPIR_Request * sreq, ssize_t ret)
{
    int is_sync = MPIDI_OFI_is_tag_sync(DEFERRED(sreq, match_bits));
    int is_huge = MPIDI_OFI_REQUEST(sreq, event_id) == MPIDI_OFI_EVENT_SEND_HUGE;
    int mpi_errno = MPI_SUCCESS;

    sreq->status.MPI_ERROR = MPIDI_OFI_native_error(DEFERRED(sreq, kind), ret);
    if (is_sync)
        MPIR_Request_add_ref(sreq);
    if (is_sync || is_huge)
        mpi_errno = MPIDI_OFI_dispatch_function(vni, NULL, sreq);
    if (mpi_errno == MPI_SUCCESS)
        mpi_errno = MPIDI_OFI_dispatch_function(vni, NULL, sreq);
    return mpi_errno;
}

/* Issue sends to the address whose turn it is, until there is no room. */
static int issue_peer(MPIDI_OFI_deferred_t * d, int vni, int ctx_idx, int *left)
{
    int mpi_errno = MPI_SUCCESS, more = 1;

    while (more && *left > 0 && mpi_errno == MPI_SUCCESS) {
        MPIR_Request *sreq = DEFERRED(d->last_peer, next_peer);
        MPIDI_OFI_native_kind_t kind = DEFERRED(sreq, kind);
        ssize_t ret = MPIDI_OFI_call_native(kind, sreq, ctx_idx, DEFERRED(sreq, buf),
                                            DEFERRED(sreq, len), DEFERRED(sreq, cq_data),
                                            DEFERRED(sreq, addr), DEFERRED(sreq, match_bits));
        --*left;
        if (ret == -FI_EAGAIN)
            break;
        more = remove_first(d);
        if (ret != 0)
            mpi_errno = fail_send(vni, sreq, ret);
        else if (kind == MPIDI_OFI_NATIVE_INJECT)
            mpi_errno = MPIDI_OFI_send_event(vni, NULL, sreq, MPIDI_OFI_REQUEST(sreq, event_id));
    }
    if (more)
        d->last_peer = DEFERRED(d->last_peer, next_peer);
    return mpi_errno;
}

/* Issue receives, then give each address a turn. In MPIDI_NM_progress, when MPIDI_OFI_HAS_DEFERRED. */
int MPIDI_OFI_deferred_progress(int vni, int ctx_idx)
{
    MPIDI_OFI_deferred_t *d = &MPIDI_OFI_global.ctx[ctx_idx].deferred;
    int mpi_errno = MPIDI_OFI_deferred_recv_progress(vni, ctx_idx);
    int left = MPIDI_OFI_DEFERRED_TURN;

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
    MPIDI_OFI_CALL_RETRY(fi_tinjectdata(MPIDI_OFI_global.ctx[ctx_idx].tx, buf, len, cq_data, addr,
                                        match_bits), vni, tinjectdata, eagain);
  fn_fail:
    return mpi_errno;
}

/* In MPI_Finalize, by the only thread left: issue what is still deferred. */
int MPIDI_OFI_deferred_finish(void)
{
    int mpi_errno = MPI_SUCCESS;

    for (int vni = 0; vni < MPIDI_OFI_global.num_vnis; vni++) {
        for (int nic = 0; nic < MPIDI_OFI_global.num_nics; nic++) {
            while (MPIDI_OFI_HAS_DEFERRED_SENDS(MPIDI_OFI_get_ctx_index(NULL, vni, nic)))
                MPIDI_OFI_PROGRESS(vni);
        }
    }
  fn_fail:
    return mpi_errno;
}
