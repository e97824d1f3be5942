/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Holds a thread for some milliseconds before its n-th atomic access: that may delay other threads, and
 * nothing else. Include this file before the headers under test. */

#ifndef UNIT_FAULT_H_INCLUDED
#define UNIT_FAULT_H_INCLUDED

#include <time.h>

#include "tsm_atomic.h"

#define UNIT_HOLD_MS 2

/* Hold this thread before the access that is this many from now; 0: never. */
static _Thread_local long unit_hold_in;

static inline void unit_sleep_ms(long ms)
{
    struct timespec time = { 0, ms * 1000000 };

    nanosleep(&time, NULL);
}

static inline void unit_hold(void)
{
    if (unit_hold_in > 0 && --unit_hold_in == 0)
        unit_sleep_ms(UNIT_HOLD_MS);
}

#undef tsm_load
#undef tsm_store
#undef tsm_swap
#undef tsm_fetch_add
#undef tsm_cas
#define tsm_load(p_, o_) (unit_hold(), atomic_load_explicit((p_), (o_)))
#define tsm_store(p_, v_, o_) (unit_hold(), atomic_store_explicit((p_), (v_), (o_)))
#define tsm_swap(p_, v_, o_) (unit_hold(), atomic_exchange_explicit((p_), (v_), (o_)))
#define tsm_fetch_add(p_, v_, o_) (unit_hold(), atomic_fetch_add_explicit((p_), (v_), (o_)))
#define tsm_cas(p_, expected_, v_, succ_, fail_) \
    (unit_hold(), \
     atomic_compare_exchange_strong_explicit((p_), (expected_), (v_), (succ_), (fail_)))

#endif /* UNIT_FAULT_H_INCLUDED */
