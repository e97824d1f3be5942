/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_DEFERRED_PEERS_H_INCLUDED
#define OFI_DEFERRED_PEERS_H_INCLUDED

/* What libfabric has refused with FI_EAGAIN, by address: a circle of addresses with a FIFO for each.
 * While something to an address is deferred, everything later to that address is deferred as well, so
 * that nothing overtakes; what goes to other addresses goes on.
 *
 *   MPIDI_OFI_must_defer        before a call to an address
 *   MPIDI_OFI_TRY_CALL          the same with the call
 *   MPIDI_OFI_defer_item        append to an address
 *   MPIDI_OFI_deferred_first    the first one to the address whose turn it is
 *   MPIDI_OFI_deferred_remove   take it out
 *   MPIDI_OFI_deferred_pass     give the turn to the next address
 *
 * All with the VCI locked. The items' memory is their owner's. */

#define MPIDI_OFI_HAS_DEFERRED_PEERS(ctx_idx_) \
    (MPIDI_OFI_global.ctx[ctx_idx_].deferred.last_peer != NULL)

int MPIDI_OFI_is_deferred_peer(int ctx_idx, fi_addr_t addr);

/* item->addr and item->kind are set. */
void MPIDI_OFI_defer_item(MPIDI_OFI_deferred_item_t * item, int ctx_idx);

/* Returns 1 if there is another one to the same address; it then comes first. */
int MPIDI_OFI_deferred_remove(MPIDI_OFI_deferred_t * d);

MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_must_defer(int ctx_idx, fi_addr_t addr)
{
    return unlikely(MPIDI_OFI_HAS_DEFERRED_PEERS(ctx_idx)) && MPIDI_OFI_is_deferred_peer(ctx_idx, addr);
}

/* Return what call_ returns, unless that is -FI_EAGAIN or call_ must not be made: defer it then. */
#define MPIDI_OFI_TRY_CALL(ctx_idx_, addr_, call_) \
    do { \
        if (!MPIDI_OFI_must_defer(ctx_idx_, addr_)) { \
            ssize_t ret_ = call_; \
            if (likely(ret_ != -FI_EAGAIN)) \
                return ret_; \
        } \
    } while (0)

/* Whether a message is one between processes that connect (ofi_dynproc.h), or of MPI_Finalize: it has
 * no request, and is not deferred. */
MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_is_dynproc(void *context)
{
    return MPIDI_OFI_REQUEST(MPIDI_OFI_context_to_request(context), event_id) ==
        MPIDI_OFI_EVENT_DYNPROC_DONE;
}

/* There is one. */
MPL_STATIC_INLINE_PREFIX MPIDI_OFI_deferred_item_t *MPIDI_OFI_deferred_first(const
                                                                             MPIDI_OFI_deferred_t *
                                                                             d)
{
    return d->last_peer->next_peer;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_OFI_deferred_pass(MPIDI_OFI_deferred_t * d)
{
    d->last_peer = d->last_peer->next_peer;
}

#endif /* OFI_DEFERRED_PEERS_H_INCLUDED */
