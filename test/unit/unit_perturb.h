/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Yields now and then just before an atomic access, so that a few processors show the
 * interleavings of many. Include it before any other header of src/sync. */

#ifndef UNIT_PERTURB_H_INCLUDED
#define UNIT_PERTURB_H_INCLUDED

#include <sched.h>

#include "tsm_atomic.h"

/* One access in this many yields; 0: none. Set it while there is one thread. */
static int unit_perturb_one_in;

static inline void unit_perturb(void)
{
    static TSM_ATOMIC(uint32_t) seeds;
    static __thread uint32_t random;

    if (unit_perturb_one_in == 0)
        return;
    if (random == 0)
        random = 2654435761u * (atomic_fetch_add_explicit(&seeds, 1, TSM_RELAXED) + 1) | 1;
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    if (random % (uint32_t) unit_perturb_one_in == 0)
        sched_yield();
}

#undef tsm_load
#undef tsm_store
#undef tsm_swap
#undef tsm_fetch_add
#undef tsm_cas

#define tsm_load(p_, order_) (unit_perturb(), atomic_load_explicit((p_), (order_)))
#define tsm_store(p_, v_, order_) \
    (unit_perturb(), atomic_store_explicit((p_), (v_), (order_)))
#define tsm_swap(p_, v_, order_) \
    (unit_perturb(), atomic_exchange_explicit((p_), (v_), (order_)))
#define tsm_fetch_add(p_, v_, order_) \
    (unit_perturb(), atomic_fetch_add_explicit((p_), (v_), (order_)))
#define tsm_cas(p_, expected_, v_, succ_, fail_) \
    (unit_perturb(), \
     atomic_compare_exchange_strong_explicit((p_), (expected_), (v_), (succ_), (fail_)))

#endif /* UNIT_PERTURB_H_INCLUDED */
