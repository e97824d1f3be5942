/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * A doorbell: a thread that serves others sleeps behind it while there is no work, for a limited
 * time. Ringing an open bell costs one load.
 *
 * Interface:  tsm_bell_init()
 *             tsm_bell_arm()      the server: about to sleep; look for work once more after it
 *             tsm_bell_sleep()    the server: sleep until a ring, or for so long
 *             tsm_bell_is_rung()  the server: whether a ring has ended the sleep
 *             tsm_bell_disarm()   the server: awake again, with or without a sleep
 *             tsm_bell_ring()     any other thread: after work has been published
 *             tsm_bell_sleep_shared(), tsm_bell_ring_shared()    between processes
 *
 * Source:     the server that sleeps while nothing is posted is ours; ICS'19 "Software Combining to
 *             Mitigate Multithreaded MPI Contention", figure 1c, has one that polls for ever.
 * Threads:    one server, any number of ringers.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_BELL_H_INCLUDED
#define TSM_BELL_H_INCLUDED

#include <stdint.h>

#include "tsm_atomic.h"
#include "tsm_wait.h"

#define TSM_BELL_AWAKE 0u
#define TSM_BELL_ARMED 1u

typedef struct tsm_bell {
    TSM_ATOMIC(uint32_t) state;
} tsm_bell_t;

/* One thread, before any use. */
static inline void tsm_bell_init(tsm_bell_t *bell)
{
    tsm_store(&bell->state, TSM_BELL_AWAKE, TSM_RELAXED);
}

/* From here on a ring wakes the server. Work that was published before may not have rung: the server
 * looks for it now, by a seq_cst load. By the server. */
static inline void tsm_bell_arm(tsm_bell_t *bell)
{
    tsm_store(&bell->state, TSM_BELL_ARMED, TSM_SEQ_CST);
}

/* Sleep until a ring, at most ns nanoseconds; may return early. By the server, when armed. */
static inline void tsm_bell_sleep(tsm_bell_t *bell, uint64_t ns)
{
    tsm_wait_while(&bell->state, TSM_BELL_ARMED, ns);
}

/* 1 if a ring has ended the sleep. By the server, before it disarms. */
static inline int tsm_bell_is_rung(tsm_bell_t *bell)
{
    return tsm_load(&bell->state, TSM_RELAXED) == TSM_BELL_AWAKE;
}

/* By the server. */
static inline void tsm_bell_disarm(tsm_bell_t *bell)
{
    tsm_store(&bell->state, TSM_BELL_AWAKE, TSM_RELAXED);
}

/* Wake the server if it sleeps, or is about to. The caller has published the work by a seq_cst write.
 * Any thread but the server; wait-free; one load while the server is awake. */
static inline void tsm_bell_ring(tsm_bell_t *bell)
{
    if (tsm_load(&bell->state, TSM_SEQ_CST) == TSM_BELL_ARMED)
        tsm_wake_word(&bell->state, TSM_BELL_AWAKE, TSM_BELL_ARMED);
}

/* The same two for a bell in memory that several processes share. The server is the only thread of its
 * process, which does not count as wanting a processor meanwhile (tsm_load_rest). */
static inline void tsm_bell_sleep_shared(tsm_bell_t *bell, uint64_t ns)
{
    tsm_rest_while_shared(&bell->state, TSM_BELL_ARMED, ns);
}

static inline void tsm_bell_ring_shared(tsm_bell_t *bell)
{
    if (tsm_load(&bell->state, TSM_SEQ_CST) == TSM_BELL_ARMED)
        tsm_wake_word_shared(&bell->state, TSM_BELL_AWAKE, TSM_BELL_ARMED);
}

/*
 * Invariant:  only the server arms, so a ringer that finds AWAKE in its swap comes after another
 *             ringer's wake, or after the server's own disarm.
 * No lost wake: the ringer publishes and then loads the state; the server arms and then looks for
 *             work. All four are seq_cst: if the ringer does not find ARMED, its load comes before
 *             the server's store, so its publication comes before the server's look.
 * Progress:   ringing is wait-free. The server sleeps for a limited time.
 * Pairs:      none: the work is published and acquired elsewhere.
 */

#endif /* TSM_BELL_H_INCLUDED */
