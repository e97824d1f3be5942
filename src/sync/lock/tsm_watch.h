/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The watch of the gate and of the adaptive lock: the first thread of a queue, the head, watches
 * how others use a lock, for a quantum at most, and yields after each look. While it watches, the
 * lock stays with threads that run, so that more threads than processors do not cost a context
 * switch for each hand-over. Use it while tsm_load_crowded().
 *
 * Interface:  tsm_watch()    look until there is something to do, or the quantum is over
 *             tsm_watch_me() a number that names the calling thread
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

/* A number that no other living thread has, and never 0: each thread has its own errno. */
static inline uintptr_t tsm_watch_me(void)
{
    return (uintptr_t) &errno;
}

/* Call look(arg) until it does not return 0 or the quantum is over, and return its last result. The
 * first look comes at once, the others after a yield and a few pauses. */
static inline int tsm_watch(int (*look)(void *), void *arg)
{
    uint64_t end = tsm_now_ns() + TSM_WATCH_QUANTUM_NS;

    for (;;) {
        int found = look(arg);
        if (found || tsm_now_ns() >= end)
            return found;
        tsm_yield();            /* the user of the lock may need the processor */
        for (int i = 0; i < TSM_WATCH_PAUSES; i++)
            tsm_cpu_pause();
    }
}

#endif /* TSM_WATCH_H_INCLUDED */
