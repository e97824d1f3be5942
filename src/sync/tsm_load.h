/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The measure of load: how many threads of the node's processes want a processor, and how many
 * processors they may use. Locks, gates and waits ask it whether to spin or to yield. Each process
 * has one instance, in tsm_load.c, which every program that uses src/sync links.
 *
 * Interface:  tsm_load_touch()       the calling thread runs in the library
 *             tsm_load_sleep(1 | 0)  the calling thread begins or ends a wait
 *             tsm_load_rest()        this process has no work for now
 *             tsm_load_crowded()     1 if more threads want a processor than there are processors
 *             tsm_load_processors()  processors that this process may use
 *             tsm_load_wanted()      threads of this process that want one, at the last refresh
 *             tsm_load_share(), tsm_load_unshare()    count the node's other processes, too
 *             tsm_load_override()    set the result instead of measuring
 *             tsm_now_ns()           the clock
 *
 * Threads:    any number, and they may end at any time. A child of fork keeps the calling thread
 *             only, and shares nothing.
 *
 * Define TSM_LOAD_REPLACED to use your own functions instead of tsm_load.c (as test/model does,
 * whose programs have no thread-local variables).
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_LOAD_H_INCLUDED
#define TSM_LOAD_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "tsm_atomic.h"

/* A thread counts for this long after its last touch. Longer than a time slice of the scheduler (3
 * to 24 ms on Linux), so that a preempted thread still counts. */
#define TSM_LOAD_WINDOW_MS 32

/* Another process counts for this long after its last refresh. */
#define TSM_LOAD_SHARED_MS 128

/* Processors that a mask has room for: the most that Linux can be built for. */
#define TSM_LOAD_CPUS  8192
#define TSM_LOAD_WORDS (TSM_LOAD_CPUS / 64)

/* What one process of the node publishes to the others. Only tsm_load.c reads it. */
typedef struct tsm_load_slot {
    TSM_ATOMIC(uint32_t) tick;          /* milliseconds, at the last refresh; 0: not in use */
    TSM_ATOMIC(uint32_t) wanted;
    TSM_ATOMIC(uint32_t) words;         /* of the mask, up to the last processor in it */
    char pad[TSM_CACHELINE - 3 * sizeof(uint32_t)];
    TSM_ATOMIC(uint64_t) mask[TSM_LOAD_WORDS];
} tsm_load_slot_t;

/* Nanoseconds of a clock that never goes back. Tests may replace it. */
static inline uint64_t tsm_now_ns(void)
{
#ifdef TSM_NOW_NS
    return TSM_NOW_NS();
#else
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
#endif
}

/* Count the other processes as well. slots: an array of n in memory that all processes of the node
 * share, zeroed when it was created; slots[mine] is ours alone. It must stay until
 * tsm_load_unshare(). Ends an earlier sharing. Any thread. */
void tsm_load_share(tsm_load_slot_t *slots, int n, int mine);

/* Count this process only, and leave the others' count. Any thread, any time. */
void tsm_load_unshare(void);

/* The process has nothing to do: the others do not count it until its next refresh. By its only thread,
 * before a sleep. */
void tsm_load_rest(void);

/* -1: measure; 0: never crowded; 1: always crowded. Any thread, any time. */
void tsm_load_override(int crowded);

/* Threads of this process that wanted a processor at the last refresh. */
int tsm_load_wanted(void);

#ifdef TSM_LOAD_REPLACED

void tsm_load_touch(void);
void tsm_load_sleep(int asleep);
int tsm_load_crowded(void);
int tsm_load_processors(void);

#else

/* What a thread publishes to the refresh. */
typedef struct tsm_load_record {
    TSM_ATOMIC(uint32_t) tick;          /* of the last touch; written, like the next, */
    TSM_ATOMIC(uint32_t) in_wait;       /* by the thread alone */
    uint32_t touches;                   /* until it looks at the clock; the thread's own */
    int tid;
    struct tsm_load_record *next;       /* the links: guarded by the mutex */
    struct tsm_load_record *prev;
} tsm_load_record_t;

/* The present figures, read by all threads and written about once in a millisecond. */
typedef struct tsm_load_figures {
    TSM_ATOMIC(uint32_t) tick;          /* of the last refresh */
    TSM_ATOMIC(uint32_t) crowded;
    TSM_ATOMIC(int) processors;         /* 0: not yet known */
    TSM_ATOMIC(int) wanted;
    TSM_ATOMIC(int) override;
    TSM_ATOMIC(uint64_t) due;           /* when the next refresh is due */
} tsm_load_figures_t;

extern tsm_load_figures_t tsm_load_figures_;
extern __thread tsm_load_record_t *tsm_load_self_ __attribute__((tls_model("initial-exec")));
/* The yields of the thread (tsm_wait.h): one count for all files, since thread-local memory is scarce
 * in a library. */
extern __thread unsigned tsm_load_yields_ __attribute__((tls_model("initial-exec")));

/* The rare halves of the functions below. */
void tsm_load_touch_slow_(void);
int tsm_load_crowded_slow_(void);
int tsm_load_processors_slow_(void);

/* The calling thread runs or polls in the library now. */
static inline void tsm_load_touch(void)
{
    tsm_load_record_t *self = tsm_load_self_;

    if (self == NULL || --self->touches == 0) {
        tsm_load_touch_slow_();
    } else {
        uint32_t tick = tsm_load(&tsm_load_figures_.tick, TSM_RELAXED);
        tsm_store(&self->tick, tick, TSM_RELAXED);
    }
}

/* The calling thread begins (1) or ends (0) a wait, in which it counts even if it does not run.
 * Does not nest: the first 0 ends it. */
static inline void tsm_load_sleep(int asleep)
{
    tsm_load_touch();
    if (tsm_load_self_ != NULL)
        tsm_store(&tsm_load_self_->in_wait, (uint32_t) asleep, TSM_RELAXED);
}

/* 1 if the threads that want a processor outnumber the processors that this process may use. */
static inline int tsm_load_crowded(void)
{
    return tsm_load(&tsm_load_figures_.crowded, TSM_RELAXED) && tsm_load_crowded_slow_();
}

/* Processors that this process may use, at least 1. */
static inline int tsm_load_processors(void)
{
    int processors = tsm_load(&tsm_load_figures_.processors, TSM_RELAXED);

    return processors > 0 ? processors : tsm_load_processors_slow_();
}

#endif /* TSM_LOAD_REPLACED */

/*
 * Counting.   A thread wants a processor if it has touched the library within the last
 *             TSM_LOAD_WINDOW_MS or is in a wait, asleep or not. A thread that called the library
 *             long ago does not count. The processors are the union of the affinity masks of the
 *             threads that have touched the library and have not ended. Each refresh reads a few
 *             masks again, so it notices a thread that is bound later. Another process counts while
 *             its processors intersect ours and its figures are younger than TSM_LOAD_SHARED_MS, so
 *             a process that died stops counting.
 * Refresh.    One thread at a time takes the figures, at most once in about a millisecond, or when
 *             a new thread starts while the load is not crowded; the others use the last figures.
 *             Every 64th touch checks whether a refresh is due, and so does each tsm_load_crowded()
 *             that is about to return 1. So "crowded" is about a millisecond old at most, and "not
 *             crowded" is as old as 64 touches: a loop that waits must touch, or call tsm_yield(),
 *             which does. A refresh reads one cache line for each thread; with thousands of threads
 *             refreshes become rarer, so that they take about 1/32 of one thread's time. After
 *             TSM_LOAD_WINDOW_MS without a refresh, the first one counts only the caller and the
 *             threads in a wait; the next one is right.
 * Invariants: (1) All figures are hints: a wrong one costs speed and never correctness. (2) A
 *             thread writes only its own record, and on a path that runs often nothing else.
 *             (3) A mutex guards the list of records. A refresh and a thread's first touch only try
 *             it; a thread that ends, a fork, and tsm_load_share, _unshare, _rest and _override wait
 *             for it. (4) A record is on the list until its thread ends, so a thread id on the list
 *             is that of a living thread.
 * Progress:   touch, sleep, crowded and processors are bounded; wait-free but for a thread's first
 *             call, which allocates its record. No call of these waits for the mutex.
 * Pairs:      none: every access is relaxed, because the figures carry no other data.
 */

#endif /* TSM_LOAD_H_INCLUDED */
