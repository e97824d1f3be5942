/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * CLH-LPW, a lock with two priorities: threads that issue operations go before threads that only
 * wait for progress. Each priority is FIFO. After TSM_CLH_LPW_RUN high threads in a row, a waiting
 * low thread gets the lock.
 *
 * Source:     "Locking Aspects in Multithreaded MPI Implementations" (TOPC), section 6.2, figure
 *             10: a CLH queue for each priority and a ticket lock, the filter, that a run of
 *             high-priority threads takes once and each low-priority thread takes anew. A run is
 *             bounded here, as MPI promises a thread that waits that its call returns.
 * Threads:    as tsm_clh.h; one context serves both priorities, one at a time. A thread at the
 *             filter polls and yields; all others can park.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_CLH_LPW_H_INCLUDED
#define TSM_CLH_LPW_H_INCLUDED

#include <assert.h>

#include "../tsm_atomic.h"
#include "tsm_clh.h"
#include "tsm_ticket.h"

/* High threads that may have the lock in a row while a low one waits. */
#ifndef TSM_CLH_LPW_RUN
#define TSM_CLH_LPW_RUN 1024
#endif

typedef struct tsm_clh_lpw {
    tsm_clh_t high;
    char pad1[TSM_CACHELINE - sizeof(tsm_clh_t)];
    tsm_clh_t low;
    char pad2[TSM_CACHELINE - sizeof(tsm_clh_t)];
    tsm_ticket_t filter;
    int go_straight;                    /* beside `serving`, which only holders write, too */
    int run;                            /* hand-overs in this run of high threads; as go_straight */
} tsm_clh_lpw_t;

/* Make a free lock for the contexts of a pool. One thread, before any use. */
static inline void tsm_clh_lpw_init(tsm_clh_lpw_t *lock, tsm_clh_pool_t *pool)
{
    tsm_clh_init(&lock->high, pool);
    tsm_clh_init(&lock->low, pool);
    tsm_ticket_init(&lock->filter);
    lock->go_straight = 0;
    lock->run = 0;
}

/* Destroy a free lock. One thread, after all others are done, before the pool is destroyed. */
static inline void tsm_clh_lpw_destroy(tsm_clh_lpw_t *lock)
{
    tsm_clh_destroy(&lock->high);
    tsm_clh_destroy(&lock->low);
}

/* Blocks until the lock is ours, with high priority; end with tsm_clh_lpw_release. */
static inline void tsm_clh_lpw_acquire(tsm_clh_lpw_t *lock, tsm_clh_context_t *context)
{
    tsm_clh_acquire(&lock->high, context);
    if (!lock->go_straight) {
        tsm_ticket_acquire(&lock->filter);
        lock->go_straight = 1;
    }
}

/* Returns 1 if the lock is now ours, with high priority; 0 if it was held, a high thread is about to
 * wait at the filter, or another try was under way. Never waits. */
static inline int tsm_clh_lpw_try(tsm_clh_lpw_t *lock, tsm_clh_context_t *context)
{
    /* the filter first: whoever fails because of us fails because of a thread that gets the lock (4) */
    if (!tsm_ticket_try(&lock->filter))
        return 0;
    if (!tsm_clh_try(&lock->high, context)) {
        tsm_ticket_release(&lock->filter);
        return 0;
    }
    lock->go_straight = 1;
    return 1;
}

/* By the holder with high priority, with the context it acquired with. Wait-free. */
static inline void tsm_clh_lpw_release(tsm_clh_lpw_t *lock, tsm_clh_context_t *context)
{
    assert(lock->go_straight && "tsm_clh_lpw_release: not held with high priority");
    int is_last = ++lock->run >= TSM_CLH_LPW_RUN || !tsm_clh_has_waiter(&lock->high, context);

    if (is_last) {
        lock->run = 0;
        lock->go_straight = 0;          /* the next high thread takes the filter */
    }
    tsm_clh_release(&lock->high, context);
    if (is_last)
        tsm_ticket_release(&lock->filter);      /* after the queue: see (4) */
}

/* Blocks until the lock is ours, with low priority; end with tsm_clh_lpw_release_low. */
static inline void tsm_clh_lpw_acquire_low(tsm_clh_lpw_t *lock, tsm_clh_context_t *context)
{
    tsm_clh_acquire(&lock->low, context);
    tsm_ticket_acquire(&lock->filter);
}

/* Returns 1 if the lock is now ours, with low priority; 0 if it was held, or another low thread
 * waits or tries. Never waits. */
static inline int tsm_clh_lpw_try_low(tsm_clh_lpw_t *lock, tsm_clh_context_t *context)
{
    if (!tsm_clh_try(&lock->low, context))
        return 0;
    if (!tsm_ticket_try(&lock->filter)) {
        tsm_clh_release(&lock->low, context);
        return 0;
    }
    return 1;
}

/* By the holder with low priority, with the context it acquired with. Wait-free. */
static inline void tsm_clh_lpw_release_low(tsm_clh_lpw_t *lock, tsm_clh_context_t *context)
{
    assert(!lock->go_straight && "tsm_clh_lpw_release_low: not held with low priority");
    tsm_ticket_release(&lock->filter);  /* a high thread at the filter comes before the next low */
    tsm_clh_release(&lock->low, context);
}

/*
 * Invariants: (1) the holder of the lock is the thread that has taken the filter or has inherited
 *             it along the high queue, but for a try that fails and gives the filter back. (2)
 *             go_straight is 1 exactly while the filter belongs to the high queue; it is a plain
 *             field, written only by a thread that holds both the high queue and the filter, and
 *             read by holders of either. (3) Of each priority at most one thread, the holder of
 *             that queue, waits for the filter or has it; for a moment also the last holder of a
 *             run of high threads, which gives the queue back first, and a try. (4) A try with high
 *             priority fails only if a thread has the lock, waits for it at the filter or with the
 *             high queue, or is about to give it back: a thread that posts an operation and fails
 *             can rely on one that looks after its release (section.c). For that, a thread without
 *             the filter has the high queue only if it waits for the filter.
 * Progress:   acquire is blocking and FIFO among high; by (3) it lets at most one low thread go
 *             first. Acquire_low is blocking and FIFO among low; it is served once no high thread
 *             waits, or when TSM_CLH_LPW_RUN of them have had the lock in a row. The tries
 *             are bounded: a CLH try, a ticket try, and a release to undo the first if the second
 *             fails. Release is wait-free.
 *
 *   release                              acquire
 *   those of tsm_clh.h and tsm_ticket.h. The CLH edge orders go_straight from one high holder to
 *   the next; the ticket edge, from the last of them to the next owner of the filter.
 *
 * What the published figure has wrong, and what is done here:
 *  - A node's `next` is never set back to NULL. A reused node then shows a waiter that does not
 *    exist, its release leaves the filter taken, and low threads wait until another high thread
 *    acquires and releases. Here there is no `next`: the holder checks whether the tail of the high
 *    queue is still its own ticket, which is exact and cannot be left over from an earlier use.
 *  - The queue tails are declared as nodes, not as pointers to nodes; the releases take the node by
 *    value but use it as a pointer, and some take the lock by value. A queue needs a first node.
 *    Here: tsm_clh.h, whose contexts keep their nodes.
 *  - The flag is set under one name (straight) and tested under another (go_straight).
 *  - The filter is named without its lock in the acquires.
 *  - No memory order is given. With a flag for a status, publishing a node must be a release and
 *    finding it an acquire, or a successor may read the status of an earlier use; tsm_clh.h counts
 *    instead. go_straight must be reset before the filter and the queue are released, as here.
 */

#endif /* TSM_CLH_LPW_H_INCLUDED */
