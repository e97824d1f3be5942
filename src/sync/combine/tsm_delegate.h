/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What HYBCOMB, MP-SERVER and SHM-SERVER share: the type of a delegated operation, a set of ids for
 * clients that come and go, and the role that makes one thread the server.
 *
 * Source:     thesis on communication and synchronization on manycore processors, sections 6.1.3
 *             and 7.1.1, where the threads and their ids are fixed; we added registration.
 * Threads:    any number may ask; at most `count` of them, at most TSM_IDS_MAX, have an id at once.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_DELEGATE_H_INCLUDED
#define TSM_DELEGATE_H_INCLUDED

#include <assert.h>
#include <errno.h>
#include <stdint.h>

#include "../tsm_atomic.h"

/* An operation. It runs on the thread that serves, alone among all operations of its instance. It
 * must not wait for another operation of the same instance. */
typedef uint64_t (*tsm_delegate_fn_t)(void *arg);

/* Execute an operation whose function and argument came as the words of a message. */
static inline uint64_t tsm_delegate_do(uint64_t fn, uint64_t arg)
{
    return ((tsm_delegate_fn_t) (uintptr_t) fn)((void *) (uintptr_t) arg);
}

/* Most ids of one set. */
#define TSM_IDS_MAX   1024
#define TSM_IDS_WORDS (TSM_IDS_MAX / 64)

typedef struct tsm_ids {
    TSM_ATOMIC(uint64_t) taken[TSM_IDS_WORDS];
    uint32_t count;
} tsm_ids_t;

/* Make a set of the ids 0 to count - 1, none taken. One thread, before any use. */
static inline void tsm_ids_init(tsm_ids_t *ids, uint32_t count)
{
    assert(count >= 1 && count <= TSM_IDS_MAX && "tsm_ids: from 1 to TSM_IDS_MAX ids");
    for (int w = 0; w < TSM_IDS_WORDS; w++)
        tsm_store(&ids->taken[w], 0, TSM_RELAXED);
    ids->count = count;
}

/* The lowest free id of one word of the set, or -1. */
static inline int tsm_ids_take_in_(tsm_ids_t *ids, uint32_t w)
{
    uint64_t seen = tsm_load(&ids->taken[w], TSM_RELAXED);

    while (seen != UINT64_MAX) {
        uint32_t bit = (uint32_t) __builtin_ctzll(~seen);
        if (64 * w + bit >= ids->count)
            return -1;
        if (tsm_cas(&ids->taken[w], &seen, seen | (uint64_t) 1 << bit, TSM_ACQUIRE, TSM_RELAXED))
            return (int) (64 * w + bit);
    }
    return -1;
}

/* Returns an id that is ours until we give it back, or -1 if all are taken. Any thread; lock-free. */
static inline int tsm_ids_take(tsm_ids_t *ids)
{
    for (uint32_t w = 0; 64 * w < ids->count; w++) {
        int id = tsm_ids_take_in_(ids, w);
        if (id >= 0)
            return id;
    }
    return -1;
}

/* Give our id back. Wait-free. */
static inline void tsm_ids_give(tsm_ids_t *ids, uint32_t id)
{
    uint64_t bit = (uint64_t) 1 << id % 64;
    /* the bit is set, so subtracting it clears it and nothing else */
    uint64_t old = tsm_fetch_add(&ids->taken[id / 64], -bit, TSM_RELEASE);

    assert((old & bit) && "tsm_ids: this id is not taken");
    (void) old;
}

/* The ids from 64 * w to 64 * w + 63 that are taken now, one bit for each. Any thread; one load. */
static inline uint64_t tsm_ids_taken(const tsm_ids_t *ids, uint32_t w)
{
    return tsm_load(&ids->taken[w], TSM_RELAXED);
}

/* A role that one thread has at a time. */
typedef struct tsm_role {
    TSM_ATOMIC(uintptr_t) who;
} tsm_role_t;

/* A number that no other living thread has, and never 0: each thread has its own errno. */
static inline uintptr_t tsm_role_me_(void)
{
    return (uintptr_t) &errno;
}

/* Make a role that no thread has. One thread, before any use. */
static inline void tsm_role_init(tsm_role_t *role)
{
    tsm_store(&role->who, 0, TSM_RELAXED);
}

/* Take the role, which no other thread may have. Wait-free. */
static inline void tsm_role_enter(tsm_role_t *role)
{
    uintptr_t old = tsm_swap(&role->who, tsm_role_me_(), TSM_ACQUIRE);

    assert(old == 0 && "two servers at once");
    (void) old;
}

/* Give up the role, which is ours. Wait-free. */
static inline void tsm_role_leave(tsm_role_t *role)
{
    tsm_store(&role->who, 0, TSM_RELEASE);
}

/* 1 if the calling thread has the role now, else 0. Any thread; one load. */
static inline int tsm_role_is_mine(const tsm_role_t *role)
{
    /* only this thread writes its own number, so no order is needed */
    return tsm_load(&role->who, TSM_RELAXED) == tsm_role_me_();
}

/*
 * Invariants: (1) bit i of `taken` is set exactly while id i is taken. (2) `who` of a role is 0
 *             exactly while no thread has it, else the thread that has it.
 * Progress:   taking an id is lock-free, giving it back wait-free; entering and leaving a role are
 *             wait-free.
 *
 *   release                          acquire
 *   tsm_ids_give: RMW of the bits    tsm_ids_take: CAS that sets the bit again (what the former
 *                                    owner left at its place)
 *   tsm_role_leave: store of 0       tsm_role_enter: swap (what the former server left)
 */

#endif /* TSM_DELEGATE_H_INCLUDED */
