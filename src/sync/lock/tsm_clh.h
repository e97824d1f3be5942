/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * CLH queue lock; each waiter waits, and parks, on the node of the thread before it. While nobody
 * has to wait long, an acquire is one atomic read-modify-write and a release is none; where threads
 * wait long, a release is one, by which it learns whether somebody sleeps. Try is bounded.
 *
 * Source:     Craig, "Building FIFO and Priority-Queuing Spin Locks from Atomic Swap", TR 93-02-02,
 *             University of Washington, 1993; Magnusson, Landin, Hagersten, "Queue Locks on Cache
 *             Coherent Multiprocessors", IPPS 1994. MPI: "Locking Aspects in Multithreaded MPI
 *             Implementations" (TOPC), sections 4 and 6.1.
 * Threads:    any number up to the pool's contexts; they may come and go. A context serves any lock
 *             of its pool, one at a time; a thread may have several.
 *
 * In the textbook lock, nodes wander: a thread that is done with the lock keeps its predecessor's.
 * A try would have to read the status of a node that may have been freed, or queued again as the
 * tail of a lock that is held by then (ABA). Here nodes stay, in memory that stays, and "released"
 * is not a flag but a count. So any thread may look at any node, at any time; a waiter that is late
 * finds a later ticket, and leaves; and as a tail never comes again, a compare-and-swap that finds
 * the tail which was released before has taken a free lock.
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

/* For so many acquisitions after a waiter wanted to sleep and could not, tickets announce that
 * their release wakes sleepers; only those that find the lock free are counted. */
#define TSM_CLH_ANNOUNCE 256

typedef struct tsm_clh {
    TSM_ATOMIC(uint64_t) tail;
    TSM_ATOMIC(uint32_t) announce;      /* a hint: acquisitions left that announce */
    tsm_clh_pool_t *pool;               /* for assertions */
} tsm_clh_t;

/* Make a free lock for the contexts of a pool. One thread, before use. There is nothing to give
 * back. */
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

/* Is the acquisition over? If so, acquire. */
static inline int tsm_clh_released_(tsm_clh_node_t *node, uint64_t ticket)
{
    return tsm_load(&node->released, TSM_ACQUIRE) >= ticket;
}

/* End of use; the lock must be free. One thread, after all others are done, while the pool is
 * there. */
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

/* The context's next ticket, which announces if somebody may want to sleep behind it. */
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

/* The lock was free, and our ticket announces: one announcement less. By the holder; a hint, so it
 * does not matter that a waiter's store may be lost. */
static inline void tsm_clh_announced_(tsm_clh_t *lock)
{
    uint32_t left = tsm_load(&lock->announce, TSM_RELAXED);

    if (left > 0)
        tsm_store(&lock->announce, left - 1, TSM_RELAXED);
}

/* Flag the node and sleep until somebody wakes us or the flag is replaced; the caller looks again.
 * Only for a ticket that announces. */
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

/* Wait until the acquisition of that ticket is over; acquire. Out of line, like tsm_clh_wake_: what
 * a free lock needs is short. */
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

/* 1 if somebody waits behind us; 0 may be outdated when it is returned. By the holder, with the
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
 *             into a tail once and taken out by one swap or compare-and-swap, so one thread at most
 *             waits for it. (4) Release touches the context and its node, not the lock: the last
 *             holder may free it. (5) A waiter sleeps only on a ticket that announces; its holder
 *             looks for sleepers.
 * Progress:   acquire is blocking and strictly FIFO in the order of the swaps. Try is bounded:
 *             three loads, one compare-and-swap. Release is wait-free: a store and, if the ticket
 *             announces, a swap and perhaps a wake-up; it never waits for a successor, unlike MCS.
 *
 *   release                               acquire
 *   tsm_clh_release: store of `released`  tsm_clh_released_: the load that finds it, or a later one
 *   tsm_clh_wake_: swap of `parked` to 0  tsm_clh_park_: swap of `parked` that comes after it (the
 *                                         look at `released` behind it finds the release)
 *
 * The tail needs no order: what it leads to is valid for ever, and all that the lock protects goes
 * along `released`. `announce` is a hint.
 *
 * Announcing. A release must know whether somebody sleeps, and a plain look behind a plain store
 *             could miss it: that takes a read-modify-write, which would double the cost of a free
 *             lock. So the ticket tells before: with the announcing bit its release exchanges, and
 *             its waiter may sleep; without, the waiter spins and yields until the release, and
 *             asks by `announce` that the next tickets have the bit. A lock at which nobody waits
 *             longer than the spinning and yielding of TSM_WAIT_PARK never pays; one at which
 *             threads sleep pays where they wait anyway. No wait depends on the hint: if it is
 *             lost, threads yield instead of sleeping.
 *
 * Sleeping.   `parked` of a node is 0 or the flag of a ticket. t is the ticket waited for.
 *               waiter                              releaser, whose ticket t is
 *               W1 swap parked to flag(t)           R1 store released = t
 *               W2 released >= t: done              R2 swap parked to 0; it was not: wake all
 *               W3 sleep while parked == flag(t),
 *                  and again from W1
 *             Waiters never clear the word, and their flags differ: the releaser may have queued
 *             again, and be waited for with another ticket, before the waiter for t has noticed.
 *             Three cases: it comes late to W1 and overwrites the other's flag, so that the other
 *             goes back from W3 to W1, or is asleep already, and then what is in the word is not 0
 *             all the same; or it comes late to W3 and finds another flag; or leaves, and what it
 *             has written costs the next release that announces one wake-up for nobody.
 *             No wake-up is lost. Suppose that the waiter for t sleeps for good from W3 on. It
 *             slept while parked was flag(t), which nobody else writes, so no 0 was written between
 *             its last W1 and W3. R2 is before or behind W1 in the order of the word, whose changes
 *             are all read-modify-writes: before, and W1 acquires what R2 releases, so W2 finds the
 *             release; or behind, so behind W3, and the kernel's wake-up finds the sleeper.
 *             Flags have 31 bits of the sequence: a waiter that stops between W2 and W3 for exactly
 *             2^31 acquisitions of that node (ten seconds at least) while another one has written
 *             its flag may sleep until the node's next release that announces.
 */

#endif /* TSM_CLH_H_INCLUDED */
