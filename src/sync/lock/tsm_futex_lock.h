/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * A lock in one word that sleeps in the kernel: the algorithm of the default Pthread mutex of glibc,
 * without its kinds, owner and count, and inlined. A free lock costs one atomic instruction to take
 * and one to release; a call of the Pthread mutex costs some 60 instructions more for the two.
 *
 * Source:     Drepper, "Futexes are tricky", mutex2, with the exchange in place of the
 *             compare-and-swap of the slow path.
 * Threads:    any number; no node, no per-thread state. Any thread may release on behalf of the
 *             holder. The last holder may free the lock after release.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_FUTEX_LOCK_H_INCLUDED
#define TSM_FUTEX_LOCK_H_INCLUDED

#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"

/* Values of the word. SHARED: held, and a thread sleeps or is about to. */
#define TSM_FUTEX_LOCK_FREE   0u
#define TSM_FUTEX_LOCK_HELD   1u
#define TSM_FUTEX_LOCK_SHARED 2u

typedef struct tsm_futex_lock {
    TSM_ATOMIC(uint32_t) word;
} tsm_futex_lock_t;

#define TSM_FUTEX_LOCK_INITIALIZER { TSM_FUTEX_LOCK_FREE }

/* Make a free lock. One thread, before any use. */
static inline void tsm_futex_lock_init(tsm_futex_lock_t *lock)
{
    tsm_store(&lock->word, TSM_FUTEX_LOCK_FREE, TSM_RELAXED);
}

/* Returns 1 if the lock is now ours, 0 if it was held. Never waits. */
static inline int tsm_futex_lock_try(tsm_futex_lock_t *lock)
{
    uint32_t seen = tsm_load(&lock->word, TSM_RELAXED);

    /* load first, so that a failure does not take the cache line from the holder */
    return seen == TSM_FUTEX_LOCK_FREE &&
        tsm_cas(&lock->word, &seen, TSM_FUTEX_LOCK_HELD, TSM_ACQUIRE, TSM_RELAXED);
}

/* Sleep until the lock is ours. It is marked SHARED then, since other threads may sleep, too. */
static inline void tsm_futex_lock_wait_(tsm_futex_lock_t *lock)
{
    while (tsm_swap(&lock->word, TSM_FUTEX_LOCK_SHARED, TSM_ACQUIRE) != TSM_FUTEX_LOCK_FREE)
        tsm_wait_flagged(&lock->word, TSM_FUTEX_LOCK_SHARED);
}

/* Blocks until the lock is ours. Not for a thread that holds it already. */
static inline void tsm_futex_lock_acquire(tsm_futex_lock_t *lock)
{
    if (!tsm_futex_lock_try(lock))
        tsm_futex_lock_wait_(lock);
}

/* By the thread that acquired, or for it. */
static inline void tsm_futex_lock_release(tsm_futex_lock_t *lock)
{
    tsm_wake_word_one(&lock->word, TSM_FUTEX_LOCK_FREE, TSM_FUTEX_LOCK_SHARED);
}

/*
 * Invariants: (1) the word is FREE if and only if no thread holds the lock: it leaves FREE only by a
 *             read-modify-write that finds FREE, whose thread then holds it, and only the holder
 *             writes FREE. (2) A thread sleeps only while the word is SHARED (the kernel compares).
 *             Only the release changes SHARED, and it wakes one sleeper. (3) A thread that was
 *             woken leaves the word SHARED whether it gets the lock or not, so the next release
 *             wakes another one. A thread that takes the lock by try between the release and the
 *             swap of the woken thread writes HELD; that swap makes it SHARED again. By (2) and (3)
 *             no sleeper is forgotten.
 * Progress:   blocking, no fairness: a thread that releases and acquires again often wins, which
 *             is fast and can starve the others. Try and release are wait-free.
 *
 *   release                        acquire
 *   release: swap of FREE          try: cas from FREE; wait_: swap that finds FREE
 *
 * The read-modify-write of the release is its last access to the word (tsm_wait.h).
 */

#endif /* TSM_FUTEX_LOCK_H_INCLUDED */
