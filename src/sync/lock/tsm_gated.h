/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * Each FIFO lock together with its gate; use these where there may be more threads than processors.
 * tsm_gated_NAME is the lock tsm_NAME, for NAME in ticket, mcs, clh, clh_lpw, hmcs and hyblock;
 * combine/tsm_gated_dsm_synch.h has DSM-Synch.
 *
 * Use:        as the lock itself, with the same nodes and contexts and the same rules for them:
 *               tsm_gated_mcs_init(&gated);
 *               tsm_gated_mcs_acquire(&gated, &node);
 *               tsm_gated_mcs_release(&gated, &node);
 *             init has the parameters of the lock's. HMCS chooses the leaf (tsm_hmcs_leaf_here). A
 *             try also fails while threads queue at the gate and the caller is not the favoured
 *             one. Call the lock's other functions (destroy, set-up of nodes) on the member `lock`.
 * Source:     tsm_gate.h and the header of the lock.
 * Invariants, progress, release and acquire, threads: those of the lock for exclusion and of the
 *             gate for order: FIFO while the threads at the lock fit on the processors, each thread
 *             about once in as many quanta as there are threads beyond that.
 */

#ifndef TSM_GATED_H_INCLUDED
#define TSM_GATED_H_INCLUDED

#include "tsm_clh.h"
#include "tsm_clh_lpw.h"
#include "tsm_gate.h"
#include "tsm_hmcs.h"
#include "tsm_hyblock.h"
#include "tsm_mcs.h"
#include "tsm_ticket.h"

#define TSM_GATED_TYPE_(name_) \
    typedef struct tsm_gated_##name_ { \
        tsm_gate_t gate; \
        tsm_##name_##_t lock; \
    } tsm_gated_##name_##_t;

/* try_, acquire_ and release_ take `lock` and, but for the ticket lock, `node`, a node_. */
#define TSM_GATED_FUNCTIONS_(name_, node_, try_, acquire_, release_) \
    /* Blocks until the lock is ours. */ \
    static inline void tsm_gated_##name_##_acquire(tsm_gated_##name_##_t *gated, node_ *node) \
    { \
        tsm_##name_##_t *lock = &gated->lock; \
        tsm_gate_acquire(&gated->gate, try_, acquire_); \
    } \
    /* 1 if the lock is now ours, else 0. Never waits. */ \
    static inline int tsm_gated_##name_##_try(tsm_gated_##name_##_t *gated, node_ *node) \
    { \
        tsm_##name_##_t *lock = &gated->lock; \
        return tsm_gate_try(&gated->gate, try_); \
    } \
    /* By the holder. It does not touch the gate. */ \
    static inline void tsm_gated_##name_##_release(tsm_gated_##name_##_t *gated, node_ *node) \
    { \
        tsm_##name_##_t *lock = &gated->lock; \
        release_; \
    }

#define TSM_GATED_(name_, node_) \
    TSM_GATED_TYPE_(name_) \
    TSM_GATED_FUNCTIONS_(name_, node_, tsm_##name_##_try(lock, node), \
                         tsm_##name_##_acquire(lock, node), tsm_##name_##_release(lock, node))

TSM_GATED_(mcs, tsm_mcs_node_t)
TSM_GATED_(clh, tsm_clh_context_t)
TSM_GATED_(hyblock, tsm_hyblock_node_t)

static inline void tsm_gated_mcs_init(tsm_gated_mcs_t *gated)
{
    tsm_gate_init(&gated->gate);
    tsm_mcs_init(&gated->lock);
}

static inline void tsm_gated_clh_init(tsm_gated_clh_t *gated, tsm_clh_pool_t *pool)
{
    tsm_gate_init(&gated->gate);
    tsm_clh_init(&gated->lock, pool);
}

static inline void tsm_gated_hyblock_init(tsm_gated_hyblock_t *gated)
{
    tsm_gate_init(&gated->gate);
    tsm_hyblock_init(&gated->lock);
}

TSM_GATED_TYPE_(hmcs)
TSM_GATED_FUNCTIONS_(hmcs, tsm_hmcs_node_t, tsm_hmcs_try(lock, node),
                     tsm_hmcs_acquire(lock, node, tsm_hmcs_leaf_here(lock)),
                     tsm_hmcs_release(lock, node))

static inline void tsm_gated_hmcs_init(tsm_gated_hmcs_t *gated, tsm_hmcs_domain_t domain[],
                                       const uint32_t widths[], uint32_t depth, uint32_t threshold)
{
    tsm_gate_init(&gated->gate);
    tsm_hmcs_init(&gated->lock, domain, widths, depth, threshold);
}

/* ---- ticket: no node ---- */

TSM_GATED_TYPE_(ticket)

static inline void tsm_gated_ticket_init(tsm_gated_ticket_t *gated)
{
    tsm_gate_init(&gated->gate);
    tsm_ticket_init(&gated->lock);
}

static inline void tsm_gated_ticket_acquire(tsm_gated_ticket_t *gated)
{
    tsm_gate_acquire(&gated->gate, tsm_ticket_try(&gated->lock),
                     tsm_ticket_acquire(&gated->lock));
}

static inline int tsm_gated_ticket_try(tsm_gated_ticket_t *gated)
{
    return tsm_gate_try(&gated->gate, tsm_ticket_try(&gated->lock));
}

static inline void tsm_gated_ticket_release(tsm_gated_ticket_t *gated)
{
    tsm_ticket_release(&gated->lock);
}

/* ---- CLH-LPW: a gate for each priority; low threads pass both ---- */

typedef struct tsm_gated_clh_lpw {
    tsm_gate_t gate;            /* of the high threads */
    tsm_gate_t gate_low;
    tsm_clh_lpw_t lock;
} tsm_gated_clh_lpw_t;

TSM_GATED_FUNCTIONS_(clh_lpw, tsm_clh_context_t, tsm_clh_lpw_try(lock, node),
                     tsm_clh_lpw_acquire(lock, node), tsm_clh_lpw_release(lock, node))

static inline void tsm_gated_clh_lpw_init(tsm_gated_clh_lpw_t *gated, tsm_clh_pool_t *pool)
{
    tsm_gate_init(&gated->gate);
    tsm_gate_init(&gated->gate_low);
    tsm_clh_lpw_init(&gated->lock, pool);
}

/* The same three with low priority. Low threads wait, for a bounded time, while high ones queue. */
static inline void tsm_gated_clh_lpw_acquire_low(tsm_gated_clh_lpw_t *gated,
                                                 tsm_clh_context_t *node)
{
    tsm_gate_acquire_below(&gated->gate_low, &gated->gate,
                           tsm_clh_lpw_try_low(&gated->lock, node),
                           tsm_clh_lpw_acquire_low(&gated->lock, node));
}

static inline int tsm_gated_clh_lpw_try_low(tsm_gated_clh_lpw_t *gated, tsm_clh_context_t *node)
{
    return tsm_gate_try_below(&gated->gate_low, &gated->gate,
                              tsm_clh_lpw_try_low(&gated->lock, node));
}

static inline void tsm_gated_clh_lpw_release_low(tsm_gated_clh_lpw_t *gated,
                                                 tsm_clh_context_t *node)
{
    tsm_clh_lpw_release_low(&gated->lock, node);
}

#endif /* TSM_GATED_H_INCLUDED */
