/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * All waits of src/sync: no other file yields the processor or sleeps in the kernel. A wait spins a
 * little, then yields, then sleeps; the thread that ends it calls the kernel only if the waiter has
 * set a flag. tsm_load.h counts the threads that sleep or yield here.
 *
 * Interface:  tsm_yield(), tsm_yield_server()       offer the processor to others
 *             tsm_yield_slice()                     give granted time back (tsm_slice.h)
 *             tsm_wait_until(condition, policy)     poll a condition, and yield
 *             tsm_wait_word(), tsm_wake_word()      a 32-bit word with values set aside for it
 *             tsm_wait_flagged(),                   a word that the waiter has flagged; the wake
 *             tsm_wake_word_one()                   is for one of the waiters
 *             tsm_wait_count(), tsm_wake_count()    a counter whose owner sleeps until it grows,
 *             tsm_wait_count_for()                  or for a limited time
 *             tsm_wait_while()                      sleep on a word for a limited time
 *             tsm_rest_while_shared(),              the same, between processes, for want of work
 *             tsm_wake_word_shared()
 *             tsm_wait_begin(), tsm_wait_step()     one wait, step by step
 *
 * Source:     spin, yield, park with a flagged waker: Franke, Russell, Kirkwood, "Fuss, Futexes and
 *             Furwocks", OLS 2002; Drepper, "Futexes are tricky". MPI context: ICS'19 "Software
 *             Combining to Mitigate Multithreaded MPI Contention", section 3, whose waits only
 *             spin.
 * Threads:    any number of waiters on one word, one on a counter; there may be more threads than
 *             processors. If the process may use one processor only, no thread spins, because the
 *             awaited thread cannot run meanwhile. Nothing here changes errno.
 *
 * Proof and pairs are at the end of this file.
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
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#include "tsm_atomic.h"
#include "tsm_load.h"

#if defined(__linux__) && defined(SYS_futex)
#define TSM_HAVE_FUTEX 1
#else
#define TSM_HAVE_FUTEX 0
#endif

/* Sleep for a moment, so that threads of any priority can run. */
static inline void tsm_nap(void)
{
#ifdef TSM_YIELD
    TSM_YIELD();
#else
    static const struct timespec moment = { 0, 50000 };
    int saved = errno;

    nanosleep(&moment, NULL);
    errno = saved;
#endif
}

/* Yields of a thread for each that sleeps instead, while threads outnumber processors. Without such
 * sleeps, two threads that took turns to yield kept all others from their processor for a minute and
 * more under Linux 6.18, the kernel's own threads among them; a thread that sleeps puts its scheduler
 * right. Under SCHED_FIFO, too, a yield is not enough: only threads of the same priority run. */
#define TSM_YIELDS_PER_NAP 64
/* The same for a thread that serves others, which wait meanwhile. */
#define TSM_SERVER_YIELDS_PER_NAP 256
/* The same while each thread has a processor: a yield returns at once, and a thread that sleeps as its
 * turn at a FIFO lock comes holds up all behind it. A multiple of the others. */
#define TSM_LONE_YIELDS_PER_NAP 1024

static inline void tsm_yield_nap_(unsigned yields_per_nap)
{
    tsm_load_touch();
#ifdef TSM_YIELD
    (void) yields_per_nap;
    TSM_YIELD();
#else
#ifdef TSM_LOAD_REPLACED
    static __thread unsigned tsm_load_yields_;
#endif
    if (++tsm_load_yields_ % yields_per_nap == 0 &&
        (tsm_load_yields_ % TSM_LONE_YIELDS_PER_NAP == 0 || tsm_load_crowded()))
        tsm_nap();
    else
        sched_yield();
#endif
}

/* Yield the processor to other threads; the caller counts as wanting one. Lightweight threads and
 * tests may replace what it calls. */
static inline void tsm_yield(void)
{
    tsm_yield_nap_(TSM_YIELDS_PER_NAP);
}

/* The same, of a server. */
static inline void tsm_yield_server(void)
{
    tsm_yield_nap_(TSM_SERVER_YIELDS_PER_NAP);
}

/* The number of rseq_slice_yield, which old headers lack. The same wherever tsm_slice.h uses it. */
#define TSM_SYS_RSEQ_SLICE_YIELD 471

/* Give the processor back that the kernel has left to the caller beyond its time slice. Does nothing
 * if it has been taken meanwhile. */
static inline void tsm_yield_slice(void)
{
#ifdef TSM_SLICE_YIELD
    TSM_SLICE_YIELD();
#elif defined(__linux__)
    int saved = errno;

    syscall(TSM_SYS_RSEQ_SLICE_YIELD);
    errno = saved;
#endif
}

/* How to wait. spins: pauses before the first yield, and again in each round while each thread has a
 * processor (TSM_WAIT_PAUSES); yields: calls of tsm_yield after that before the thread parks; park:
 * whether it may. A wait that cannot park yields for ever. */
typedef struct tsm_wait_policy {
    uint32_t spins;
    uint32_t yields;
    int park;
} tsm_wait_policy_t;

/* For a word that the waiter may flag: may sleep. test/model defines it to sleep at once. */
#ifndef TSM_WAIT_PARK
#define TSM_WAIT_PARK ((tsm_wait_policy_t) {128, 16, 1})
#endif
/* For a word that the waiter may not flag, or for short waits: polls and yields. */
#define TSM_WAIT_POLL ((tsm_wait_policy_t) {128, 0, 0})

/* Pauses in rounds of spins, each with a yield, while each thread has a processor: one to three
 * milliseconds. A thread that sleeps in the queue of a FIFO lock as its turn comes holds up all behind
 * it, so that they sleep, too, and from then on each hand-over takes as long as a wake. The queue of
 * 128 threads takes a quarter of a millisecond. The yields are there because the measure of load may be
 * wrong, and the awaited thread may need this processor. */
#define TSM_WAIT_PAUSES 65536u

/* One wait under way. */
typedef struct tsm_wait_state {
    uint32_t spins;                     /* left of this round */
    uint32_t yields;
    uint32_t rounds;
    uint32_t round;                     /* spins of each */
} tsm_wait_state_t;

/* By the thread that waits; wait-free. */
static inline tsm_wait_state_t tsm_wait_begin(tsm_wait_policy_t policy)
{
    uint32_t spins = tsm_load_processors() == 1 ? 0 : policy.spins;
    tsm_wait_state_t state = { spins, policy.yields, spins > 0 ? TSM_WAIT_PAUSES / spins : 0, spins };

    return state;
}

/* Wait a little: up to `weight` pauses while pauses are left, else one yield. Returns 1 when
 * the rounds and the policy's yields are used up too, so that the caller may park; else 0. */
static inline int tsm_wait_step(tsm_wait_state_t *state, uint32_t weight)
{
    if (state->spins > 0) {
        uint32_t pauses = weight < state->spins ? weight : state->spins;
        state->spins -= pauses;
        for (uint32_t i = 0; i < pauses; i++)
            tsm_cpu_pause();
        return 0;
    }
    if (state->rounds > 0 && !tsm_load_crowded()) {
        state->rounds--;
        state->spins = state->round;
    } else if (state->yields > 0) {
        state->yields--;
    } else {
        return 1;
    }
    tsm_yield();
    return 0;
}

/* Poll `condition` until it is true. `condition` is evaluated again and again and must contain an
 * atomic access of the order that the caller needs. `weight` is the number of pauses of the next
 * step, for waiters that know how far away their turn is. Any thread; does not park. */
#define tsm_wait_until_weighted(condition, weight, policy) \
    do { \
        tsm_wait_state_t tsm_wait_state_ = tsm_wait_begin(policy); \
        while (!(condition)) { \
            if (tsm_wait_step(&tsm_wait_state_, (weight))) \
                tsm_yield(); \
        } \
    } while (0)

#define tsm_wait_until(condition, policy) tsm_wait_until_weighted(condition, 1, policy)

/* Who sleeps on a word: threads of this process, or of any process that has the memory. */
enum { TSM_IN_PROCESS, TSM_IN_NODE };

#if TSM_HAVE_FUTEX
_Static_assert(sizeof(TSM_ATOMIC(uint32_t)) == 4, "a futex is a 32-bit word");

/* op: FUTEX_WAIT (sleep while *w == value, at most for `most`, or without end if that is NULL) or
 * FUTEX_WAKE (wake up to value waiters). The result does not matter: the caller looks at the word
 * again. Tells tsm_load.h nothing. */
static inline void tsm_futex_uncounted_(TSM_ATOMIC(uint32_t) *w, int op, uint32_t value,
                                        const struct timespec *most, int scope)
{
    int saved = errno, flag = scope == TSM_IN_PROCESS ? FUTEX_PRIVATE_FLAG : 0;

    syscall(SYS_futex, (void *) w, op | flag, value, most, NULL, 0);
    errno = saved;
}

/* The same within the process, without a limit; tsm_load.h counts the sleeper as one that waits. */
static inline void tsm_futex_(TSM_ATOMIC(uint32_t) *w, int op, uint32_t value)
{
    if (op == FUTEX_WAIT)
        tsm_load_sleep(1);
    tsm_futex_uncounted_(w, op, value, NULL, TSM_IN_PROCESS);
    if (op == FUTEX_WAIT)
        tsm_load_sleep(0);
}
#endif

/* Sleep while *w is `value`, at most ns nanoseconds; may return early. */
static inline void tsm_sleep_while_(TSM_ATOMIC(uint32_t) *w, uint32_t value, uint64_t ns, int scope)
{
#if TSM_HAVE_FUTEX
    const struct timespec most = { (time_t) (ns / 1000000000), (long) (ns % 1000000000) };

    tsm_futex_uncounted_(w, FUTEX_WAIT, value, &most, scope);
#else
    (void) w;
    (void) value;
    (void) ns;
    (void) scope;
    tsm_nap();
#endif
}

/* The same. The thread that changes the word wakes the sleeper (tsm_wake_word with `value` as the
 * parked one). */
static inline void tsm_wait_while(TSM_ATOMIC(uint32_t) *w, uint32_t value, uint64_t ns)
{
    tsm_load_sleep(1);
    tsm_sleep_while_(w, value, ns, TSM_IN_PROCESS);
    tsm_load_sleep(0);
}

/* The same for a word that several processes share, with tsm_wake_word_shared, by the only thread of a
 * process that has nothing to do: it then counts for nothing (tsm_load_rest). */
static inline void tsm_rest_while_shared(TSM_ATOMIC(uint32_t) *w, uint32_t value, uint64_t ns)
{
    tsm_load_rest();
    tsm_sleep_while_(w, value, ns, TSM_IN_NODE);
}

/* Sleep until *w is no longer `flagged`, which the caller has set. Relaxed: the flag carries no
 * data, and the caller loads the word again with acquire. Any thread; blocking. */
static inline void tsm_wait_flagged(TSM_ATOMIC(uint32_t) *w, uint32_t flagged)
{
    do {
#if TSM_HAVE_FUTEX
        tsm_futex_(w, FUTEX_WAIT, flagged);
#else
        tsm_yield();
#endif
    } while (tsm_load(w, TSM_RELAXED) == flagged);
}

/* Flag the word and sleep until it is no longer `parked`. */
static inline void tsm_wait_word_park_(TSM_ATOMIC(uint32_t) *w, uint32_t waiting, uint32_t parked)
{
    uint32_t seen = waiting;

    if (!tsm_cas(w, &seen, parked, TSM_RELAXED, TSM_RELAXED) && seen != parked)
        return;
    tsm_wait_flagged(w, parked);
}

/* Wait until *w is neither `waiting` nor `parked`; acquire. The caller reserves these two values
 * for this word; `waiting` is its value before the wake. The memory of *w must stay until the wait
 * is over, no longer. Any thread, any number of threads on one word; blocking. */
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
            tsm_yield();
    }
}

/* Set *w to `value`; release. Wakes up to `most` sleepers if it was `parked`. */
static inline void tsm_wake_word_(TSM_ATOMIC(uint32_t) *w, uint32_t value, uint32_t parked,
                                  uint32_t most, int scope)
{
    uint32_t old = tsm_swap(w, value, TSM_RELEASE);

#if TSM_HAVE_FUTEX
    if (old == parked)
        tsm_futex_uncounted_(w, FUTEX_WAKE, most, NULL, scope);
#else
    (void) old;
    (void) parked;
    (void) most;
    (void) scope;
#endif
}

/* End the wait: set *w to `value`, which is neither `waiting` nor `parked`; release. Wakes every
 * sleeper. Any thread; wait-free; the waiters may free *w as soon as they see the value. */
static inline void tsm_wake_word(TSM_ATOMIC(uint32_t) *w, uint32_t value, uint32_t parked)
{
    tsm_wake_word_(w, value, parked, INT_MAX, TSM_IN_PROCESS);
}

/* The same, but wake one sleeper only, which sees to the others. */
static inline void tsm_wake_word_one(TSM_ATOMIC(uint32_t) *w, uint32_t value, uint32_t parked)
{
    tsm_wake_word_(w, value, parked, 1, TSM_IN_PROCESS);
}

/* tsm_wake_word for a word that several processes share. It must stay mapped in the calling process. */
static inline void tsm_wake_word_shared(TSM_ATOMIC(uint32_t) *w, uint32_t value, uint32_t parked)
{
    tsm_wake_word_(w, value, parked, INT_MAX, TSM_IN_NODE);
}

/* A counter to sleep on: bit 0 is set while its owner sleeps, the bits above count modulo 2^31. It
 * begins as 0; only tsm_wake_count, tsm_wait_count and its helpers write it. */
#define TSM_COUNT_ASLEEP 1u
#define TSM_COUNT_ONE    2u

/* The count, in units of TSM_COUNT_ONE; acquire. */
static inline uint32_t tsm_count_read(TSM_ATOMIC(uint32_t) *w)
{
    return tsm_load(w, TSM_ACQUIRE) & ~TSM_COUNT_ASLEEP;
}

/* Flag the counter if it is still `seen`, and sleep. An addition clears the flag, because other
 * threads add meanwhile. */
static inline void tsm_wait_count_park_(TSM_ATOMIC(uint32_t) *w, uint32_t seen)
{
    uint32_t expected = seen;

    if (!tsm_cas(w, &expected, seen | TSM_COUNT_ASLEEP, TSM_RELAXED, TSM_RELAXED))
        return;
    tsm_wait_flagged(w, seen | TSM_COUNT_ASLEEP);
    tsm_fetch_add(w, (uint32_t) -1, TSM_RELAXED);
}

/* Wait until the count is no longer `seen`, which tsm_count_read returned; acquire. Only by the
 * owner of the counter; blocking. */
static inline void tsm_wait_count(TSM_ATOMIC(uint32_t) *w, uint32_t seen, tsm_wait_policy_t policy)
{
    tsm_wait_state_t state = tsm_wait_begin(policy);

    while (tsm_count_read(w) == seen) {
        if (!tsm_wait_step(&state, 1))
            continue;
        if (policy.park)
            tsm_wait_count_park_(w, seen);
        else
            tsm_yield();
    }
}

/* Wait until the count is no longer `seen`, at most ns nanoseconds; may return early. Sleeps at once.
 * Only by the owner of the counter. */
static inline void tsm_wait_count_for(TSM_ATOMIC(uint32_t) *w, uint32_t seen, uint64_t ns)
{
    uint32_t expected = seen;

    if (!tsm_cas(w, &expected, seen | TSM_COUNT_ASLEEP, TSM_RELAXED, TSM_RELAXED))
        return;
    tsm_wait_while(w, seen | TSM_COUNT_ASLEEP, ns);
    tsm_fetch_add(w, (uint32_t) -1, TSM_RELAXED);
}

/* Add one to the count, and wake the owner if it sleeps; release. Any thread; wait-free; the owner
 * may free *w as soon as it sees the count. */
static inline void tsm_wake_count(TSM_ATOMIC(uint32_t) *w)
{
    uint32_t old = tsm_fetch_add(w, TSM_COUNT_ONE, TSM_RELEASE);

#if TSM_HAVE_FUTEX
    if (old & TSM_COUNT_ASLEEP)
        tsm_futex_(w, FUTEX_WAKE, 1);
#else
    (void) old;
#endif
}

/*
 * Invariants, tsm_wait_word: (1) a parked word means that a waiter sleeps or is about to: only a
 *             waiter writes `parked`, by CAS from `waiting`. (2) The waker writes with an exchange,
 *             so it either comes before that CAS, which then fails, or it sees `parked` and wakes.
 *             FUTEX_WAIT compares the word with `parked` in the kernel, so a change between the CAS
 *             and the sleep makes it return at once. No wake is lost.
 * Invariants, tsm_wait_count: (1) the flag is set and cleared by the owner alone, and is set only
 *             from the value that the owner has seen. (2) Every wake adds to the counter, so one
 *             before the flag makes the CAS fail, and one after it finds the flag and wakes. Two
 *             wakes in a row may both find the flag; the second is then one system call too many.
 * Progress:   blocking for the waiter; waking is wait-free.
 *
 *   release (writer)                        acquire (reader)
 *   tsm_wake_word_: swap of the new value   tsm_wait_word: the load that finds a value that is
 *                                           neither `waiting` nor `parked`
 *   tsm_wake_count: fetch-and-add           tsm_wait_count, tsm_count_read: the load that finds
 *                                           the counter grown. All writes but the initial one are
 *                                           RMWs, so it acquires from every add that it counts.
 *   whatever the writer of the condition    the access in `condition`, whose order the caller
 *   does                                    names
 *
 * Spurious wakes: the kernel may return early (signal, or a wake that was meant for an earlier use
 * of the same address). The waiter reads the word again and sleeps again; callers never see one.
 *
 * The read-modify-write is the waker's last access to the word; FUTEX_WAKE takes only the address.
 * By then the waiter may have seen the value, left and freed the memory. That is harmless: a
 * private FUTEX_WAKE does not read the memory, so an unmapped address wakes no thread, and a new
 * use of it as a futex sees at most a spurious wake.
 */

#endif /* TSM_WAIT_H_INCLUDED */
