/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * A thin wrapper of pthread_mutex_t (the default, non-recursive kind).
 *
 * Source:     the baseline of all our papers; ICS'19 "Software Combining to Mitigate Multithreaded
 *             MPI Contention", section 2.
 * Threads:    any number; no node, no per-thread state.
 *
 * Invariants and progress are at the end of this file.
 */

#ifndef TSM_MUTEX_H_INCLUDED
#define TSM_MUTEX_H_INCLUDED

#include <assert.h>
#include <pthread.h>

typedef struct tsm_mutex {
    pthread_mutex_t mutex;
} tsm_mutex_t;

/* Make a free lock. Returns 0 or an errno value. One thread, before any use. */
static inline int tsm_mutex_init(tsm_mutex_t *lock)
{
    return pthread_mutex_init(&lock->mutex, NULL);
}

/* End of use; the lock must be free. */
static inline void tsm_mutex_destroy(tsm_mutex_t *lock)
{
    int rc = pthread_mutex_destroy(&lock->mutex);

    assert(rc == 0 && "tsm_mutex_destroy: the lock is held");
    (void) rc;
}

/* Blocks until the lock is ours. Not for a thread that holds it already. */
static inline void tsm_mutex_acquire(tsm_mutex_t *lock)
{
    int rc = pthread_mutex_lock(&lock->mutex);

    assert(rc == 0);
    (void) rc;
}

/* Returns 1 if the lock is now ours, 0 if it was held. Never waits. */
static inline int tsm_mutex_try(tsm_mutex_t *lock)
{
    return pthread_mutex_trylock(&lock->mutex) == 0;
}

/* By the thread that acquired. */
static inline void tsm_mutex_release(tsm_mutex_t *lock)
{
    int rc = pthread_mutex_unlock(&lock->mutex);

    assert(rc == 0);
    (void) rc;
}

/*
 * Invariants: those of POSIX. Released by the thread that acquired.
 * Progress:   blocking, no fairness: a thread that releases and acquires again often wins, which
 *             is fast and can starve the others. Try is bounded.
 *
 *   release                   acquire
 *   pthread_mutex_unlock      pthread_mutex_lock, successful pthread_mutex_trylock
 */

#endif /* TSM_MUTEX_H_INCLUDED */
