/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * Up to 64 slots of memory that one owner fills and others empty: a word in shared memory has a bit
 * for each slot that is free. Only the owner clears bits, so it needs no compare-and-swap.
 *
 * Interface:  tsm_slots_init()    all are free. The owner, before any use
 *             tsm_slots_take()    a free one's number, or -1. The owner
 *             tsm_slots_free()    its data is out. Whoever has taken the data out
 *
 * Source:     ours; a bit map.
 * Progress:   wait-free.
 * Threads:    one owner at a time, which may change if a lock lies between; any number that free.
 *
 *   release                            acquire
 *   free: fetch_add                    take: load (the data is out). A free or a take after it
 *                                      continues its release sequence
 */

#ifndef TSM_SLOTS_H_INCLUDED
#define TSM_SLOTS_H_INCLUDED

#include "../tsm_atomic.h"

#define TSM_SLOTS_MOST 64

typedef TSM_ATOMIC(uint64_t) tsm_slots_t;

/* n: 1 to TSM_SLOTS_MOST. */
static inline void tsm_slots_init(tsm_slots_t *slots, int n)
{
    tsm_store(slots, ~(uint64_t) 0 >> (TSM_SLOTS_MOST - n), TSM_RELAXED);
}

static inline int tsm_slots_take(tsm_slots_t *slots)
{
    uint64_t bits = tsm_load(slots, TSM_ACQUIRE);
    int slot = -1;

    if (bits) {
        slot = __builtin_ctzll(bits);
        tsm_fetch_add(slots, -((uint64_t) 1 << slot), TSM_RELAXED);
    }
    return slot;
}

static inline void tsm_slots_free(tsm_slots_t *slots, uint64_t slot)
{
    tsm_fetch_add(slots, (uint64_t) 1 << slot, TSM_RELEASE);
}

#endif /* TSM_SLOTS_H_INCLUDED */
