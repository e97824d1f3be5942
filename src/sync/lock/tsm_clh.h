/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * CLH queue lock: each waiter spins, and parks, on the node of the thread before it. While waits
 * are short, an acquire costs one atomic read-modify-write and a release none; while threads sleep,
 * a release costs one as well, which finds the sleeper. Try is bounded.
 *
 * Source:     Craig, "Building FIFO and Priority-Queuing Spin Locks from Atomic Swap", TR 93-02-02,
 *             University of Washington, 1993; Magnusson, Landin, Hagersten, "Queue Locks on Cache
 *             Coherent Multiprocessors", IPPS 1994. MPI: "Locking Aspects in Multithreaded MPI
 *             Implementations" (TOPC), sections 4 and 6.1.
 * Threads:    any number up to the pool's contexts; they may come and go. A context serves any lock
 *             of its pool, one at a time; a thread may have several.
 *
 * In the textbook lock, a thread that releases the lock keeps its predecessor's node. A try would
 * read the status of a node that may be freed, or be the tail of a lock that is held again (ABA).
 * Here each context keeps its node, the memory stays, and "released" is a count and not a flag. So
 * any thread may read any node at any time; a late waiter finds a later ticket and leaves; and as a
 * tail never repeats, a compare-and-swap that finds a released tail unchanged has taken a free lock.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_CLH_H_INCLUDED
#define TSM_CLH_H_INCLUDED

#include <assert.h>
#include <limits.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"
#include "tsm_clh_pool.h"

/* After a waiter wanted to sleep and could not, this many acquisitions of a free lock announce that
 * their release wakes sleepers. */
#define TSM_CLH_ANNOUNCE 256

typedef struct tsm_clh {
    TSM_ATOMIC(uint64_t) tail;
    TSM_ATOMIC(uint32_t) announce;      /* a hint: acquisitions left that announce */
    tsm_clh_pool_t *pool;               /* for assertions */
} tsm_clh_t;

/* Make a free lock for the contexts of a pool. One thread, before use. The lock owns no memory. */
static inline void tsm_clh_init(tsm_clh_t *lock, tsm_clh_pool_t *pool)
{
    tsm_store(&lock->tail, 0, TSM_RELAXED);
    tsm_store(&lock->announce, 0, TSM_RELAXED);
    lock->pool = pool;
}

/* The node of a ticket; nodes, step: the pool's. */
static inline tsm_clh_node_t *tsm_clh_node_(tsm_clh_node_t *nodes, uint64_t step, uint64_t ticket)
{
    return &nodes[ticket & (step - 1)];
}

/* 1 if the holder with this ticket has released the lock; acquire. */
static inline int tsm_clh_released_(tsm_clh_node_t *node, uint64_t ticket)
{
    return tsm_load(&node->released, TSM_ACQUIRE) >= ticket;
}

/* Destroy a free lock. One thread, after all others are done, before the pool is destroyed. */
static inline void tsm_clh_destroy(tsm_clh_t *lock)
{
    uint64_t tail = tsm_load(&lock->tail, TSM_RELAXED);

    assert(tsm_clh_released_(tsm_clh_node_(lock->pool->nodes, lock->pool->step, tail), tail) &&
           "tsm_clh_destroy: the lock is held");
    (void) tail;
}

/* Debug builds: may the context acquire this lock? */
static inline void tsm_clh_check_(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    assert(context->node != NULL && "tsm_clh: the context has ended");
    assert(context->pool == lock->pool && "tsm_clh: the context is of another pool");
    assert(!tsm_clh_context_busy_(context) && "tsm_clh: the context is in use");
    assert(context->ticket <= UINT64_MAX - 4 * context->step && "tsm_clh: no more tickets");
    (void) lock;
    (void) context;
}

/* The context's next ticket. It announces while `announce` is above 0. */
static inline uint64_t tsm_clh_next_(tsm_clh_t *lock, const tsm_clh_context_t *context)
{
    uint64_t ticket = (context->ticket & ~context->step) + 2 * context->step;

    if (tsm_load(&lock->announce, TSM_RELAXED) > 0)
        ticket |= context->step;
    return ticket;
}

/* Does the release of this ticket wake sleepers? */
static inline int tsm_clh_announces_(const tsm_clh_context_t *context, uint64_t ticket)
{
    return (ticket & context->step) != 0;
}

/* Count down `announce`: the lock was free and our ticket announces. By the holder. A hint, so a
 * waiter's store may be lost. */
static inline void tsm_clh_announced_(tsm_clh_t *lock)
{
    uint32_t left = tsm_load(&lock->announce, TSM_RELAXED);

    if (left > 0)
        tsm_store(&lock->announce, left - 1, TSM_RELAXED);
}

/* Flag the node and sleep until a release wakes us or another thread replaces the flag; the caller
 * looks again. Only for a ticket that announces. */
static inline void tsm_clh_park_(tsm_clh_context_t *context, tsm_clh_node_t *node, uint64_t ticket)
{
#if TSM_HAVE_FUTEX
    uint32_t flag = (uint32_t) (ticket / (2 * context->step)) << 1 | 1;

    tsm_swap(&node->parked, flag, TSM_ACQUIRE);
    if (!tsm_clh_released_(node, ticket))
        tsm_futex_(&node->parked, FUTEX_WAIT, flag);
#else
    (void) context;
    (void) node;
    (void) ticket;
#endif
}

/* Wait until the holder with that ticket releases; acquire. Out of line, like tsm_clh_wake_, to
 * keep the path of a free lock short. */
static __attribute__((noinline, unused)) void tsm_clh_wait_(tsm_clh_t *lock,
                                                            tsm_clh_context_t *context,
                                                            tsm_clh_node_t *node, uint64_t ticket)
{
    tsm_wait_state_t state = tsm_wait_begin(TSM_WAIT_PARK);
    int parks = TSM_HAVE_FUTEX && tsm_clh_announces_(context, ticket);

    while (!tsm_clh_released_(node, ticket)) {
        if (!tsm_wait_step(&state, 1))
            continue;
        if (parks) {
            tsm_clh_park_(context, node, ticket);
        } else {
            if (tsm_load(&lock->announce, TSM_RELAXED) < TSM_CLH_ANNOUNCE)
                tsm_store(&lock->announce, TSM_CLH_ANNOUNCE, TSM_RELAXED);
            state.yields = 1;           /* go on yielding */
        }
    }
}

/* Wake the threads that sleep on the node. */
static __attribute__((noinline, unused)) void tsm_clh_wake_(tsm_clh_node_t *node)
{
    uint32_t flag = tsm_swap(&node->parked, 0, TSM_RELEASE);

#if TSM_HAVE_FUTEX
    if (flag != 0)
        tsm_futex_(&node->parked, FUTEX_WAKE, INT_MAX);
#else
    (void) flag;
#endif
}

/* Blocks until the lock is ours; FIFO. context: one of the lock's pool that holds nothing. */
static inline void tsm_clh_acquire(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    tsm_clh_check_(lock, context);
    uint64_t ticket = tsm_clh_next_(lock, context);
    context->ticket = ticket;

    uint64_t tail = tsm_swap(&lock->tail, ticket, TSM_RELAXED);
    tsm_clh_node_t *pred = tsm_clh_node_(context->nodes, context->step, tail);
    if (!tsm_clh_released_(pred, tail))
        tsm_clh_wait_(lock, context, pred, tail);
    else if (tsm_clh_announces_(context, ticket))
        tsm_clh_announced_(lock);
}

/* Returns 1 if the lock is now ours, 0 if it was held; the context is then as before. Never
 * waits. */
static inline int tsm_clh_try(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    uint64_t tail = tsm_load(&lock->tail, TSM_RELAXED);
    uint64_t ticket = tsm_clh_next_(lock, context);

    tsm_clh_check_(lock, context);
    if (!tsm_clh_released_(tsm_clh_node_(context->nodes, context->step, tail), tail))
        return 0;
    if (!tsm_cas(&lock->tail, &tail, ticket, TSM_RELAXED, TSM_RELAXED))
        return 0;
    context->ticket = ticket;
    if (tsm_clh_announces_(context, ticket))
        tsm_clh_announced_(lock);
    return 1;
}

/* 1 if another thread waits for the lock; a 0 may be out of date on return. By the holder, with the
 * context it acquired with. Wait-free. */
static inline int tsm_clh_has_waiter(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    return tsm_load(&lock->tail, TSM_RELAXED) != context->ticket;
}

/* By the holder, with the context it acquired with. Wait-free. */
static inline void tsm_clh_release(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    tsm_clh_node_t *node = context->node;

    (void) lock;
    assert(node != NULL && tsm_clh_context_busy_(context) &&
           "tsm_clh_release: the context holds no lock");
    tsm_store(&node->released, context->ticket, TSM_RELEASE);
    if (tsm_clh_announces_(context, context->ticket))
        tsm_clh_wake_(node);
}

/*
 * Invariants: (1) tail is the ticket (tsm_clh_pool.h) of the newest acquisition. (2) The lock is
 *             free exactly while the node of that ticket has it released. (3) Each ticket is put
 *             into a tail once and taken out by one swap or compare-and-swap, so at most one thread
 *             waits for it. (4) Release touches the context and its node, not the lock: the last
 *             holder may free it. (5) A waiter sleeps only on a ticket that announces, because its
 *             holder looks for sleepers.
 * Progress:   acquire is blocking and strictly FIFO in the order of the swaps. Try is bounded:
 *             three loads, one compare-and-swap. Release is wait-free: a store and, if the ticket
 *             announces, a swap and perhaps a wake-up; it never waits for a successor, unlike MCS.
 *
 *   release                               acquire
 *   tsm_clh_release: store of `released`  tsm_clh_released_: the load that finds it, or a later one
 *   tsm_clh_wake_: swap of `parked` to 0  tsm_clh_park_: a later swap of `parked` (the load of
 *                                         `released` that follows finds the release)
 *
 * The tail needs no order: what it leads to is always valid, and `released` orders all that the
 * lock protects. `announce` is a hint.
 *
 * Announcing. A release must know whether its waiter sleeps. A plain load after a plain store could
 *             miss it, and a read-modify-write would double the cost of a free lock. So the ticket
 *             decides beforehand. With the announcing bit, the release swaps `parked`, and the
 *             waiter may sleep. Without it, the waiter spins and yields until the release, and
 *             sets `announce` so that the next tickets have the bit. A lock whose waits are never
 *             longer than TSM_WAIT_PARK spins and yields never pays for the swap. No wait
 *             depends on the hint: if it is lost, threads yield instead of sleeping.
 *
 * Sleeping.   `parked` of a node is 0 or the flag of a ticket. t is the ticket waited for.
 *               waiter                              releaser, whose ticket t is
 *               W1 swap parked to flag(t)           R1 store released = t
 *               W2 released >= t: done              R2 swap parked to 0; it was not: wake all
 *               W3 sleep while parked == flag(t),
 *                  and again from W1
 *             Waiters never clear the word, and their flags differ, because the releaser may queue
 *             again before the waiter for t notices, and another thread may wait for its new
 *             ticket. Three cases. The waiter for t is late at W1 and overwrites the other's flag:
 *             the other goes back from W3 to W1, or sleeps already and the word is still not 0. Or
 *             it is late at W3 and finds another flag. Or it leaves, and its flag costs the next
 *             release that announces one futile wake-up.
 *             No wake-up is lost. Suppose that the waiter for t sleeps for ever from W3 on. It
 *             slept while parked was flag(t), which no other thread writes, so no 0 was written
 *             between its last W1 and W3. All changes of the word are read-modify-writes, so R2 is
 *             before or after W1 in their order. If before, W1 acquires what R2 releases, and W2
 *             finds the release. If after, R2 is also after W3, and the kernel wakes the sleeper.
 *             Flags have 31 bits of the sequence: a waiter that stops between W2 and W3 for exactly
 *             2^31 acquisitions of that node (ten seconds at least) while another one has written
 *             its flag may sleep until the node's next release that announces.
 */

#endif /* TSM_CLH_H_INCLUDED */
