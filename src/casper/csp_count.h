/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_COUNT_H_INCLUDED
#define CSP_COUNT_H_INCLUDED

/* What a user and its ghost have done, for the performance variables of MPI_T (doc/casper.md). Each
 * counter has one writer at a time, in memory that it writes anyway or that nobody else reads, so
 * counting costs no more than an addition. Readers may be anywhere: all accesses are relaxed. */

#include <stdint.h>
#include "tsm/tsm_atomic.h"

typedef TSM_ATOMIC(uint64_t) csp_counter_t;

/* Of a ghost, in the memory of the node; all by the ghost. */
typedef struct csp_ghost_counts {
    csp_counter_t turns;        /* of its loop; also a hint whether it runs (csp_done.c) */
    csp_counter_t idle_turns;   /* those that found nothing to do */
    csp_counter_t copied;       /* bytes, for its users */
    csp_counter_t kept;         /* bytes that it has now, of messages without a receive or not yet
                                 * copied from there */
} csp_ghost_counts_t;

/* Of this process, a user. The first four with csp_lock, `copied` by any thread. */
typedef struct csp_counts {
    csp_counter_t sends, receives, probes;      /* given to the ghost */
    csp_counter_t late;         /* posts that found no room in the ring */
    csp_counter_t copied;       /* bytes, by this process, in place of its ghost */
} csp_counts_t;

extern csp_counts_t csp_counts;

/* By the one writer. */
static inline void csp_count(csp_counter_t * counter, uint64_t n)
{
    tsm_store(counter, tsm_load(counter, TSM_RELAXED) + n, TSM_RELAXED);
}

/* Make the variables known. In MPI_Init, by a user. csp_count_end: the memory of the node is about to
 * go; the variables keep their values. */
void csp_count_start(void);
void csp_count_end(void);

#endif /* CSP_COUNT_H_INCLUDED */
