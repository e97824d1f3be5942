/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STATS_HOOKS_H_INCLUDED
#define MPIDI_STATS_HOOKS_H_INCLUDED

/* What the hooks of --enable-thread-stats call: always inside MPIDI_STATS(), which is empty without the
 * option. Short paths are here, slow ones in hooks.c. No function waits, but for the memory of a
 * thread's record. */

#include "../thread.h"
#include "../vci.h"

#ifdef ENABLE_THREAD_STATS

#if defined(__GLIBC__) && defined(__GNUC__) && \
    ((defined(__x86_64__) && (__GNUC__ >= 11 || __clang_major__ >= 14)) || defined(__aarch64__))
#if __GLIBC_PREREQ(2, 35)
#define MPIDI_STATS_HAS_CPU 1
#endif
#endif

/* ---- the lock of a VCI ---- */

/* Slow paths: the rest of an acquisition that is looked into, since threads wait, a trace is made, or
 * the processor is not known otherwise; of a release. */
void MPIDI_stats_look(MPIDI_vci_t * vci, uintptr_t self);
void MPIDI_stats_leave(MPIDI_vci_t * vci);

/* The calling thread begins, or ends, to wait for the lock of a VCI, or for another thread that issues
 * its operation. path: MPIDI_STATS_MAIN or _PROGRESS. begin returns what end takes as cpu. */
int MPIDI_stats_wait_begin(MPIDI_vci_t * vci, int path);
void MPIDI_stats_wait_end(MPIDI_vci_t * vci, int path, int cpu);

/* Around such a wait; vci: NULL for a mutex that is not a VCI's. */
#define MPIDI_STATS_WAIT(vci_, path_, wait_) \
    do { \
        MPIDI_vci_t *vci_waited_ = vci_; \
        const int cpu_ = vci_waited_ ? MPIDI_stats_wait_begin(vci_waited_, path_) : 0; \
        wait_; \
        if (vci_waited_) \
            MPIDI_stats_wait_end(vci_waited_, path_, cpu_); \
    } while (0)

/* Threads that wait on one path, and on both. Any thread. */
static inline uint64_t MPIDI_stats_waiting_on(const MPIDI_vci_t * vci, int path)
{
    return MPIDI_STATS_WAITERS(tsm_load(&vci->stats.waiting, TSM_RELAXED), path);
}

static inline uint64_t MPIDI_stats_waiting(const MPIDI_vci_t * vci)
{
    const uint64_t word = tsm_load(&vci->stats.waiting, TSM_RELAXED);

    return MPIDI_STATS_WAITERS(word, MPIDI_STATS_MAIN) +
        MPIDI_STATS_WAITERS(word, MPIDI_STATS_PROGRESS);
}

/* The processor that the calling thread runs on, as the kernel writes it to a place that glibc keeps
 * for each thread. sched_getcpu returns the same, but takes twice as many instructions as all the rest
 * of an acquisition here. Where there is no such place, each acquisition is looked into. */
#ifdef MPIDI_STATS_HAS_CPU
#define MPIDI_STATS_CPU(vci_) \
    (*(const volatile int *) ((const char *) __builtin_thread_pointer() + (vci_)->stats.cpu_at))
#else
#define MPIDI_STATS_CPU(vci_) (-1)
#endif

/* The calling thread has the lock now. self: a number that no other thread has meanwhile, not 0, and of
 * the same kind in each call. */
static inline void MPIDI_stats_acquired(MPIDI_vci_t * vci, uintptr_t self)
{
    MPIDI_count(&vci->held.acquired, 1);
    if (__builtin_expect(tsm_load(&vci->stats.waiting, TSM_RELAXED) != 0, 0)) {
        MPIDI_stats_look(vci, self);
    } else {
        vci->held.last = self;
        vci->held.last_cpu = MPIDI_STATS_CPU(vci);
    }
}

/* This acquisition was one of the progress loop. By the holder. A reader that counts it finds it in
 * `acquired` as well, so their difference is never negative. */
static inline void MPIDI_stats_progress_path(MPIDI_vci_t * vci)
{
    MPIDI_count_after(&vci->held.progress, 1);
}

/* By the holder, before the release. */
static inline void MPIDI_stats_release(MPIDI_vci_t * vci)
{
    if (__builtin_expect(vci->held.tenure != 0, 0))
        MPIDI_stats_leave(vci);
}

/* The holder has issued n operations for other threads. */
static inline void MPIDI_stats_combined(MPIDI_vci_t * vci, uint64_t n)
{
    MPIDI_count(&vci->stats.combined, n);
    vci->held.tenure += (unsigned) n;
}

/* The holder has taken n operations in a row from the queue, and issued them. */
static inline void MPIDI_stats_taken(MPIDI_vci_t * vci, uint64_t n)
{
    MPIDI_count(&vci->stats.taken, n);
    MPIDI_count_most(&vci->stats.queue_most, n);
    MPIDI_stats_combined(vci, n);
}

/* The holder has polled once, and counted that in vci->polls. found: it made progress. Definitions 5.5
 * and 5.6 of TOPC: a poll without progress is unsuccessful, and wasted if threads wait to enter the
 * main path. */
static inline void MPIDI_stats_polled(MPIDI_vci_t * vci, int found)
{
    if (!found) {
        MPIDI_count(&vci->stats.polls_vain, 1);
        if (MPIDI_stats_waiting_on(vci, MPIDI_STATS_MAIN))
            MPIDI_count(&vci->stats.polls_wasted, 1);
    }
}

/* A receive or message joins, or leaves, a queue of the VCI that the caller holds. */
static inline void MPIDI_stats_queued(MPIDI_queue_stats_t * queue)
{
    MPIDI_count(&queue->length, 1);
    MPIDI_count_most(&queue->longest, tsm_load(&queue->length, TSM_RELAXED));
}

static inline void MPIDI_stats_dequeued(MPIDI_queue_stats_t * queue)
{
    MPIDI_count(&queue->length, (uint64_t) -1);
}

/* ---- of the calling thread ---- */

/* way, kind: MPIDI_STATS_*. */
static inline void MPIDI_stats_issued(int way, int kind)
{
    MPIDI_count(&MPIDI_thread_self()->stats.issued[way][kind], 1);
}

/* Count n in one of its counters. */
#define MPIDI_STATS_COUNT(counter_, n_) MPIDI_count(&MPIDI_thread_self()->stats.counter_, n_)

/* The calling thread is about to post: 1 if that is to be timed. */
static inline int MPIDI_stats_post_is_timed(void)
{
    MPIDI_thread_stats_t *s = &MPIDI_thread_self()->stats;

    if (s->until_timed-- > 0)
        return 0;
    s->until_timed = MPIDI_STATS_POSTS - 1;
    return 1;
}

/* The time since begin_ns, of a post that is timed. */
void MPIDI_stats_post_took(uint64_t begin_ns);

/* ---- requests ---- */

/* Completions of a thread between two samples of the dangling requests (Definition 5.7), and so many
 * more for each thread there is: a sample reads two lines of each thread, which others write. */
#define MPIDI_STATS_SAMPLE 64
#define MPIDI_STATS_SAMPLE_THREAD 64

/* Take a sample. Returns the completed requests that are not freed. Any thread. */
uint64_t MPIDI_stats_sample_dangling(void);

/* Slow path: count a completion, and take a sample. */
void MPIDI_stats_completed_sample(void);

/* The calling thread has completed a request, which it has a reference on. A partitioned request, which
 * completes once for each start, counts once. *counted: the request's. */
static inline void MPIDI_stats_completed(int *counted)
{
    if (*counted)
        return;
    *counted = 1;
    if (__builtin_expect(--MPIDI_thread_local.until_sample < 0, 0))
        MPIDI_stats_completed_sample();
    else                        /* it has taken a sample, so it has a record */
        MPIDI_count(&MPIDI_thread_local.self->stats.completed, 1);
}

/* The calling thread, self, has dropped the last reference on a request. A reader that counts the free
 * also counts the completion, so their difference is never negative. */
static inline void MPIDI_stats_freed(MPIDI_thread_t * self, int *counted)
{
    MPIDI_count_after(&self->stats.freed, (uint64_t) * counted);
    *counted = 0;
}

/* ---- start and end ---- */

/* What the samples of the dangling requests add up to; any thread writes, seldom. */
typedef struct MPIDI_stats_dangling {
    MPIDI_count_t samples;
    MPIDI_count_t sum;
    MPIDI_count_t most;
} MPIDI_stats_dangling_t;

extern MPIDI_stats_dangling_t MPIDI_stats_dangling;

/* The sum of a counter, given by its place in MPIDI_thread_stats_t, over all threads. Any thread. */
uint64_t MPIDI_stats_sum(size_t offset);

/* Look into each acquisition from now on. By the one thread in MPI. */
void MPIDI_stats_look_always(void);

/* In MPI_Init, with the VCIs made, and in MPI_Finalize; by the one thread in MPI. Without memory no
 * contention of cores and NUMA nodes is counted. */
void MPIDI_stats_open(void);
void MPIDI_stats_close(void);

#else
#define MPIDI_STATS_WAIT(vci_, path_, wait_) do { wait_; } while (0)
#endif

#endif /* MPIDI_STATS_HOOKS_H_INCLUDED */
