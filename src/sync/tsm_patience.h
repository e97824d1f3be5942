/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * How long a thread polls before it sleeps: a fixed time while threads fit on the processors, a few
 * polls while they do not. The state belongs to one wait and not to the thread, so one long wait
 * does not change the next.
 *
 * Interface:  tsm_patience_begin()   a wait begins, or a poll has made progress
 *             tsm_patience_step()    a poll has found nothing: spin, yield or sleep
 *
 * Clock:      read once in TSM_PATIENCE_LOOK polls. The time counts from the first reading, so a
 *             short wait reads no clock.
 * Progress:   wait-free.
 * Pairs:      none.
 * Threads:    the one that waits.
 */

#ifndef TSM_PATIENCE_H_INCLUDED
#define TSM_PATIENCE_H_INCLUDED

#include <stdint.h>

#include "tsm_load.h"

/* Polls from one look at the clock to the next. */
#define TSM_PATIENCE_LOOK 32

typedef enum {
    TSM_PATIENCE_SPIN,                  /* poll again at once */
    TSM_PATIENCE_YIELD,                 /* tsm_yield(), then poll again */
    TSM_PATIENCE_SLEEP
} tsm_patience_next_t;

typedef struct tsm_patience {
    uint64_t end;                       /* of the time; 0: the clock has not been read */
    uint64_t spin_ns;                   /* time to poll while the load is not crowded */
    uint32_t crowded_polls;             /* polls before anything else while it is */
    uint32_t polls;                     /* that found nothing in this wait */
} tsm_patience_t;

/* Start from the beginning. The two numbers are what the fields of their names say. */
static inline void tsm_patience_begin(tsm_patience_t *patience, uint64_t spin_ns,
                                      uint32_t crowded_polls)
{
    patience->end = 0;
    patience->spin_ns = spin_ns;
    patience->crowded_polls = crowded_polls;
    patience->polls = 0;
}

/* Read the clock now and then; returns 1 once the time is over. */
static inline int tsm_patience_is_over_(tsm_patience_t *patience)
{
    uint64_t now;

    if (patience->polls % TSM_PATIENCE_LOOK != 0)
        return 0;
    now = tsm_now_ns();
    if (patience->end == 0) {
        patience->end = now + patience->spin_ns;
        return 0;
    }
    if (now < patience->end)
        return 0;
    patience->polls--;                  /* the next poll looks again */
    return 1;
}

/* A poll found nothing. may_sleep: 0 if the wait cannot sleep; then it yields instead. */
static inline tsm_patience_next_t tsm_patience_step(tsm_patience_t *patience, int may_sleep)
{
    tsm_patience_next_t tired = may_sleep ? TSM_PATIENCE_SLEEP : TSM_PATIENCE_YIELD;

    tsm_load_touch();
    patience->polls++;
    if (patience->polls > patience->crowded_polls && tsm_load_crowded())
        return tired;
    return tsm_patience_is_over_(patience) ? tired : TSM_PATIENCE_SPIN;
}

#endif /* TSM_PATIENCE_H_INCLUDED */
