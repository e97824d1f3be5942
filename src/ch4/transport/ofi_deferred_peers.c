/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ofi_impl.h"

/* Each address is represented by its first item, which points to the last one. last_peer is the address
 * that had the last turn; its next_peer is next. An address without room only loses its turn, so that
 * a stalled peer delays no other. */

/* The first item to this address, or NULL. */
static MPIDI_OFI_deferred_item_t *find_peer(const MPIDI_OFI_deferred_t * d, fi_addr_t addr)
{
    MPIDI_OFI_deferred_item_t *peer = d->last_peer;

    for (int i = 0; i < d->n_peers; i++, peer = peer->next_peer) {
        if (peer->addr == addr)
            return peer;
    }
    return NULL;
}

int MPIDI_OFI_is_deferred_peer(int ctx_idx, fi_addr_t addr)
{
    return find_peer(&MPIDI_OFI_global.ctx[ctx_idx].deferred, addr) != NULL;
}

void MPIDI_OFI_defer_item(MPIDI_OFI_deferred_item_t * item, int ctx_idx)
{
    MPIDI_OFI_deferred_t *d = &MPIDI_OFI_global.ctx[ctx_idx].deferred;
    MPIDI_OFI_deferred_item_t *peer = find_peer(d, item->addr);

    item->next = NULL;
    if (peer) {
        peer->last->next = item;
        peer->last = item;
        return;
    }
    item->last = item;
    if (d->last_peer) {
        item->next_peer = d->last_peer->next_peer;
        d->last_peer->next_peer = item;
    } else {
        item->next_peer = item;
    }
    d->last_peer = item;
    d->n_peers++;
}

int MPIDI_OFI_deferred_remove(MPIDI_OFI_deferred_t * d)
{
    MPIDI_OFI_deferred_item_t *before = d->last_peer;
    MPIDI_OFI_deferred_item_t *item = before->next_peer;
    MPIDI_OFI_deferred_item_t *next = item->next;
    int is_only_peer = before == item;

    if (next) {
        next->last = item->last;
        next->next_peer = is_only_peer ? next : item->next_peer;
        if (is_only_peer)
            d->last_peer = next;
        else
            before->next_peer = next;
        return 1;
    }
    if (is_only_peer)
        d->last_peer = NULL;
    else
        before->next_peer = item->next_peer;
    d->n_peers--;
    return 0;
}
