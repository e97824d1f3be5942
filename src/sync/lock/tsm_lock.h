/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * MPICH's lock: one interface without nodes for all the locks of locks.def; the build chooses one
 * by its number in TSM_LOCK_KIND. Link tsm_lock.c, which is the same for all of them. Every lock
 * works well with more threads than processors: the FIFO locks have a gate.
 *
 *   int  tsm_lock_init(&lock)          0 or an errno value
 *   void tsm_lock_destroy(&lock)
 *   void tsm_lock_acquire(&lock)       blocks
 *   void tsm_lock_acquire_low(&lock)   the same; with TSM_LOCK_HAS_PRIORITY, after those above
 *   int  tsm_lock_try(&lock)           1: the lock is ours; 0: it was held; never waits
 *   int  tsm_lock_try_low(&lock)
 *   void tsm_lock_release(&lock)       however it was acquired
 *   const char *tsm_lock_name(void)
 *
 * Rules:      the lock is released by the thread that acquired it. It is not recursive. A thread
 *             may hold any number of locks and release them in any order. Threads need not
 *             register; a thread that ends holds no lock.
 * Try:        a try of a gated lock also fails while other threads wait at the gate. The lock may
 *             be free then, but one of those threads takes it.
 * Order:      release is a release, not a sequentially consistent store: nothing orders it before
 *             a later load of the same thread, not even a seq_cst one such as tsm_swp_is_empty().
 *             After "release, then check whether another thread has posted", an empty queue is no
 *             proof that none has.
 * Source:     the locks compared in ICS'19 "Software Combining to Mitigate Multithreaded MPI
 *             Contention", sections 2 and 3.2, and in TOPC, sections 4 and 6.
 * Invariants, progress, release and acquire: those of the lock that is chosen. `owner` is the
 *             holder's node and `low` its priority; both are written and read by the holder only.
 */

#ifndef TSM_LOCK_H_INCLUDED
#define TSM_LOCK_H_INCLUDED

/* The numbers of locks.def, for #if. */
#define TSM_LOCK_KIND_MUTEX    1
#define TSM_LOCK_KIND_TICKET   2
#define TSM_LOCK_KIND_CLH      3
#define TSM_LOCK_KIND_CLH_LPW  4
#define TSM_LOCK_KIND_MCS      5
#define TSM_LOCK_KIND_HMCS     6
#define TSM_LOCK_KIND_HYBLOCK  7
#define TSM_LOCK_KIND_ADAPTIVE 8
#define TSM_LOCK_KIND_FUTEX    9

/* Each block: the name, the functions' prefix, and for queue locks the kind of node. */
#ifndef TSM_LOCK_KIND
#error "define TSM_LOCK_KIND as one of the numbers of locks.def"

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_MUTEX
#include "tsm_mutex.h"
#define TSM_LOCK_NAME_ "mutex"
#define TSM_LOCK_CALL_(what_) tsm_mutex_##what_

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_TICKET
#include "tsm_gated.h"
#define TSM_LOCK_NAME_ "ticket"
#define TSM_LOCK_CALL_(what_) tsm_gated_ticket_##what_

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_CLH
#include "tsm_lock_shared.h"
#define TSM_LOCK_NAME_ "clh"
#define TSM_LOCK_CALL_(what_) tsm_gated_clh_##what_
#define TSM_LOCK_NODE_ TSM_LOCK_NODE_CLH
#define TSM_LOCK_NODE_TYPE_ tsm_lock_clh_node_t

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_CLH_LPW
#include "tsm_lock_shared.h"
#define TSM_LOCK_NAME_ "clh-lpw"
#define TSM_LOCK_CALL_(what_) tsm_gated_clh_lpw_##what_
#define TSM_LOCK_NODE_ TSM_LOCK_NODE_CLH
#define TSM_LOCK_NODE_TYPE_ tsm_lock_clh_node_t
#define TSM_LOCK_HAS_PRIORITY 1

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_MCS
#include "tsm_lock_shared.h"
#define TSM_LOCK_NAME_ "mcs"
#define TSM_LOCK_CALL_(what_) tsm_gated_mcs_##what_
#define TSM_LOCK_NODE_ TSM_LOCK_NODE_MCS
#define TSM_LOCK_NODE_TYPE_ tsm_lock_mcs_node_t

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_HMCS
#include "tsm_lock_shared.h"
#define TSM_LOCK_NAME_ "hmcs"
#define TSM_LOCK_CALL_(what_) tsm_gated_hmcs_##what_
#define TSM_LOCK_NODE_ TSM_LOCK_NODE_HMCS
#define TSM_LOCK_NODE_TYPE_ tsm_lock_hmcs_node_t

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_HYBLOCK
#include "tsm_lock_shared.h"
#define TSM_LOCK_NAME_ "hyblock"
#define TSM_LOCK_CALL_(what_) tsm_gated_hyblock_##what_
#define TSM_LOCK_NODE_ TSM_LOCK_NODE_HYBLOCK
#define TSM_LOCK_NODE_TYPE_ tsm_lock_hyblock_node_t

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_ADAPTIVE
#include "tsm_adaptive.h"
#define TSM_LOCK_NAME_ "adaptive"
#define TSM_LOCK_CALL_(what_) tsm_adaptive_##what_

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_FUTEX
#include "tsm_futex_lock.h"
#define TSM_LOCK_NAME_ "futex"
#define TSM_LOCK_CALL_(what_) tsm_futex_lock_##what_

#else
#error "TSM_LOCK_KIND is none of the numbers of locks.def"
#endif

#ifndef TSM_LOCK_HAS_PRIORITY
#define TSM_LOCK_HAS_PRIORITY 0
#endif

#ifndef TSM_LOCK_NODE_

typedef TSM_LOCK_CALL_(t) tsm_lock_t;

/* Make a free lock. Returns 0 or an errno value. One thread, before any use. */
static inline int tsm_lock_init(tsm_lock_t *lock)
{
#if TSM_LOCK_KIND == TSM_LOCK_KIND_MUTEX
    return tsm_mutex_init(lock);
#else
    TSM_LOCK_CALL_(init)(lock);
    return 0;
#endif
}

/* End of use; the lock must be free. */
static inline void tsm_lock_destroy(tsm_lock_t *lock)
{
#if TSM_LOCK_KIND == TSM_LOCK_KIND_MUTEX
    tsm_mutex_destroy(lock);
#else
    (void) lock;
#endif
}

/* Blocks until the lock is ours. */
static inline void tsm_lock_acquire(tsm_lock_t *lock)
{
    TSM_LOCK_CALL_(acquire)(lock);
}

/* Returns 1 if the lock is now ours, else 0. Never waits. */
static inline int tsm_lock_try(tsm_lock_t *lock)
{
    return TSM_LOCK_CALL_(try)(lock);
}

/* By the thread that acquired. */
static inline void tsm_lock_release(tsm_lock_t *lock)
{
    TSM_LOCK_CALL_(release)(lock);
}

#else /* TSM_LOCK_NODE_: the same with nodes */

typedef struct tsm_lock {
    TSM_LOCK_CALL_(t) gated;
    char pad[TSM_CACHELINE];            /* waiters write above, the holder below */
    TSM_LOCK_NODE_TYPE_ *owner;
#if TSM_LOCK_HAS_PRIORITY
    int low;
#endif
} tsm_lock_t;

static inline int tsm_lock_init(tsm_lock_t *lock)
{
    int rc = 0;

#if TSM_LOCK_NODE_ == TSM_LOCK_NODE_CLH
    tsm_clh_pool_t *pool = tsm_lock_clh_pool_(&rc);
    if (rc == 0)
        TSM_LOCK_CALL_(init)(&lock->gated, pool);
#elif TSM_LOCK_NODE_ == TSM_LOCK_NODE_HMCS
    tsm_gate_init(&lock->gated.gate);
    rc = tsm_lock_hmcs_init_(&lock->gated.lock);
#else
    TSM_LOCK_CALL_(init)(&lock->gated);
#endif
    lock->owner = NULL;
    return rc;
}

static inline void tsm_lock_destroy(tsm_lock_t *lock)
{
#if TSM_LOCK_NODE_ == TSM_LOCK_NODE_HMCS
    tsm_lock_hmcs_destroy_(&lock->gated.lock);
#else
    (void) lock;
#endif
}

/* The lock is ours through this node. */
static inline void tsm_lock_owned_(tsm_lock_t *lock, TSM_LOCK_NODE_TYPE_ *node, int low)
{
    lock->owner = node;
#if TSM_LOCK_HAS_PRIORITY
    lock->low = low;
#else
    (void) low;
#endif
}

static inline void tsm_lock_acquire(tsm_lock_t *lock)
{
    TSM_LOCK_NODE_TYPE_ *node = tsm_lock_node_get_(TSM_LOCK_NODE_);

    TSM_LOCK_CALL_(acquire)(&lock->gated, &node->own);
    tsm_lock_owned_(lock, node, 0);
}

static inline int tsm_lock_try(tsm_lock_t *lock)
{
    TSM_LOCK_NODE_TYPE_ *node = tsm_lock_node_get_(TSM_LOCK_NODE_);

    if (!TSM_LOCK_CALL_(try)(&lock->gated, &node->own)) {
        tsm_lock_node_put_(TSM_LOCK_NODE_, node);
        return 0;
    }
    tsm_lock_owned_(lock, node, 0);
    return 1;
}

static inline void tsm_lock_release(tsm_lock_t *lock)
{
    /* read before the release: afterwards the fields belong to the next holder */
    TSM_LOCK_NODE_TYPE_ *node = lock->owner;

#if TSM_LOCK_HAS_PRIORITY
    if (lock->low)
        TSM_LOCK_CALL_(release_low)(&lock->gated, &node->own);
    else
#endif
        TSM_LOCK_CALL_(release)(&lock->gated, &node->own);
#if TSM_LOCK_NODE_ == TSM_LOCK_NODE_CLH
    if (__builtin_expect(tsm_clh_context_worn(&node->own), 0))
        tsm_lock_clh_renew_(node);
#endif
    tsm_lock_node_put_(TSM_LOCK_NODE_, node);
}

#endif /* TSM_LOCK_NODE_ */

#if TSM_LOCK_HAS_PRIORITY

/* Blocks until the lock is ours, after all threads of high priority. */
static inline void tsm_lock_acquire_low(tsm_lock_t *lock)
{
    TSM_LOCK_NODE_TYPE_ *node = tsm_lock_node_get_(TSM_LOCK_NODE_);

    TSM_LOCK_CALL_(acquire_low)(&lock->gated, &node->own);
    tsm_lock_owned_(lock, node, 1);
}

static inline int tsm_lock_try_low(tsm_lock_t *lock)
{
    TSM_LOCK_NODE_TYPE_ *node = tsm_lock_node_get_(TSM_LOCK_NODE_);

    if (!TSM_LOCK_CALL_(try_low)(&lock->gated, &node->own)) {
        tsm_lock_node_put_(TSM_LOCK_NODE_, node);
        return 0;
    }
    tsm_lock_owned_(lock, node, 1);
    return 1;
}

#else

static inline void tsm_lock_acquire_low(tsm_lock_t *lock)
{
    tsm_lock_acquire(lock);
}

static inline int tsm_lock_try_low(tsm_lock_t *lock)
{
    return tsm_lock_try(lock);
}

#endif

/* The lock's name in locks.def. */
static inline const char *tsm_lock_name(void)
{
    return TSM_LOCK_NAME_;
}

#endif /* TSM_LOCK_H_INCLUDED */
