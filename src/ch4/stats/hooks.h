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

#include <sched.h>

/* ---- the lock of a VCI ---- */

/* Slow paths. */
void MPIDI_stats_contended(MPIDI_vci_stats_t * s, MPIDI_thread_t * self, int cpu);
void MPIDI_stats_leave(MPIDI_vci_t * vci);
void MPIDI_trace_acquired(MPIDI_vci_t * vci, MPIDI_thread_t * self);

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

static inline uint64_t MPIDI_stats_waiting(const MPIDI_vci_stats_t * s)
{
    return tsm_load(&s->waiting[MPIDI_STATS_MAIN], TSM_RELAXED) +
        tsm_load(&s->waiting[MPIDI_STATS_PROGRESS], TSM_RELAXED);
}

/* The calling thread has the lock now. */
static inline void MPIDI_stats_acquired(MPIDI_vci_t * vci)
{
    MPIDI_vci_stats_t *s = &vci->stats;
    MPIDI_thread_t *self = MPIDI_thread_self();
    const int cpu = sched_getcpu();

    if (__builtin_expect(self->stats.trace != NULL, 0))
        MPIDI_trace_acquired(vci, self);
    MPIDI_count(&s->acquired, 1);
    if (__builtin_expect(MPIDI_stats_waiting(s) != 0, 0))
        MPIDI_stats_contended(s, self, cpu);
    s->last = self;
    s->last_cpu = cpu;
}

/* This acquisition was one of the progress loop. By the holder. Release: a reader that counts it
 * (acquire) finds it in `acquired` as well, so their difference is never negative. */
static inline void MPIDI_stats_progress_path(MPIDI_vci_t * vci)
{
    MPIDI_count_t *progress = &vci->stats.progress;

    tsm_store(progress, tsm_load(progress, TSM_RELAXED) + 1, TSM_RELEASE);
}

/* By the holder, before the release. One branch for both reasons. */
static inline void MPIDI_stats_release(MPIDI_vci_t * vci)
{
    if (__builtin_expect((vci->stats.tenure | (uintptr_t) vci->stats.traced) != 0, 0))
        MPIDI_stats_leave(vci);
}

/* The holder has issued n operations for other threads. */
static inline void MPIDI_stats_combined(MPIDI_vci_t * vci, uint64_t n)
{
    MPIDI_count(&vci->stats.combined, n);
    vci->stats.tenure += n;
}

/* The holder has taken n operations in a row from the queue, and issued them. */
static inline void MPIDI_stats_taken(MPIDI_vci_t * vci, uint64_t n)
{
    MPIDI_count(&vci->stats.taken, n);
    MPIDI_count_most(&vci->stats.queue_most, n);
    MPIDI_stats_combined(vci, n);
}

/* The holder has polled once. found: it made progress. Definitions 5.5 and 5.6 of TOPC: a poll without
 * progress is unsuccessful, and wasted if threads wait to enter the main path. */
static inline void MPIDI_stats_polled(MPIDI_vci_t * vci, int found)
{
    MPIDI_vci_stats_t *s = &vci->stats;

    MPIDI_count(&s->polls, 1);
    if (!found) {
        MPIDI_count(&s->polls_vain, 1);
        if (tsm_load(&s->waiting[MPIDI_STATS_MAIN], TSM_RELAXED))
            MPIDI_count(&s->polls_wasted, 1);
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

/* The calling thread has completed a request, which it has a reference on. A partitioned request, which
 * completes once for each start, counts once. *counted: the request's. */
static inline void MPIDI_stats_completed(int *counted)
{
    MPIDI_thread_stats_t *s = &MPIDI_thread_self()->stats;

    if (*counted)
        return;
    *counted = 1;
    MPIDI_count(&s->completed, 1);
    if (__builtin_expect(--s->until_sample <= 0, 0))
        MPIDI_stats_sample_dangling();
}

/* The calling thread, self, has dropped the last reference on a request. Release: a reader that counts
 * the free (acquire) also counts the completion, so their difference is never negative. */
static inline void MPIDI_stats_freed(MPIDI_thread_t * self, int *counted)
{
    if (*counted)
        tsm_store(&self->stats.freed, tsm_load(&self->stats.freed, TSM_RELAXED) + 1, TSM_RELEASE);
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

/* In MPI_Init, with the VCIs made, and in MPI_Finalize; by the one thread in MPI. Without memory no
 * contention of cores and NUMA nodes is counted. */
void MPIDI_stats_open(void);
void MPIDI_stats_close(void);

#else
#define MPIDI_STATS_WAIT(vci_, path_, wait_) do { wait_; } while (0)
#endif

#endif /* MPIDI_STATS_HOOKS_H_INCLUDED */
