/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_RECV_H_INCLUDED
#define POSIX_EAGER_RING_RECV_H_INCLUDED

#include "ring_types.h"
#include "tsm/tsm_load.h"

/* Ask for the lines of a payload behind that of the header, all at once: the data is read later. */
MPL_STATIC_INLINE_PREFIX void MPIDI_POSIX_ring_ask(const char *payload, size_t size)
{
    for (size_t at = TSM_CACHELINE; at < size; at += TSM_CACHELINE)
        tsm_prefetch_read(payload + at);
}

/* Begin to receive the oldest segment that has come to a VCI. Returns MPIDI_POSIX_NOK if there is none,
 * or if that is a brief message, which has come since MPIDI_POSIX_ring_recv_brief looked. The payload
 * stays until the commit. VCI held; waits for nobody. */
MPL_STATIC_INLINE_PREFIX int
MPIDI_POSIX_eager_recv_begin(int vsi, MPIDI_POSIX_eager_recv_transaction_t * transaction)
{
    tsm_ring_reader_t *reader = &MPIDI_POSIX_ring_global.vsi[vsi].reader;
    MPIDI_POSIX_ring_slot_t *slot;

    if (unlikely(!reader->ring))
        return MPIDI_POSIX_NOK; /* no MPI_COMM_WORLD yet: a session with mpi://SELF alone */
    slot = (MPIDI_POSIX_ring_slot_t *) tsm_ring_look(reader);
    if (!slot || unlikely(slot->flags & MPIDI_POSIX_RING_BRIEF))
        return MPIDI_POSIX_NOK;
    tsm_ring_take_seen(reader);
    transaction->src_local_rank = slot->from;
    transaction->src_vsi = slot->src_vsi;
    transaction->dst_vsi = vsi;
    transaction->msg_hdr = slot->flags & MPIDI_POSIX_RING_HEAD ? &slot->am_header : NULL;
    transaction->payload_sz = slot->am_header.unused;
    if (likely(!(slot->flags & MPIDI_POSIX_RING_IN_CELL))) {
        transaction->payload = slot->u.payload;
        MPIDI_POSIX_ring_ask(slot->u.payload, transaction->payload_sz);
        transaction->transport.ring.cell = TSM_RETURNS_NONE;
    } else {
        transaction->payload = MPIDI_POSIX_ring_cell(slot->from, slot->src_vsi, slot->u.cell);
        if (slot->flags & MPIDI_POSIX_RING_LATER)
            tsm_returns_expect(MPIDI_POSIX_ring_returns(slot->from, slot->src_vsi));
        if (transaction->payload_sz <= MPIDI_POSIX_RING_TINY_PAYLOAD)
            MPIDI_POSIX_ring_ask(transaction->payload, transaction->payload_sz);
        transaction->transport.ring.cell = slot->u.cell;
        transaction->transport.ring.cell_from = slot->from;
        transaction->transport.ring.begin =
            unlikely(slot->flags & MPIDI_POSIX_RING_TIMED) ? tsm_now_ns() : 0;
    }
    return MPIDI_POSIX_OK;
}

MPL_STATIC_INLINE_PREFIX void
MPIDI_POSIX_eager_recv_memcpy(MPIDI_POSIX_eager_recv_transaction_t * transaction,
                              void *dst, const void *src, size_t size)
{
    MPIR_Typerep_copy(dst, src, size);
}

/* Done with the cell of a message. */
MPL_STATIC_INLINE_PREFIX void
MPIDI_POSIX_ring_give_cell(const MPIDI_POSIX_eager_recv_transaction_t * transaction)
{
    const uint32_t cell = transaction->transport.ring.cell;
    const int from = transaction->transport.ring.cell_from;
    const uint64_t begin = transaction->transport.ring.begin;

    if (unlikely(begin)) {
        const uint64_t took = tsm_now_ns() - begin;
        *MPIDI_POSIX_ring_time_at(MPIDI_POSIX_ring_cell(from, transaction->src_vsi, cell)) =
            (uint32_t) MPL_MIN(took, UINT32_MAX);
    }
    tsm_returns_give(MPIDI_POSIX_ring_returns(from, transaction->src_vsi), cell);
}

MPL_STATIC_INLINE_PREFIX void
MPIDI_POSIX_eager_recv_commit(MPIDI_POSIX_eager_recv_transaction_t * transaction)
{
    if (unlikely(transaction->transport.ring.cell != TSM_RETURNS_NONE))
        MPIDI_POSIX_ring_give_cell(transaction);
    tsm_ring_give_back(&MPIDI_POSIX_ring_global.vsi[transaction->dst_vsi].reader);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_POSIX_eager_recv_posted_hook(int grank)
{
}

MPL_STATIC_INLINE_PREFIX void MPIDI_POSIX_eager_recv_completed_hook(int grank)
{
}

#endif /* POSIX_EAGER_RING_RECV_H_INCLUDED */
