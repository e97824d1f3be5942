/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       CLH queue lock with explicit nodes; each waiter waits, and parks, on the node of the
 *             thread before it, and keeps that node when it is done with the lock.
 * Source:     Craig, "Building FIFO and Priority-Queuing Spin Locks from Atomic Swap", TR 93-02-02,
 *             University of Washington, 1993; Magnusson, Landin, Hagersten, "Queue Locks on Cache
 *             Coherent Multiprocessors", IPPS 1994. MPI: "Locking Aspects in Multithreaded MPI
 *             Implementations" (TOPC), sections 4 and 6.1.
 * Invariants: (1) tail is the newest node; its lowest bit, FREE, is set exactly while nobody holds
 *             or waits. (2) Each node is `node` of one context, or `pred` of one context, or the
 *             tail of one free lock; so n contexts and one lock need n + 1 nodes. (3) The status
 *             of a node is looked at by the one thread whose swap returned that node.
 * Progress:   acquire is blocking and strictly FIFO in the order of the swaps. Try is bounded: one
 *             load, one compare-and-swap. Release is wait-free: at most a load, a compare-and-swap
 *             and a wake-up; it never waits for a successor, in contrast to MCS.
 *
 * The textbook lock marks "released" only in the status of the tail node. A try would have to read
 * that status and then compare-and-swap the tail, which goes wrong twice: the node may have been
 * taken over and freed before it is read, and it may have been queued again as the tail of a lock
 * that is now held (ABA), so that the try stands in the queue and cannot leave. Here the releaser
 * that has no successor says so in the tail itself. Try never follows the pointer, and the value it
 * expects, this node with FREE set, means "free" no matter how often the node went round in
 * between: ABA changes nothing.
 *
 *   release                                 acquire
 *   acquire, try: RMW of tail (ACQ_REL)     acquire: swap of tail by the successor (our status is
 *                                           WAITING before it looks at it)
 *   release: swap of our status, in         acquire: end of tsm_wait_word (hand-over, and with it
 *     tsm_wake_word                         the ownership of the node)
 *   release: CAS of tail to FREE            acquire, try: RMW of tail that finds FREE
 *
 * Threads:    any number; they may come and go. The caller owns the nodes and one context for each
 *             thread and each acquisition under way. Nodes move between contexts and locks: a
 *             thread that leaves takes the node with it that its context has then, and that one
 *             may be freed. Align nodes to TSM_CACHELINE for speed. A context may serve any CLH
 *             lock, one at a time.
 */

#ifndef TSM_CLH_H_INCLUDED
#define TSM_CLH_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"

/* Values of a node's status. */
#define TSM_CLH_WAITING 0
#define TSM_CLH_PARKED  1
#define TSM_CLH_GRANTED 2

/* The bit of tail that says that the lock is free. */
#define TSM_CLH_FREE ((uintptr_t) 1)

typedef struct tsm_clh_node {
    TSM_ATOMIC(uint32_t) status;        /* of the thread that queued with this node */
    char pad[TSM_CACHELINE - sizeof(uint32_t)];
} tsm_clh_node_t;

/* One thread's part of the lock. */
typedef struct tsm_clh_context {
    tsm_clh_node_t *node;               /* ours: queued with it, or will be */
    tsm_clh_node_t *pred;               /* from acquire to release: of the thread before us */
} tsm_clh_context_t;

typedef struct tsm_clh {
    TSM_ATOMIC(uintptr_t) tail;
} tsm_clh_t;

/* Make a free lock. node: any memory, the lock's until tsm_clh_destroy. One thread, before use. */
static inline void tsm_clh_init(tsm_clh_t *lock, tsm_clh_node_t *node)
{
    assert(((uintptr_t) node & TSM_CLH_FREE) == 0);
    tsm_store(&lock->tail, (uintptr_t) node | TSM_CLH_FREE, TSM_RELAXED);
}

/* End of use; the lock must be free. Returns the node that it has now, the caller's again; mostly
 * not the one that it was given. One thread, after all others are done. */
static inline tsm_clh_node_t *tsm_clh_destroy(tsm_clh_t *lock)
{
    uintptr_t tail = tsm_load(&lock->tail, TSM_RELAXED);

    assert((tail & TSM_CLH_FREE) && "tsm_clh_destroy: the lock is held");
    return (tsm_clh_node_t *) (tail & ~TSM_CLH_FREE);
}

/* Give a thread its context. node: any memory, in nobody else's use. */
static inline void tsm_clh_context_init(tsm_clh_context_t *context, tsm_clh_node_t *node)
{
    assert(((uintptr_t) node & TSM_CLH_FREE) == 0);
    context->node = node;
    context->pred = NULL;
}

/* End of a context that holds no lock. Returns the node that it has now, the caller's again. */
static inline tsm_clh_node_t *tsm_clh_context_end(tsm_clh_context_t *context)
{
    assert(context->pred == NULL && "tsm_clh_context_end: the context holds a lock");
    return context->node;
}

/* Blocks until the lock is ours; FIFO. context: one that holds nothing. */
static inline void tsm_clh_acquire(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    assert(context->pred == NULL && "tsm_clh_acquire: the context is in use");
    tsm_store(&context->node->status, TSM_CLH_WAITING, TSM_RELAXED);

    uintptr_t tail = tsm_swap(&lock->tail, (uintptr_t) context->node, TSM_ACQ_REL);
    context->pred = (tsm_clh_node_t *) (tail & ~TSM_CLH_FREE);
    if (!(tail & TSM_CLH_FREE))
        tsm_wait_word(&context->pred->status, TSM_CLH_WAITING, TSM_CLH_PARKED, TSM_WAIT_PARK);
}

/* Returns 1 if the lock is now ours, 0 if it was held; the context is then as before. Never
 * waits. */
static inline int tsm_clh_try(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    uintptr_t tail = tsm_load(&lock->tail, TSM_RELAXED);

    assert(context->pred == NULL && "tsm_clh_try: the context is in use");
    /* a look first, so that failing does not take the cache line from the others */
    if (!(tail & TSM_CLH_FREE))
        return 0;
    tsm_store(&context->node->status, TSM_CLH_WAITING, TSM_RELAXED);
    if (!tsm_cas(&lock->tail, &tail, (uintptr_t) context->node, TSM_ACQ_REL, TSM_RELAXED))
        return 0;
    context->pred = (tsm_clh_node_t *) (tail & ~TSM_CLH_FREE);
    return 1;
}

/* 1 if somebody waits behind us; 0 may be outdated when it is returned. By the holder, with the
 * context it acquired with. Wait-free. */
static inline int tsm_clh_has_waiter(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    return tsm_load(&lock->tail, TSM_RELAXED) != (uintptr_t) context->node;
}

/* By the holder, with the context it acquired with, which then owns the predecessor's node.
 * Wait-free. */
static inline void tsm_clh_release(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    tsm_clh_node_t *node = context->node;
    uintptr_t tail = (uintptr_t) node;
    int last = !tsm_clh_has_waiter(lock, context);

    assert(context->pred != NULL && "tsm_clh_release: the context holds no lock");
    context->node = context->pred;
    context->pred = NULL;
    if (last && tsm_cas(&lock->tail, &tail, tail | TSM_CLH_FREE, TSM_RELEASE, TSM_RELAXED))
        return;
    tsm_wake_word(&node->status, TSM_CLH_GRANTED, TSM_CLH_PARKED);
}

#endif /* TSM_CLH_H_INCLUDED */
