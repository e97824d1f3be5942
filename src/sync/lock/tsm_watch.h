/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What gate and adaptive lock share: a queue's first thread, the head, watches how others use a
 * lock, for a quantum at most, and offers its processor with each look. While it watches, the lock
 * stays with threads that run, so more threads than processors do not cost a context switch for
 * each hand-over. Whether a watch pays is tsm_load_crowded()'s answer.
 *
 * Interface:  tsm_watch()    look until there is something to do, or the quantum is over
 *             tsm_watch_me() a name of the calling thread
 *
 * Progress:   a watch ends after TSM_WATCH_QUANTUM_NS and one more look, as far as the scheduler
 *             lets the head run.
 * Pairs:      those of the look.
 * Threads:    any.
 */

#ifndef TSM_WATCH_H_INCLUDED
#define TSM_WATCH_H_INCLUDED

#include <errno.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_load.h"
#include "../tsm_wait.h"

/* How long others may overtake the head of a queue. Longer is faster, shorter is fairer. */
#ifndef TSM_WATCH_QUANTUM_NS
#define TSM_WATCH_QUANTUM_NS 1000000
#endif

/* Pauses between two looks: each look costs the user of the lock a cache miss. */
#ifndef TSM_WATCH_PAUSES
#define TSM_WATCH_PAUSES 64
#endif

/* A name that no other living thread has, and never 0: each thread has its own errno. */
static inline uintptr_t tsm_watch_me(void)
{
    return (uintptr_t) &errno;
}

/* Call look(arg) until it returns something else than 0, which is returned, or the quantum is over:
 * 0. The first look comes at once, the others after a yield and a few pauses. */
static inline int tsm_watch(int (*look)(void *), void *arg)
{
    uint64_t end = tsm_now_ns() + TSM_WATCH_QUANTUM_NS;

    for (;;) {
        int found = look(arg);
        if (found || tsm_now_ns() >= end)
            return found;
        tsm_yield();            /* it may be the user of the lock who needs the processor */
        for (int i = 0; i < TSM_WATCH_PAUSES; i++)
            tsm_cpu_pause();
    }
}

#endif /* TSM_WATCH_H_INCLUDED */
