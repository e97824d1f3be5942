/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * MCS queue lock: each waiter spins, and parks, on its own node, which the caller provides. The
 * lock is FIFO. A release can pass a number to the next holder.
 *
 * Source:     Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization on Shared-Memory
 *             Multiprocessors", TOCS 9(1) 1991, section 2.4; the per-VNI lock of ICS'19 "Software
 *             Combining to Mitigate Multithreaded MPI Contention", section 3.2.
 * Threads:    any number; they may come and go. The caller owns the node and must not touch it from
 *             acquire (or successful try) until release returns; then it may use it for another
 *             lock or free it. Align nodes to TSM_CACHELINE for speed. With more threads than
 *             processors each hand-over may cost a wake-up; see tsm_gate.h.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_MCS_H_INCLUDED
#define TSM_MCS_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"

/* Values of a node's status. */
#define TSM_MCS_WAITING 0
#define TSM_MCS_PARKED  1
#define TSM_MCS_GRANTED 2               /* and above: plus the number that comes with the lock */

/* The largest number that a release can pass on. */
#define TSM_MCS_NUMBER_MAX (UINT32_MAX - TSM_MCS_GRANTED)

typedef struct tsm_mcs_node {
    TSM_ATOMIC(struct tsm_mcs_node *) next;
    TSM_ATOMIC(uint32_t) status;
} tsm_mcs_node_t;

typedef struct tsm_mcs {
    TSM_ATOMIC(tsm_mcs_node_t *) tail;
} tsm_mcs_t;

#define TSM_MCS_INITIALIZER { NULL }

/* Make a free lock. One thread, before any use. */
static inline void tsm_mcs_init(tsm_mcs_t *lock)
{
    tsm_store(&lock->tail, NULL, TSM_RELAXED);
}

/* As tsm_mcs_acquire. Returns the number that the release before passed on, 0 if the lock was
 * free. */
static inline uint32_t tsm_mcs_acquire_number(tsm_mcs_t *lock, tsm_mcs_node_t *node)
{
    tsm_store(&node->next, NULL, TSM_RELAXED);
    tsm_store(&node->status, TSM_MCS_WAITING, TSM_RELAXED);

    tsm_mcs_node_t *pred = tsm_swap(&lock->tail, node, TSM_ACQ_REL);
    if (pred == NULL)
        return 0;
    tsm_store(&pred->next, node, TSM_RELEASE);
    tsm_wait_word(&node->status, TSM_MCS_WAITING, TSM_MCS_PARKED, TSM_WAIT_PARK);
    return tsm_load(&node->status, TSM_RELAXED) - TSM_MCS_GRANTED;
}

/* Blocks until the lock is ours; FIFO. node: any memory of the caller, see "Threads" above. */
static inline void tsm_mcs_acquire(tsm_mcs_t *lock, tsm_mcs_node_t *node)
{
    (void) tsm_mcs_acquire_number(lock, node);
}

/* Returns 1 if the lock is now ours through node, 0 if it was held; then no other thread has seen
 * the node. Never waits. */
static inline int tsm_mcs_try(tsm_mcs_t *lock, tsm_mcs_node_t *node)
{
    tsm_mcs_node_t *expected = NULL;

    /* load first, so that a failure does not take the cache line from the others */
    if (tsm_load(&lock->tail, TSM_RELAXED) != NULL)
        return 0;
    tsm_store(&node->next, NULL, TSM_RELAXED);
    return tsm_cas(&lock->tail, &expected, node, TSM_ACQ_REL, TSM_RELAXED);
}

/* 1 if a successor has linked its node, so that a release finds it; else 0. By the holder, with the
 * node it acquired with. Relaxed: the result carries no data. */
static inline int tsm_mcs_has_successor(tsm_mcs_node_t *node)
{
    return tsm_load(&node->next, TSM_RELAXED) != NULL;
}

/* As tsm_mcs_release, and pass a number up to TSM_MCS_NUMBER_MAX to the successor. Without a
 * successor the number is lost. */
static inline void tsm_mcs_release_number(tsm_mcs_t *lock, tsm_mcs_node_t *node, uint32_t number)
{
    tsm_mcs_node_t *next = tsm_load(&node->next, TSM_ACQUIRE);

    if (next == NULL) {
        tsm_mcs_node_t *expected = node;
        if (tsm_cas(&lock->tail, &expected, NULL, TSM_RELEASE, TSM_RELAXED))
            return;
        /* a successor has swapped the tail and is about to link */
        tsm_wait_until((next = tsm_load(&node->next, TSM_ACQUIRE)) != NULL, TSM_WAIT_POLL);
    }
    tsm_wake_word(&next->status, TSM_MCS_GRANTED + number, TSM_MCS_PARKED);
}

/* By the holder, with the node it acquired with. */
static inline void tsm_mcs_release(tsm_mcs_t *lock, tsm_mcs_node_t *node)
{
    tsm_mcs_release_number(lock, node, 0);
}

/*
 * Invariants: tail is NULL exactly when the lock is free, else the newest node. The nodes form one
 *             list from the holder's node to tail; the link of a node is written once, by its
 *             successor. A node is in the list of at most one lock. A release may pass its
 *             successor a number with the lock; a free lock passes 0.
 * Progress:   acquire is blocking and strictly FIFO in the order of the swaps of tail. Try is
 *             bounded: one load, one compare-and-swap. Release waits only while a successor is
 *             between its swap and its link.
 *
 *   release                                 acquire
 *   acquire, try: RMW of tail               acquire: swap of tail by the successor (our node's
 *     (ACQ_REL)                             link is NULL before the successor writes it)
 *   acquire: store of the link              release: load of the link (the successor's status is
 *                                           WAITING before we overwrite it)
 *   release: swap of the successor's        acquire: end of tsm_wait_word (hand-over)
 *     status, in tsm_wake_word
 *   release: CAS of tail to NULL            acquire, try: RMW of tail that finds NULL
 */

#endif /* TSM_MCS_H_INCLUDED */
