/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * DSM-Synch with its gate, as a lock whose callers need no nodes. A thread takes the lock and
 * releases it, or announces an operation that the holder may execute. Nothing is executed for other
 * threads but by tsm_dsm_lock_combine.
 *
 * Source:     tsm_gated_dsm_synch.h and tsm_dsm_synch.h, from which the invariants, the progress
 *             property and the pairs come; ../lock/tsm_lock_node.h has the nodes.
 * Threads:    any number; they may come and go. Released by the thread that has it, in any order
 *             with other locks.
 */

#ifndef TSM_DSM_LOCK_H_INCLUDED
#define TSM_DSM_LOCK_H_INCLUDED

#include "../lock/tsm_lock_shared.h"
#include "tsm_gated_dsm_synch.h"

typedef struct tsm_dsm_lock {
    tsm_gated_dsm_synch_t gated;
    char pad[TSM_CACHELINE];            /* waiters write above, the holder below */
    tsm_lock_dsm_node_t *owner;
} tsm_dsm_lock_t;

/* Make a free lock; max_combine: as tsm_dsm_synch_init. One thread, before any use. */
static inline void tsm_dsm_lock_init(tsm_dsm_lock_t *lock, uint32_t max_combine)
{
    tsm_gated_dsm_synch_init(&lock->gated, max_combine);
    lock->owner = NULL;
}

/* 1 if the lock was free and is ours now, else 0. Never waits; asks no gate. */
static inline int tsm_dsm_lock_try(tsm_dsm_lock_t *lock)
{
    tsm_dsm_synch_t *dsm = &lock->gated.lock;

    if (tsm_load(&dsm->tail, TSM_RELAXED) != NULL)
        return 0;
    tsm_lock_dsm_node_t *node = tsm_lock_node_get_(TSM_LOCK_NODE_DSM);
    if (!tsm_dsm_synch_try(dsm, &node->own)) {
        tsm_lock_node_put_(TSM_LOCK_NODE_DSM, node);
        return 0;
    }
    lock->owner = node;
    return 1;
}

/* Blocks until the lock is ours. Not recursive. */
static inline void tsm_dsm_lock_acquire(tsm_dsm_lock_t *lock)
{
    tsm_lock_dsm_node_t *node = tsm_lock_node_get_(TSM_LOCK_NODE_DSM);

    tsm_gated_dsm_synch_acquire_only(&lock->gated, &node->own);
    lock->owner = node;
}

/* Announce op(arg) and wait. Returns 0 if the holder has executed it. Returns 1 if the lock is ours:
 * execute it here, then release. Blocks; FIFO; not for the holder. */
static inline int tsm_dsm_lock_announce(tsm_dsm_lock_t *lock, tsm_dsm_synch_op_t op, void *arg)
{
    tsm_lock_dsm_node_t *node = tsm_lock_node_get_(TSM_LOCK_NODE_DSM);

    if (tsm_dsm_synch_begin(&lock->gated.lock, &node->own, op, arg)) {
        lock->owner = node;
        return 1;
    }
    tsm_lock_node_put_(TSM_LOCK_NODE_DSM, node);
    return 0;
}

/* 1 if a thread waits behind the holder, as far as the holder can see; may be out of date on return.
 * By the holder; one load. */
static inline int tsm_dsm_lock_has_waiters(tsm_dsm_lock_t *lock)
{
    return tsm_load(&lock->owner->own.next, TSM_RELAXED) != NULL;
}

/* Execute operations that wait behind us, up to max_combine for one acquisition. Returns their number.
 * By the holder; does not wait. */
static inline uint32_t tsm_dsm_lock_combine(tsm_dsm_lock_t *lock)
{
    return tsm_dsm_synch_combine(&lock->gated.lock, &lock->owner->own);
}

/* By the holder. Waits only while a successor is between two steps of its arrival. */
static inline void tsm_dsm_lock_release(tsm_dsm_lock_t *lock)
{
    tsm_lock_dsm_node_t *node = lock->owner;

    lock->owner = NULL;
    tsm_gated_dsm_synch_release(&lock->gated, &node->own);
    tsm_lock_node_put_(TSM_LOCK_NODE_DSM, node);
}

#endif /* TSM_DSM_LOCK_H_INCLUDED */
