/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       the nodes of CLH locks, in an array that any number of locks share, and the contexts
 *             by which threads use them. A context has its node for good; a ticket names one
 *             acquisition with it.
 * Source:     none of its own; see tsm_clh.h. Nodes that never change their type and are numbered
 *             anew for each use are the usual answer to ABA (IBM System/370 Principles of
 *             Operation, appendix on CDS; Michael and Scott, PODC 1996).
 * Invariants: (1) a ticket is 64 bits: a sequence number times `step`, plus the index of the node.
 *             Step is the least power of two above all indexes, so tickets of one node compare as
 *             their sequence numbers do. (2) A node's tickets only grow, in whatever context it is:
 *             `released` is the last one whose acquisition is over, a new context goes on from it.
 *             So a ticket never comes again. (3) `released` is stored by the node's context only.
 *             (4) Node 0 is nobody's, with ticket 0 released for ever: the tail of a new lock.
 * Progress:   init and end of a context take a mutex; of a pool, one thread only.
 *
 *   release                           acquire
 *   end of a context (mutex)          init of the next context with the same node
 *
 * Sequence.   With c contexts there are 64 - log2(step) bits: 58 for 63 contexts, 48 for 65535. At
 *             5 ns for acquire and release, 2^58 are 45 years of nothing else, 2^48 are 16 days.
 *             But so many contexts are there for as many threads, which share the processors: on
 *             256 of them each context gets one part in 256, and 2^48 are 11 years. A program that
 *             has one thread at it without a pause gives it a pool of its size. A debug build
 *             stops on an assertion at the end of the sequence.
 *
 * Threads:    any number of contexts up to the pool's, at any time; threads come and go. The nodes
 *             are the caller's memory, the pool's until tsm_clh_pool_destroy. Align the array to
 *             TSM_CACHELINE for speed.
 */

#ifndef TSM_CLH_POOL_H_INCLUDED
#define TSM_CLH_POOL_H_INCLUDED

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "../tsm_asym.h"
#include "../tsm_atomic.h"
#include "../tsm_wait.h"
#include "tsm_mutex.h"

/* Most contexts that a pool can have at a time. */
#define TSM_CLH_CONTEXTS_MAX 65535

/* Length of the array of nodes that so many contexts need. */
#define TSM_CLH_NODES(contexts_) ((contexts_) + 1)

typedef struct tsm_clh_node {
    TSM_ATOMIC(uint64_t) released;      /* a ticket */
    TSM_ATOMIC(uint32_t) parked;        /* see tsm_clh.h */
    uint32_t next;                      /* in the free list, 0: none; under the pool's mutex */
    char pad[TSM_CACHELINE - sizeof(uint64_t) - 2 * sizeof(uint32_t)];
} tsm_clh_node_t;

_Static_assert(sizeof(tsm_clh_node_t) == TSM_CACHELINE, "a node is found by a shift");

typedef struct tsm_clh_pool {
    tsm_clh_node_t *nodes;
    uint64_t step;
    int look;                           /* see tsm_clh_context_t */
    uint32_t free;                      /* first free node, 0: none; under the mutex */
    uint32_t used;                      /* contexts; under the mutex */
    tsm_mutex_t mutex;
} tsm_clh_pool_t;

/* One thread's part of the locks. */
typedef struct tsm_clh_context {
    tsm_clh_node_t *node;               /* ours; NULL when the context has ended */
    tsm_clh_node_t *nodes;              /* the pool's */
    uint64_t ticket;                    /* our last one; released unless we hold or wait */
    uint64_t step;
    int look;                           /* a release need only look at `parked` (tsm_asym.h) */
    tsm_clh_pool_t *pool;
} tsm_clh_context_t;

/* As tsm_clh_pool_init; look: whether the releases rely on the light half of tsm_asym.h, which only
 * tests choose. */
static inline int tsm_clh_pool_init_(tsm_clh_pool_t *pool, tsm_clh_node_t *nodes,
                                     uint32_t contexts, int look)
{
    if (contexts < 1 || contexts > TSM_CLH_CONTEXTS_MAX)
        return EINVAL;
    pool->nodes = nodes;
    for (pool->step = 1; pool->step <= contexts;)
        pool->step *= 2;
    pool->look = look;
    pool->free = 1;
    pool->used = 0;
    for (uint32_t i = 0; i <= contexts; i++) {
        tsm_store(&nodes[i].released, i, TSM_RELAXED);
        tsm_store(&nodes[i].parked, 0, TSM_RELAXED);
        nodes[i].next = i < contexts ? i + 1 : 0;
    }
    return tsm_mutex_init(&pool->mutex);
}

/* Make a pool for up to so many contexts at a time, 1 to TSM_CLH_CONTEXTS_MAX. nodes: an array of
 * TSM_CLH_NODES(contexts), any memory. Returns 0, EINVAL for another number of contexts, or another
 * errno value. One thread, before any use; cheapest before the process has more threads. */
static inline int tsm_clh_pool_init(tsm_clh_pool_t *pool, tsm_clh_node_t *nodes, uint32_t contexts)
{
    /* without a futex nobody sleeps, and there is nothing to miss */
    return tsm_clh_pool_init_(pool, nodes, contexts, !TSM_HAVE_FUTEX || tsm_asym_register());
}

/* End of use; all contexts must have ended. The nodes are the caller's again; locks of the pool can
 * no longer be used, and need not be destroyed before. One thread, after all others are done. */
static inline void tsm_clh_pool_destroy(tsm_clh_pool_t *pool)
{
    assert(pool->used == 0 && "tsm_clh_pool_destroy: contexts are left");
    tsm_mutex_destroy(&pool->mutex);
}

/* 1 if the context holds a lock or waits for one. By its thread. */
static inline int tsm_clh_context_busy_(tsm_clh_context_t *context)
{
    return tsm_load(&context->node->released, TSM_RELAXED) != context->ticket;
}

/* Give a thread its context, for any lock of the pool, one at a time. Returns 0, or EAGAIN if the
 * pool has no node left, until another context ends. Any thread; waits for others that do the
 * same. */
static inline int tsm_clh_context_init(tsm_clh_context_t *context, tsm_clh_pool_t *pool)
{
    tsm_mutex_acquire(&pool->mutex);
    uint32_t id = pool->free;
    if (id != 0) {
        pool->free = pool->nodes[id].next;
        pool->used++;
    }
    tsm_mutex_release(&pool->mutex);
    if (id == 0)
        return EAGAIN;
    *context = (tsm_clh_context_t) {
        .node = &pool->nodes[id], .nodes = pool->nodes, .step = pool->step, .look = pool->look,
        .ticket = tsm_load(&pool->nodes[id].released, TSM_RELAXED), .pool = pool
    };
    return 0;
}

/* End of a context that holds no lock; its node goes back to the pool. By its thread, or after
 * it. */
static inline void tsm_clh_context_end(tsm_clh_context_t *context)
{
    tsm_clh_pool_t *pool = context->pool;
    tsm_clh_node_t *node = context->node;

    assert(node != NULL && "tsm_clh_context_end: the context has ended before");
    assert(!tsm_clh_context_busy_(context) && "tsm_clh_context_end: the context holds a lock");
    context->node = NULL;
    tsm_mutex_acquire(&pool->mutex);
    node->next = pool->free;
    pool->free = (uint32_t) (node - pool->nodes);
    pool->used--;
    tsm_mutex_release(&pool->mutex);
}

#endif /* TSM_CLH_POOL_H_INCLUDED */
