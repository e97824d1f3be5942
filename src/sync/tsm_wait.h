/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       the one waiting primitive. tsm_wait_until() polls a condition; tsm_wait_word() waits
 *             for a 32-bit word to change and can put the thread to sleep in the kernel.
 * Source:     spin a little, then yield, then park; the waker calls the kernel only if a waiter
 *             flagged itself (Franke, Russell, Kirkwood, "Fuss, Futexes and Furwocks", OLS 2002;
 *             Drepper, "Futexes are tricky"). MPI context: ICS'19 "Software Combining to Mitigate
 *             Multithreaded MPI Contention", section 3, whose waits only spin.
 * Invariants: (1) a parked word means that a waiter sleeps or is about to: only a waiter writes
 *             `parked`, by CAS from `waiting`. (2) The waker writes with an exchange, so it either
 *             comes before that CAS, which then fails, or it sees `parked` and wakes. FUTEX_WAIT
 *             compares the word with `parked` in the kernel, so a change between the CAS and the
 *             sleep makes it return at once. No wake is lost.
 * Progress:   blocking for the waiter; waking is wait-free.
 *
 *   release (writer)                        acquire (reader)
 *   tsm_wake_word: swap of the new value    tsm_wait_word: the load that finds a value that is
 *                                           neither `waiting` nor `parked`
 *   whatever the writer of the condition    the access in `condition`, whose order the caller
 *   does                                    names
 *
 * Spurious wakes: the kernel may return early (signal, or a wake that was meant for an earlier use
 * of the same address). tsm_wait_word reads the word again and sleeps again; callers never see one.
 *
 * The waker touches the word last with its exchange; FUTEX_WAKE then takes only the address. By
 * then the waiter may have seen the value, left and given the memory back. That is harmless: a
 * private FUTEX_WAKE does not read the memory, so an unmapped address wakes nobody, and a new use
 * of it as a futex sees at most a spurious wake.
 *
 * Threads:    any number of waiters on one word, any number of them more than processors. With one
 *             processor allowed nobody spins, since whoever is waited for cannot run meanwhile.
 *             Nothing here changes errno.
 */

#ifndef TSM_WAIT_H_INCLUDED
#define TSM_WAIT_H_INCLUDED

#if defined(__linux__) && !defined(_GNU_SOURCE)
#error "define _GNU_SOURCE before the first include: tsm_wait.h needs syscall()"
#endif

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#include "tsm_atomic.h"
#include "tsm_topology.h"

#if defined(__linux__) && defined(SYS_futex)
#define TSM_HAVE_FUTEX 1
#else
#define TSM_HAVE_FUTEX 0
#endif

/* How to wait. spins: pauses before the first sched_yield; yields: sched_yields before the thread
 * parks; park: whether it may. A wait that cannot park yields for ever. */
typedef struct tsm_wait_policy {
    uint32_t spins;
    uint32_t yields;
    int park;
} tsm_wait_policy_t;

/* For a word that only its waiters look at: may sleep. test/model defines it to sleep at once. */
#ifndef TSM_WAIT_PARK
#define TSM_WAIT_PARK ((tsm_wait_policy_t) {128, 16, 1})
#endif
/* For a word that is not ours to flag, or for waits that are known to be short: never sleeps. */
#define TSM_WAIT_POLL ((tsm_wait_policy_t) {128, 0, 0})

/* One wait under way. */
typedef struct tsm_wait_state {
    uint32_t spins;
    uint32_t yields;
} tsm_wait_state_t;

static inline tsm_wait_state_t tsm_wait_begin(tsm_wait_policy_t policy)
{
    tsm_wait_state_t state = { policy.spins, policy.yields };

    if (tsm_cpus_allowed() == 1)
        state.spins = 0;
    return state;
}

/* Wait a little: up to `weight` pauses while pauses are left, else one sched_yield. Returns 1 when
 * the policy's yields are used up too, so that the caller may park; else 0. */
static inline int tsm_wait_step(tsm_wait_state_t *state, uint32_t weight)
{
    if (state->spins > 0) {
        uint32_t pauses = weight < state->spins ? weight : state->spins;
        state->spins -= pauses;
        for (uint32_t i = 0; i < pauses; i++)
            tsm_cpu_pause();
        return 0;
    }
    if (state->yields == 0) {
        return 1;
    }
    state->yields--;
    sched_yield();
    return 0;
}

/* Poll `condition` until it is true. `condition` is evaluated again and again and must contain an
 * atomic access of the order that the caller needs; `weight` is how many pauses the next step is
 * worth, for waiters that know how far away their turn is. Any thread; does not park. */
#define tsm_wait_until_weighted(condition, weight, policy) \
    do { \
        tsm_wait_state_t tsm_wait_state_ = tsm_wait_begin(policy); \
        while (!(condition)) { \
            if (tsm_wait_step(&tsm_wait_state_, (weight))) \
                sched_yield(); \
        } \
    } while (0)

#define tsm_wait_until(condition, policy) tsm_wait_until_weighted(condition, 1, policy)

#if TSM_HAVE_FUTEX
_Static_assert(sizeof(TSM_ATOMIC(uint32_t)) == 4, "a futex is a 32-bit word");

/* op_: FUTEX_WAIT (sleep while *w == value) or FUTEX_WAKE (wake up to value waiters). The result
 * does not matter: the caller looks at the word again. */
static inline void tsm_futex_(TSM_ATOMIC(uint32_t) *w, int op, uint32_t value)
{
    int saved = errno;

    syscall(SYS_futex, (void *) w, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
    errno = saved;
}
#endif

/* Flag the word and sleep until it is no longer `parked`. All relaxed: the flag carries no data,
 * and the caller looks at the word again with acquire. */
static inline void tsm_wait_word_park_(TSM_ATOMIC(uint32_t) *w, uint32_t waiting, uint32_t parked)
{
#if TSM_HAVE_FUTEX
    uint32_t seen = waiting;

    if (!tsm_cas(w, &seen, parked, TSM_RELAXED, TSM_RELAXED) && seen != parked)
        return;
    do {
        tsm_futex_(w, FUTEX_WAIT, parked);
    } while (tsm_load(w, TSM_RELAXED) == parked);
#else
    (void) w;
    (void) waiting;
    (void) parked;
    sched_yield();
#endif
}

/* Wait until *w is neither `waiting` nor `parked`; acquire. The two are values that the caller sets
 * aside for this word, `waiting` being what it holds before the wake. The memory of *w must stay
 * until the wait is over, no longer. Any thread, any number of threads on one word; blocking. */
static inline void tsm_wait_word(TSM_ATOMIC(uint32_t) *w, uint32_t waiting, uint32_t parked,
                                 tsm_wait_policy_t policy)
{
    tsm_wait_state_t state = tsm_wait_begin(policy);
    uint32_t seen;

    for (;;) {
        seen = tsm_load(w, TSM_ACQUIRE);
        if (seen != waiting && seen != parked)
            return;
        if (!tsm_wait_step(&state, 1))
            continue;
        if (policy.park)
            tsm_wait_word_park_(w, waiting, parked);
        else
            sched_yield();
    }
}

/* End the wait: set *w to `value`, which is neither `waiting` nor `parked`; release. Wakes every
 * sleeper. Any thread; wait-free; the waiters may free *w as soon as they see the value. */
static inline void tsm_wake_word(TSM_ATOMIC(uint32_t) *w, uint32_t value, uint32_t parked)
{
    uint32_t old = tsm_swap(w, value, TSM_RELEASE);

#if TSM_HAVE_FUTEX
    if (old == parked)
        tsm_futex_(w, FUTEX_WAKE, INT_MAX);
#else
    (void) old;
    (void) parked;
#endif
}

#endif /* TSM_WAIT_H_INCLUDED */
