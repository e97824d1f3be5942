/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The nodes of CLH locks, in an array that any number of locks share, and the contexts through
 * which threads use them. A context keeps its node until it ends; a ticket names one acquisition
 * with it. When a context ends, the next one uses its node again.
 *
 * Source:     none of its own; see tsm_clh.h. Nodes that never change their type and are numbered
 *             anew for each use are the usual answer to ABA (IBM System/370 Principles of
 *             Operation, appendix on CDS; Michael and Scott, PODC 1996).
 * Threads:    any number of contexts up to the pool's, at any time; threads come and go. The nodes
 *             are the caller's memory; the pool uses them until tsm_clh_pool_destroy. Align the
 *             array to TSM_CACHELINE for speed. Unused nodes in zeroed memory are never touched, so
 *             a large array from calloc costs address space only.
 */

#ifndef TSM_CLH_POOL_H_INCLUDED
#define TSM_CLH_POOL_H_INCLUDED

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"
#include "tsm_mutex.h"

/* Most contexts that a pool can have at a time. */
#define TSM_CLH_CONTEXTS_MAX 65535

/* Length of the array of nodes for this many contexts. */
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
    uint32_t contexts;
    uint32_t fresh;                     /* the first node that was never used; under the mutex */
    uint32_t free;                      /* the first that was given back, 0: none; likewise */
    uint32_t used;                      /* contexts; likewise */
    tsm_mutex_t mutex;
} tsm_clh_pool_t;

/* One thread's part of the locks. */
typedef struct tsm_clh_context {
    tsm_clh_node_t *node;               /* ours; NULL when the context has ended */
    tsm_clh_node_t *nodes;              /* the pool's */
    uint64_t ticket;                    /* our last one; released unless we hold or wait */
    uint64_t step;
    tsm_clh_pool_t *pool;
} tsm_clh_context_t;

/* As tsm_clh_pool_init, for an array in zeroed memory, which it does not touch. */
static inline int tsm_clh_pool_init_zeroed(tsm_clh_pool_t *pool, tsm_clh_node_t *nodes,
                                           uint32_t contexts)
{
    if (contexts < 1 || contexts > TSM_CLH_CONTEXTS_MAX)
        return EINVAL;
    pool->nodes = nodes;
    for (pool->step = 1; pool->step <= contexts;)
        pool->step *= 2;
    pool->contexts = contexts;
    pool->fresh = 1;
    pool->free = 0;
    pool->used = 0;
    return tsm_mutex_init(&pool->mutex);
}

/* Make a pool for up to `contexts` contexts at a time, 1 to TSM_CLH_CONTEXTS_MAX. nodes: an array of
 * TSM_CLH_NODES(contexts), any memory. Returns 0, EINVAL for another number of contexts, or another
 * errno value. One thread, before any use. */
static inline int tsm_clh_pool_init(tsm_clh_pool_t *pool, tsm_clh_node_t *nodes, uint32_t contexts)
{
    for (uint32_t i = 0; i <= contexts && contexts <= TSM_CLH_CONTEXTS_MAX; i++) {
        tsm_store(&nodes[i].released, 0, TSM_RELAXED);
        tsm_store(&nodes[i].parked, 0, TSM_RELAXED);
        nodes[i].next = 0;
    }
    return tsm_clh_pool_init_zeroed(pool, nodes, contexts);
}

/* Destroy a pool whose contexts have all ended. The caller may free the nodes. The pool's locks
 * can no longer be used and need not be destroyed. One thread, after all others are done. */
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

/* 1 if more than half of the node's tickets are used up: time to end the context and make another,
 * which gets another node. See "Sequence". By its thread. */
static inline int tsm_clh_context_worn(const tsm_clh_context_t *context)
{
    return context->ticket >> 63 != 0;
}

/* Returns a node that no context has, or 0. Under the mutex. */
static inline uint32_t tsm_clh_pool_take_(tsm_clh_pool_t *pool)
{
    uint32_t id = pool->free;

    if (id != 0) {
        pool->free = pool->nodes[id].next;
    } else if (pool->fresh <= pool->contexts) {
        id = pool->fresh++;
        assert(tsm_load(&pool->nodes[id].released, TSM_RELAXED) == 0 &&
               "tsm_clh_pool_init_zeroed: the nodes were not zeroed");
        tsm_store(&pool->nodes[id].released, id, TSM_RELAXED);
    }
    if (id != 0)
        pool->used++;
    return id;
}

/* Make a context for any lock of the pool, one at a time. Returns 0, or EAGAIN if the pool has no
 * node until another context ends. Any thread; takes a mutex. */
static inline int tsm_clh_context_init(tsm_clh_context_t *context, tsm_clh_pool_t *pool)
{
    tsm_mutex_acquire(&pool->mutex);
    uint32_t id = tsm_clh_pool_take_(pool);
    tsm_mutex_release(&pool->mutex);
    if (id == 0)
        return EAGAIN;
    context->node = &pool->nodes[id];
    context->nodes = pool->nodes;
    context->ticket = tsm_load(&pool->nodes[id].released, TSM_RELAXED);
    context->step = pool->step;
    context->pool = pool;
    return 0;
}

/* End a context that holds no lock; its node goes back to the pool unless it is worn. By its
 * thread, or after that has ended. */
static inline void tsm_clh_context_end(tsm_clh_context_t *context)
{
    tsm_clh_pool_t *pool = context->pool;
    tsm_clh_node_t *node = context->node;

    assert(node != NULL && "tsm_clh_context_end: the context has ended before");
    assert(!tsm_clh_context_busy_(context) && "tsm_clh_context_end: the context holds a lock");
    context->node = NULL;
    tsm_mutex_acquire(&pool->mutex);
    if (!tsm_clh_context_worn(context)) {
        node->next = pool->free;
        pool->free = (uint32_t) (node - pool->nodes);
    }
    pool->used--;
    tsm_mutex_release(&pool->mutex);
}

/*
 * Invariants: (1) a ticket is 64 bits: a sequence number times 2 * step, plus step if its holder
 *             announces to wake sleepers (tsm_clh.h), plus the index of the node. Step is the least
 *             power of two above all indexes, so tickets of one node compare as their sequence
 *             numbers do. (2) A node's tickets only grow, whatever its context: `released` is the
 *             last ticket released, and a new context continues from it. So no ticket repeats.
 *             (3) Only the node's context stores `released`. (4) Node 0 has no context, and its
 *             ticket 0 is always released: it is the tail of a new lock. (5) A node is zero until
 *             its first context writes `released`, and nothing else, with a number below all
 *             tickets. Other threads reach the node through a tail without order, so they may still
 *             read the zero, or have flagged `parked`, when that store arrives.
 * Progress:   init and end of a context take a mutex; of a pool, one thread only.
 *
 *   release                           acquire
 *   end of a context (mutex)          init of the next context with the same node
 *
 * Sequence.   With c contexts there are 63 - log2(step) bits: 57 for 63 contexts, 47 for 65535. At
 *             10 ns for acquire and release, one context uses half of 2^47 in a week. Then
 *             tsm_clh_context_worn is true, and its user takes another node; a worn node is not
 *             used again. A user that does not ask has the other half before an assertion of a
 *             debug build stops it. 65535 nodes last for a thousand years.
 */

#endif /* TSM_CLH_POOL_H_INCLUDED */
