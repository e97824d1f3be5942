/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       the node-less form of the MCS lock, included by tsm_lock.h only; its contract is
 *             stated there.
 * Source:     tsm_mcs.h. MPICH does not always release in LIFO order and passes no node, so the
 *             node is remembered in the lock, and a thread has more than one.
 * Invariants: bit i of tsm_lock_pool_.busy is set exactly while node i is in some lock's list. Only
 *             the pool's own thread reads or writes the bits. `owner` is the holder's node.
 * Progress, release and acquire: those of tsm_mcs.h; `owner` is protected by the lock itself.
 * Threads:    a thread that exits holds no lock, so nobody refers to its nodes any more.
 */

#ifndef TSM_LOCK_MCS_H_INCLUDED
#define TSM_LOCK_MCS_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tsm_gate.h"
#include "tsm_mcs.h"

/* Locks that one thread may hold or wait for at once: the bits of `busy`. */
#define TSM_LOCK_HELD_MAX 64

typedef union tsm_lock_slot {
    tsm_mcs_node_t node;
    char line[TSM_CACHELINE];
} TSM_ALIGNED tsm_lock_slot_t;

typedef struct tsm_lock_pool {
    tsm_lock_slot_t slot[TSM_LOCK_HELD_MAX];
    uint64_t busy;
} tsm_lock_pool_t;

typedef struct tsm_lock {
    tsm_gate_t gate;
    tsm_mcs_t mcs;                                      /* threads that come write here */
    char pad[TSM_CACHELINE - sizeof(tsm_mcs_t)];
    tsm_lock_slot_t *owner;                             /* the holder writes here */
} tsm_lock_t;

/* One pool for each thread, defined by every translation unit that includes this header and merged
 * by the linker: otherwise a library of some hundred units would carry as many pools in each
 * thread. gcc makes it a common symbol; clang knows no thread-local ones, and its weak symbol is
 * merged as well but leaves the unused space behind. Hidden: libraries do not share pools. */
#ifdef __clang__
#define TSM_LOCK_POOL_MERGED_ weak
#else
#define TSM_LOCK_POOL_MERGED_ common
#endif
__attribute__((TSM_LOCK_POOL_MERGED_, visibility("hidden")))
_Thread_local tsm_lock_pool_t tsm_lock_pool_;

/* Not an assert: it must hold in optimized libraries too, where the next step would be memory
 * corruption. */
__attribute__((noreturn, cold)) static inline void tsm_lock_pool_full_(void)
{
    fprintf(stderr, "tsm_lock: one thread holds or awaits more than %d locks\n",
            TSM_LOCK_HELD_MAX);
    abort();
}

static inline tsm_lock_slot_t *tsm_lock_slot_get_(void)
{
    tsm_lock_pool_t *pool = &tsm_lock_pool_;

    if (pool->busy == UINT64_MAX)
        tsm_lock_pool_full_();

    int i = __builtin_ctzll(~pool->busy);
    pool->busy |= (uint64_t) 1 << i;
    return &pool->slot[i];
}

static inline void tsm_lock_slot_put_(tsm_lock_slot_t *slot)
{
    tsm_lock_pool_t *pool = &tsm_lock_pool_;
    ptrdiff_t i = slot - pool->slot;

    assert(i >= 0 && i < TSM_LOCK_HELD_MAX && "tsm_lock: released by another thread");
    pool->busy &= ~((uint64_t) 1 << i);
}

static inline int tsm_lock_init(tsm_lock_t *lock)
{
    tsm_gate_init(&lock->gate);
    tsm_mcs_init(&lock->mcs);
    lock->owner = NULL;
    return 0;
}

static inline void tsm_lock_destroy(tsm_lock_t *lock)
{
    (void) lock;
}

static inline void tsm_lock_acquire(tsm_lock_t *lock)
{
    tsm_lock_slot_t *slot = tsm_lock_slot_get_();

    tsm_gate_acquire(&lock->gate, tsm_mcs_try(&lock->mcs, &slot->node),
                     tsm_mcs_acquire(&lock->mcs, &slot->node));
    lock->owner = slot;
}

static inline int tsm_lock_try(tsm_lock_t *lock)
{
    tsm_lock_slot_t *slot = tsm_lock_slot_get_();

    if (!tsm_gate_try(&lock->gate, tsm_mcs_try(&lock->mcs, &slot->node))) {
        tsm_lock_slot_put_(slot);
        return 0;
    }
    lock->owner = slot;
    return 1;
}

static inline void tsm_lock_release(tsm_lock_t *lock)
{
    /* read before the release: afterwards the field belongs to the next holder */
    tsm_lock_slot_t *slot = lock->owner;

    tsm_mcs_release(&lock->mcs, &slot->node);
    tsm_lock_slot_put_(slot);
}

static inline const char *tsm_lock_name(void)
{
    return "mcs";
}

#endif /* TSM_LOCK_MCS_H_INCLUDED */
