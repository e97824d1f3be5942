/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_DEFERRED_CALL_H_INCLUDED
#define OFI_DEFERRED_CALL_H_INCLUDED

/* Deferred calls of libfabric for one-sided operations, active messages and acknowledgements: none of
 * them waits for room. A call that libfabric refuses with FI_EAGAIN is copied to its own memory, with
 * its vectors and what it injects; MPIDI_NM_progress issues it later, in order for each address
 * (ofi_deferred_peers.h).
 *
 * Each function below is libfabric's function of that name, with the window or the index of the context
 * in place of the endpoint; it returns 0 or an error, but never -FI_EAGAIN. With the VCI locked.
 *
 * A flush waits for deferred operations, because the window has counted them as issued. A failure of
 * one is reported like that of a posted operation: by its request, or by the window's next
 * synchronization. Included by ofi_calls.h. */

#include "ofi_deferred_peers.h"

typedef enum {
    MPIDI_OFI_CALL_WRITE,
    MPIDI_OFI_CALL_READ,
    MPIDI_OFI_CALL_PLAIN_READ,
    MPIDI_OFI_CALL_INJECT_WRITE,
    MPIDI_OFI_CALL_ATOMIC,
    MPIDI_OFI_CALL_FETCH_ATOMIC,
    MPIDI_OFI_CALL_COMPARE_ATOMIC,
    MPIDI_OFI_CALL_SEND,
    MPIDI_OFI_CALL_INJECT,
    MPIDI_OFI_CALL_TINJECT
} MPIDI_OFI_call_kind_t;

/* What a call needs; fields that its kind does not use are 0. Vectors have one element. */
typedef struct {
    MPIDI_OFI_call_kind_t kind;
    int ctx_idx;
    struct fid_ep *ep;
    MPIR_Win *win;              /* NULL: not a one-sided operation */
    fi_addr_t addr;
    uint64_t flags;
    void *context;
    struct iovec local;
    struct fi_rma_iov remote;
    struct fi_ioc origin;       /* atomic operations */
    struct fi_rma_ioc target;
    struct fi_ioc compare;
    struct fi_ioc result;
    enum fi_datatype datatype;
    enum fi_op op;
    uint64_t cq_data;           /* TINJECT */
    uint64_t tag;
} MPIDI_OFI_call_t;

/* Defer a call: 0, or -FI_ENOMEM. Copies *call, and the data of an injection. */
ssize_t MPIDI_OFI_defer_call(const MPIDI_OFI_call_t * call);

/* For MPIDI_OFI_deferred_progress: 0, or what libfabric returns. */
ssize_t MPIDI_OFI_deferred_call_issue(MPIDI_OFI_deferred_item_t * item);

/* After issue has returned ret, which is not -FI_EAGAIN: frees the item. Returns the error of a call
 * that has neither a request nor a window. */
int MPIDI_OFI_deferred_call_end(MPIDI_OFI_deferred_item_t * item, int vni, ssize_t ret);

#define MPIDI_OFI_WIN_CTX_(win_) MPIDI_OFI_get_ctx_index(NULL, MPIDI_OFI_WIN(win_).vni, 0)
#define MPIDI_OFI_WIN_CALL_(kind_, win_) \
    .kind = kind_,.ctx_idx = MPIDI_OFI_WIN_CTX_(win_),.ep = MPIDI_OFI_WIN(win_).ep,.win = win_
#define MPIDI_OFI_CTX_CALL_(kind_, ctx_idx_) \
    .kind = kind_,.ctx_idx = ctx_idx_,.ep = MPIDI_OFI_global.ctx[ctx_idx_].tx

/* TRY_CALL for an operation that a window has counted, or, without one, the context: no flush waits for
 * what libfabric refuses for good. */
#define MPIDI_OFI_TRY_WIN_CALL(win_, ctx_idx_, addr_, context_, call_) \
    do { \
        if (!MPIDI_OFI_must_defer(ctx_idx_, addr_)) { \
            ssize_t ret_ = call_; \
            if (unlikely(ret_ != 0 && ret_ != -FI_EAGAIN)) \
                MPIDI_OFI_rma_refused(win_, ctx_idx_, context_); \
            if (likely(ret_ != -FI_EAGAIN)) \
                return ret_; \
        } \
    } while (0)

/* n operations will not complete, which the window has counted, or the context if win is NULL. */
void MPIDI_OFI_uncount(MPIR_Win * win, int ctx_idx, uint64_t n);

/* One such operation will not happen. context: with a window its own part of a request, which is freed,
 * or NULL. */
void MPIDI_OFI_rma_refused(MPIR_Win * win, int ctx_idx, void *context);

/* kind: WRITE or READ. win is NULL outside of windows. */
MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_call_msg(MPIDI_OFI_call_kind_t kind, int ctx_idx,
                                                    struct fid_ep *ep, MPIR_Win * win,
                                                    const struct fi_msg_rma *msg, uint64_t flags)
{
    MPIDI_OFI_TRY_WIN_CALL(win, ctx_idx, msg->addr, msg->context, kind == MPIDI_OFI_CALL_WRITE ?
                           fi_writemsg(ep, msg, flags) : fi_readmsg(ep, msg, flags));

    const MPIDI_OFI_call_t call = {
        .kind = kind,.ctx_idx = ctx_idx,.ep = ep,.win = win,.addr = msg->addr,.flags = flags,
        .context = msg->context,.local = *msg->msg_iov,.remote = *msg->rma_iov
    };

    return MPIDI_OFI_defer_call(&call);
}

#define MPIDI_OFI_win_writemsg(win_, msg_, flags_) \
    MPIDI_OFI_call_msg(MPIDI_OFI_CALL_WRITE, MPIDI_OFI_WIN_CTX_(win_), MPIDI_OFI_WIN(win_).ep, win_, \
                       msg_, flags_)
#define MPIDI_OFI_win_readmsg(win_, msg_, flags_) \
    MPIDI_OFI_call_msg(MPIDI_OFI_CALL_READ, MPIDI_OFI_WIN_CTX_(win_), MPIDI_OFI_WIN(win_).ep, win_, \
                       msg_, flags_)
#define MPIDI_OFI_ctx_readmsg(ctx_idx_, msg_, flags_) \
    MPIDI_OFI_call_msg(MPIDI_OFI_CALL_READ, ctx_idx_, MPIDI_OFI_global.ctx[ctx_idx_].tx, NULL, msg_, \
                       flags_)

MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_win_inject_write(MPIR_Win * win, const void *buf, size_t len,
                                                            fi_addr_t addr, uint64_t remote,
                                                            uint64_t key)
{
    MPIDI_OFI_TRY_WIN_CALL(win, MPIDI_OFI_WIN_CTX_(win), addr, NULL,
                           fi_inject_write(MPIDI_OFI_WIN(win).ep, buf, len, addr, remote, key));

    const MPIDI_OFI_call_t call = {
        MPIDI_OFI_WIN_CALL_(MPIDI_OFI_CALL_INJECT_WRITE, win),.addr = addr,
        .local = {.iov_base = (void *) buf,.iov_len = len},
        .remote = {.addr = remote,.len = len,.key = key}
    };

    return MPIDI_OFI_defer_call(&call);
}

/* compare, result: NULL if the kind has none. */
ssize_t MPIDI_OFI_defer_atomic(MPIDI_OFI_call_kind_t kind, MPIR_Win * win,
                               const struct fi_msg_atomic *msg, const struct fi_ioc *compare,
                               const struct fi_ioc *result, uint64_t flags);

MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_win_atomicmsg(MPIR_Win * win,
                                                         const struct fi_msg_atomic *msg,
                                                         uint64_t flags)
{
    MPIDI_OFI_TRY_WIN_CALL(win, MPIDI_OFI_WIN_CTX_(win), msg->addr, msg->context,
                           fi_atomicmsg(MPIDI_OFI_WIN(win).ep, msg, flags));
    return MPIDI_OFI_defer_atomic(MPIDI_OFI_CALL_ATOMIC, win, msg, NULL, NULL, flags);
}

/* desc, compare_desc: NULL; count, n_compare: 1. */
MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_win_fetch_atomicmsg(MPIR_Win * win,
                                                               const struct fi_msg_atomic *msg,
                                                               struct fi_ioc *result, void **desc,
                                                               size_t count, uint64_t flags)
{
    MPIDI_OFI_TRY_WIN_CALL(win, MPIDI_OFI_WIN_CTX_(win), msg->addr, msg->context,
                           fi_fetch_atomicmsg(MPIDI_OFI_WIN(win).ep, msg, result, desc, count, flags));
    return MPIDI_OFI_defer_atomic(MPIDI_OFI_CALL_FETCH_ATOMIC, win, msg, NULL, result, flags);
}

MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_win_compare_atomicmsg(MPIR_Win * win,
                                                                 const struct fi_msg_atomic *msg,
                                                                 const struct fi_ioc *compare,
                                                                 void **compare_desc,
                                                                 size_t n_compare,
                                                                 struct fi_ioc *result, void **desc,
                                                                 size_t count, uint64_t flags)
{
    MPIDI_OFI_TRY_WIN_CALL(win, MPIDI_OFI_WIN_CTX_(win), msg->addr, msg->context,
                           fi_compare_atomicmsg(MPIDI_OFI_WIN(win).ep, msg, compare, compare_desc,
                                                n_compare, result, desc, count, flags));
    return MPIDI_OFI_defer_atomic(MPIDI_OFI_CALL_COMPARE_ATOMIC, win, msg, compare, result, flags);
}

MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_ctx_send(int ctx_idx, const void *buf, size_t len,
                                                    void *desc, fi_addr_t addr, void *context)
{
    MPIDI_OFI_TRY_CALL(ctx_idx, addr,
                       fi_send(MPIDI_OFI_global.ctx[ctx_idx].tx, buf, len, desc, addr, context));

    const MPIDI_OFI_call_t call = {
        MPIDI_OFI_CTX_CALL_(MPIDI_OFI_CALL_SEND, ctx_idx),.addr = addr,.context = context,
        .local = {.iov_base = (void *) buf,.iov_len = len}
    };

    return MPIDI_OFI_defer_call(&call);
}

MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_ctx_inject(int ctx_idx, const void *buf, size_t len,
                                                      fi_addr_t addr)
{
    MPIDI_OFI_TRY_CALL(ctx_idx, addr,
                       fi_inject(MPIDI_OFI_global.ctx[ctx_idx].tx, buf, len, addr));

    const MPIDI_OFI_call_t call = {
        MPIDI_OFI_CTX_CALL_(MPIDI_OFI_CALL_INJECT, ctx_idx),.addr = addr,
        .local = {.iov_base = (void *) buf,.iov_len = len}
    };

    return MPIDI_OFI_defer_call(&call);
}

/* A chunk of a huge message. What is refused for good is deferred as well, and ends when it is refused
 * once more: the caller may have more chunks, and the last one ends the receive. */
MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_ctx_read(int ctx_idx, void *buf, size_t len, void *desc,
                                                    fi_addr_t addr, uint64_t remote, uint64_t key,
                                                    void *context)
{
    if (!MPIDI_OFI_must_defer(ctx_idx, addr) &&
        likely(fi_read(MPIDI_OFI_global.ctx[ctx_idx].tx, buf, len, desc, addr, remote, key,
                       context) == 0))
        return 0;

    const MPIDI_OFI_call_t call = {
        MPIDI_OFI_CTX_CALL_(MPIDI_OFI_CALL_PLAIN_READ, ctx_idx),.addr = addr,.context = context,
        .local = {.iov_base = buf,.iov_len = len},
        .remote = {.addr = remote,.len = len,.key = key}
    };

    return MPIDI_OFI_defer_call(&call);
}

MPL_STATIC_INLINE_PREFIX ssize_t MPIDI_OFI_ctx_tinjectdata(int ctx_idx, const void *buf, size_t len,
                                                           uint64_t cq_data, fi_addr_t addr,
                                                           uint64_t tag)
{
    MPIDI_OFI_TRY_CALL(ctx_idx, addr, fi_tinjectdata(MPIDI_OFI_global.ctx[ctx_idx].tx, buf, len,
                                                     cq_data, addr, tag));

    const MPIDI_OFI_call_t call = {
        MPIDI_OFI_CTX_CALL_(MPIDI_OFI_CALL_TINJECT, ctx_idx),.addr = addr,.cq_data = cq_data,.tag = tag,
        .local = {.iov_base = (void *) buf,.iov_len = len}
    };

    return MPIDI_OFI_defer_call(&call);
}

#endif /* OFI_DEFERRED_CALL_H_INCLUDED */
