/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * DSM-Synch with a gate before its acquire, for more threads than processors. Use acquire and
 * release as those of DSM-Synch, with the same nodes. tsm_dsm_synch_apply, begin and combine on the
 * member `lock` work as usual and pass no gate.
 *
 * Source:     ../lock/tsm_gate.h and tsm_dsm_synch.h, from which the invariants, the progress
 *             property and the pairs come.
 */

#ifndef TSM_GATED_DSM_SYNCH_H_INCLUDED
#define TSM_GATED_DSM_SYNCH_H_INCLUDED

#include "../lock/tsm_gate.h"
#include "tsm_dsm_synch.h"

typedef struct tsm_gated_dsm_synch {
    tsm_gate_t gate;
    tsm_dsm_synch_t lock;
} tsm_gated_dsm_synch_t;

/* Make a free object; max_combine: as tsm_dsm_synch_init. One thread, before any use. */
static inline void tsm_gated_dsm_synch_init(tsm_gated_dsm_synch_t *gated, uint32_t max_combine)
{
    tsm_gate_init(&gated->gate);
    tsm_dsm_synch_init(&gated->lock, max_combine);
}

/* Blocks until the object is ours; combines as tsm_dsm_synch_acquire. */
static inline void tsm_gated_dsm_synch_acquire(tsm_gated_dsm_synch_t *gated,
                                               tsm_dsm_synch_node_t *node)
{
    tsm_gate_acquire(&gated->gate, tsm_dsm_synch_try(&gated->lock, node),
                     tsm_dsm_synch_acquire(&gated->lock, node));
}

/* The same without combining. */
static inline void tsm_gated_dsm_synch_acquire_only(tsm_gated_dsm_synch_t *gated,
                                                    tsm_dsm_synch_node_t *node)
{
    tsm_gate_acquire(&gated->gate, tsm_dsm_synch_try(&gated->lock, node),
                     tsm_dsm_synch_acquire_only(&gated->lock, node));
}

/* By the holder. Does not touch the gate. */
static inline void tsm_gated_dsm_synch_release(tsm_gated_dsm_synch_t *gated,
                                               tsm_dsm_synch_node_t *node)
{
    tsm_dsm_synch_release(&gated->lock, node);
}

#endif /* TSM_GATED_DSM_SYNCH_H_INCLUDED */
