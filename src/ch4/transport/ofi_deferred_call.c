/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ofi_events.h"

/* A deferred call, and what it injects. */
typedef struct {
    MPIDI_OFI_deferred_item_t item;
    MPIDI_OFI_call_t call;
    char data[];
} deferred_call_t;

static deferred_call_t *deferred_of(MPIDI_OFI_deferred_item_t * item)
{
    return MPL_container_of(item, deferred_call_t, item);
}

/* MPIDI_OFI_cntr_incr counts for all VCIs of a NIC where they have no domains of their own. */
static int counting_ctx(int ctx_idx)
{
#ifdef MPIDI_OFI_VNI_USE_DOMAIN
    return ctx_idx;
#else
    return ctx_idx - ctx_idx % MPIDI_OFI_global.num_vnis;
#endif
}

void MPIDI_OFI_uncount(MPIR_Win * win, int ctx_idx, uint64_t n)
{
#if defined(MPIDI_CH4_USE_MT_RUNTIME) || defined(MPIDI_CH4_USE_MT_LOCKLESS)
    MPL_atomic_fetch_sub_uint64(win ? MPIDI_OFI_WIN(win).issued_cntr :
                                &MPIDI_OFI_global.ctx[counting_ctx(ctx_idx)].rma_issued_cntr, n);
#else
    *(win ? MPIDI_OFI_WIN(win).issued_cntr :
      &MPIDI_OFI_global.ctx[counting_ctx(ctx_idx)].rma_issued_cntr) -= n;
#endif
}

void MPIDI_OFI_rma_refused(MPIR_Win * win, int ctx_idx, void *context)
{
    MPIDI_OFI_uncount(win, ctx_idx, 1);
    if (win && context)
        MPL_free(MPIDI_OFI_context_to_request(context));
}

/* Counted by the context. */
static int is_read(const MPIDI_OFI_call_t * call)
{
    return !call->win &&
        (call->kind == MPIDI_OFI_CALL_READ || call->kind == MPIDI_OFI_CALL_PLAIN_READ);
}

/* The caller may change the data of an injection as soon as the call has returned. */
static int injects(const MPIDI_OFI_call_t * call)
{
    return call->kind == MPIDI_OFI_CALL_INJECT_WRITE || call->kind == MPIDI_OFI_CALL_INJECT ||
        call->kind == MPIDI_OFI_CALL_TINJECT;
}

ssize_t MPIDI_OFI_defer_call(const MPIDI_OFI_call_t * call)
{
    const size_t copied = injects(call) ? call->local.iov_len : 0;
    deferred_call_t *d = MPL_malloc(sizeof(*d) + copied, MPL_MEM_OTHER);

    if (!d) {
        if (call->win || is_read(call))
            MPIDI_OFI_rma_refused(call->win, call->ctx_idx, call->context);
        return -FI_ENOMEM;
    }
    d->item.addr = call->addr;
    d->item.kind = MPIDI_OFI_NATIVE_CALL;
    d->call = *call;
    if (copied > 0) {
        memcpy(d->data, call->local.iov_base, copied);
        d->call.local.iov_base = d->data;
    }
    MPIDI_OFI_defer_item(&d->item, call->ctx_idx);
    return 0;
}

ssize_t MPIDI_OFI_defer_atomic(MPIDI_OFI_call_kind_t kind, MPIR_Win * win,
                               const struct fi_msg_atomic *msg, const struct fi_ioc *compare,
                               const struct fi_ioc *result, uint64_t flags)
{
    MPIDI_OFI_call_t call = {
        MPIDI_OFI_WIN_CALL_(kind, win),.addr = msg->addr,.flags = flags,.context = msg->context,
        .origin = *msg->msg_iov,.target = *msg->rma_iov,.datatype = msg->datatype,.op = msg->op
    };

    if (compare)
        call.compare = *compare;
    if (result)
        call.result = *result;
    return MPIDI_OFI_defer_call(&call);
}

static ssize_t issue_rma(const MPIDI_OFI_call_t * c)
{
    const struct fi_msg_rma msg = {
        .msg_iov = &c->local,.iov_count = 1,.addr = c->addr,.rma_iov = &c->remote,
        .rma_iov_count = 1,.context = c->context
    };

    if (c->kind == MPIDI_OFI_CALL_WRITE)
        return (fi_writemsg) (c->ep, &msg, c->flags);
    return (fi_readmsg) (c->ep, &msg, c->flags);
}

static ssize_t issue_atomic(const MPIDI_OFI_call_t * c)
{
    struct fi_ioc result = c->result;
    const struct fi_msg_atomic msg = {
        .msg_iov = &c->origin,.iov_count = 1,.addr = c->addr,.rma_iov = &c->target,
        .rma_iov_count = 1,.datatype = c->datatype,.op = c->op,.context = c->context
    };

    if (c->kind == MPIDI_OFI_CALL_ATOMIC)
        return (fi_atomicmsg) (c->ep, &msg, c->flags);
    if (c->kind == MPIDI_OFI_CALL_FETCH_ATOMIC)
        return (fi_fetch_atomicmsg) (c->ep, &msg, &result, NULL, 1, c->flags);
    return (fi_compare_atomicmsg) (c->ep, &msg, &c->compare, NULL, 1, &result, NULL, 1, c->flags);
}

ssize_t MPIDI_OFI_deferred_call_issue(MPIDI_OFI_deferred_item_t * item)
{
    const MPIDI_OFI_call_t *c = &deferred_of(item)->call;

    switch (c->kind) {
        case MPIDI_OFI_CALL_WRITE:
        case MPIDI_OFI_CALL_READ:
            return issue_rma(c);
        case MPIDI_OFI_CALL_PLAIN_READ:
            return (fi_read) (c->ep, c->local.iov_base, c->local.iov_len, NULL, c->addr, c->remote.addr,
                              c->remote.key, c->context);
        case MPIDI_OFI_CALL_INJECT_WRITE:
            return (fi_inject_write) (c->ep, c->local.iov_base, c->local.iov_len, c->addr,
                                      c->remote.addr, c->remote.key);
        case MPIDI_OFI_CALL_SEND:
            return (fi_send) (c->ep, c->local.iov_base, c->local.iov_len, NULL, c->addr, c->context);
        case MPIDI_OFI_CALL_INJECT:
            return (fi_inject) (c->ep, c->local.iov_base, c->local.iov_len, c->addr);
        case MPIDI_OFI_CALL_TINJECT:
            return (fi_tinjectdata) (c->ep, c->local.iov_base, c->local.iov_len, c->cq_data, c->addr,
                                     c->tag);
        default:
            return issue_atomic(c);
    }
}

static int call_error(const MPIDI_OFI_call_t * c, ssize_t ret)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDI_OFI_ERR(!c->win, mpi_errno, MPI_ERR_OTHER, "**ofid_send", "**ofid_send %s %d %s %s",
                  __SHORT_FILE__, __LINE__, __func__, fi_strerror(-ret));
    MPIDI_OFI_ERR(1, mpi_errno, MPI_ERR_OTHER, "**ofid_rdma_write", "**ofid_rdma_write %s %d %s %s",
                  __SHORT_FILE__, __LINE__, __func__, fi_strerror(-ret));
  fn_fail:
    return mpi_errno;
}

/* No flush waits for a one-sided operation that has failed. */
static int fail_win_call(const MPIDI_OFI_call_t * c, int vni, int error)
{
    MPIR_Request *part;
    int no_error = MPI_SUCCESS;

    MPIDI_OFI_uncount(c->win, c->ctx_idx, 1);
    if (!c->context) {
        tsm_cas(&MPIDI_WIN(c->win, threads).error, &no_error, error, TSM_RELAXED, TSM_RELAXED);
        return MPI_SUCCESS;
    }
    part = MPIDI_OFI_context_to_request(c->context);
    ((MPIDI_OFI_chunk_request *) part)->parent->status.MPI_ERROR = error;
    return MPIDI_OFI_dispatch_function(vni, NULL, part);
}

/* Nor for a read. A chunk of a huge message ends with the error. */
static int fail_read(const MPIDI_OFI_call_t * c, int vni, int error)
{
    MPIR_Request *chunk;

    MPIDI_OFI_uncount(NULL, c->ctx_idx, 1);
    if (c->kind == MPIDI_OFI_CALL_READ)
        return error;
    chunk = MPIDI_OFI_context_to_request(c->context);
    ((MPIDI_OFI_read_chunk_t *) chunk)->localreq->status.MPI_ERROR = error;
    return MPIDI_OFI_dispatch_function(vni, NULL, chunk);
}

int MPIDI_OFI_deferred_call_end(MPIDI_OFI_deferred_item_t * item, int vni, ssize_t ret)
{
    deferred_call_t *d = deferred_of(item);
    int mpi_errno = MPI_SUCCESS;

    if (unlikely(ret != 0)) {
        mpi_errno = call_error(&d->call, ret);
        if (d->call.win)
            mpi_errno = fail_win_call(&d->call, vni, mpi_errno);
        else if (is_read(&d->call))
            mpi_errno = fail_read(&d->call, vni, mpi_errno);
    }
    MPL_free(d);
    return mpi_errno;
}
