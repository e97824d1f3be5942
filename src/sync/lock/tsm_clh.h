/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       CLH queue lock; each waiter waits, and parks, on the node of the thread before it. An
 *             acquire is one atomic read-modify-write, a release without sleepers is none.
 * Source:     Craig, "Building FIFO and Priority-Queuing Spin Locks from Atomic Swap", TR 93-02-02,
 *             University of Washington, 1993; Magnusson, Landin, Hagersten, "Queue Locks on Cache
 *             Coherent Multiprocessors", IPPS 1994. MPI: "Locking Aspects in Multithreaded MPI
 *             Implementations" (TOPC), sections 4 and 6.1.
 * Invariants: (1) tail is the ticket (tsm_clh_pool.h) of the newest acquisition. (2) The lock is
 *             free exactly while the node of that ticket has it released. (3) Each ticket is put
 *             into a tail once and taken out by one swap or compare-and-swap, so one thread at most
 *             waits for it. (4) Release touches the context and its node, not the lock: whoever has
 *             the lock last may free it.
 * Progress:   acquire is blocking and strictly FIFO in the order of the swaps. Try is bounded: two
 *             loads, one compare-and-swap. Release is wait-free: a store, a load and, if somebody
 *             may sleep, a swap and a wake-up; it never waits for a successor, unlike MCS.
 *
 * In the textbook lock, nodes wander: who is done with the lock keeps its predecessor's. A try
 * would have to read the status of a node that may have been freed, or queued again as the tail of
 * a lock that is held by then (ABA). Here nodes stay, in memory that stays, and "released" is not a
 * flag but a count. So any thread may look at any node, at any time; a waiter that is late finds a
 * later ticket, and leaves; and as a tail never comes again, a compare-and-swap that finds the tail
 * which was released before has taken a free lock.
 *
 *   release                               acquire
 *   tsm_clh_release: store of `released`  tsm_clh_released_: the load that finds it, or a later one
 *   tsm_clh_wake_: swap of `parked` to 0  tsm_clh_park_: swap of `parked` that comes after it (the
 *                                         look at `released` behind it finds the release)
 *
 * The tail needs no order: what it leads to is valid for ever, and all that the lock protects goes
 * along `released`.
 *
 * Sleeping.   `parked` of a node is 0 or the flag of a ticket. t is the ticket waited for.
 *               waiter                              releaser, whose ticket t is
 *               W1 swap parked to flag(t)           R1 store released = t
 *                  heavy half                          light half
 *               W2 released >= t: done              R2 parked is 0: done
 *               W3 sleep while parked == flag(t),   R3 swap parked to 0, if it was not: wake all
 *                  and again
 *             Waiters never clear the word, and their flags differ: the releaser may have queued
 *             again, and be waited for with another ticket, before the waiter for t has noticed.
 *             Three cases: it comes late to W1 and overwrites the other's flag, so that the other
 *             goes back from W3 to W1, or is asleep already, and then what is in the word is not 0
 *             all the same; or it comes late to W3 and finds another flag; or leaves, and what it
 *             has written costs the releaser one wake-up for nobody.
 *             No wake-up is lost. Suppose that the waiter for t sleeps for good from W3 on. It
 *             slept while parked was flag(t), which nobody else writes, so no 0 was written between
 *             its last W1 and W3. As W2 did not find the release, R2 finds what W1 wrote or what
 *             came later (tsm_asym.h). Either that is not 0, and R3 follows; or it is a 0 behind
 *             W1, which was an earlier R3. Either way there is an R3 behind W1, so behind W3, and
 *             the kernel's wake-up behind it finds the sleeper.
 *             Where there is no asymmetric fence, R2 is left out and R3 always done. Then it is
 *             before or behind W1 in the order of the word, whose changes are all read-modify-
 *             writes: before, and W1 acquires what R3 releases, so W2 finds the release; or behind,
 *             as above. Where the heavy half fails, the waiter yields instead of W3.
 *             Flags have 31 bits of the sequence: a waiter that stops between W2 and W3 for exactly
 *             2^31 acquisitions of that node (ten seconds at least) while another one has written
 *             its flag may sleep until the node's next release.
 *
 * Threads:    any number up to the pool's contexts; they may come and go. A context serves any lock
 *             of its pool, one at a time; a thread may have several.
 */

#ifndef TSM_CLH_H_INCLUDED
#define TSM_CLH_H_INCLUDED

#include <assert.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>

#include "../tsm_asym.h"
#include "../tsm_atomic.h"
#include "../tsm_wait.h"
#include "tsm_clh_pool.h"

typedef struct tsm_clh {
    TSM_ATOMIC(uint64_t) tail;
    tsm_clh_pool_t *pool;               /* for assertions */
} tsm_clh_t;

/* Make a free lock for the contexts of a pool. One thread, before use. There is nothing to give
 * back. */
static inline void tsm_clh_init(tsm_clh_t *lock, tsm_clh_pool_t *pool)
{
    tsm_store(&lock->tail, 0, TSM_RELAXED);
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
    assert(context->ticket <= UINT64_MAX - context->step && "tsm_clh: no more tickets");
    (void) lock;
    (void) context;
}

/* Flag the node and sleep until somebody wakes us or the flag is replaced; look again then. */
static inline void tsm_clh_park_(tsm_clh_context_t *context, tsm_clh_node_t *node, uint64_t ticket)
{
#if TSM_HAVE_FUTEX
    uint32_t flag = (uint32_t) (ticket / context->step) << 1 | 1;

    tsm_swap(&node->parked, flag, TSM_ACQUIRE);
    if (context->look && !tsm_asym_heavy())
        sched_yield();
    else if (!tsm_clh_released_(node, ticket))
        tsm_futex_(&node->parked, FUTEX_WAIT, flag);
#else
    (void) context;
    (void) node;
    (void) ticket;
    sched_yield();
#endif
}

/* Wait until the acquisition is over; acquire. Out of line, like tsm_clh_wake_: what a free lock
 * needs is short. */
static __attribute__((noinline, unused)) void tsm_clh_wait_(tsm_clh_context_t *context,
                                                            tsm_clh_node_t *node, uint64_t ticket)
{
    tsm_wait_policy_t policy = TSM_WAIT_PARK;
    tsm_wait_state_t state = tsm_wait_begin(policy);

    while (!tsm_clh_released_(node, ticket)) {
        if (!tsm_wait_step(&state, 1))
            continue;
        if (policy.park)
            tsm_clh_park_(context, node, ticket);
        else
            sched_yield();
    }
}

/* Wake who sleeps on the node. */
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
    context->ticket += context->step;

    uint64_t tail = tsm_swap(&lock->tail, context->ticket, TSM_RELAXED);
    tsm_clh_node_t *pred = tsm_clh_node_(context->nodes, context->step, tail);
    if (!tsm_clh_released_(pred, tail))
        tsm_clh_wait_(context, pred, tail);
}

/* Returns 1 if the lock is now ours, 0 if it was held; the context is then as before. Never
 * waits. */
static inline int tsm_clh_try(tsm_clh_t *lock, tsm_clh_context_t *context)
{
    uint64_t tail = tsm_load(&lock->tail, TSM_RELAXED);
    uint64_t ticket = context->ticket + context->step;

    tsm_clh_check_(lock, context);
    if (!tsm_clh_released_(tsm_clh_node_(context->nodes, context->step, tail), tail))
        return 0;
    if (!tsm_cas(&lock->tail, &tail, ticket, TSM_RELAXED, TSM_RELAXED))
        return 0;
    context->ticket = ticket;
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
    if (context->look) {
        tsm_asym_light();
        if (tsm_load(&node->parked, TSM_RELAXED) == 0)
            return;
    }
    tsm_clh_wake_(node);
}

#endif /* TSM_CLH_H_INCLUDED */
