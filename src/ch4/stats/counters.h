/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STATS_COUNTERS_H_INCLUDED
#define MPIDI_STATS_COUNTERS_H_INCLUDED

/* What a library configured with --enable-thread-stats counts, and the macro in which every hook
 * stands: without the option it is empty, and the structs below do not exist. Each counter has one
 * writer at a time, the holder of the VCI or the thread whose record it is in, so counting needs no
 * atomic addition and shares no cache line that was not shared before. Any thread may read (pvars.c).
 * In global the holder of a VCI is that of the lock of the process (section/counted_lock.h).
 * hooks.h has what the hooks call.
 *
 * Definitions are those of TOPC section 5; the number is given with each. */

/* How long a nonblocking call leaves a taken lock alone (progress/poll.c): twice as long each time.
 * Each of so many levels has a counter; the last is the default of MPIR_CVAR_CH4_TEST_BACKOFF_NSEC. */
#define MPIDI_BACKOFF_FIRST_NS 250
#define MPIDI_BACKOFF_LEVELS 7

#include "tsm/tsm_atomic.h"

typedef TSM_ATOMIC(uint64_t) MPIDI_count_t;

/* By the one writer. On x86-64 one instruction, which is no locked one; compilers make three of the two
 * accesses. _after: a reader that counts it (acquire) also finds what the writer counted before. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
static inline void MPIDI_count(MPIDI_count_t * counter, uint64_t n)
{
    __asm__ __volatile__("addq %1, %0":"+m"(*(volatile uint64_t *) counter):"er"(n):"cc");
}

static inline void MPIDI_count_after(MPIDI_count_t * counter, uint64_t n)
{
    __asm__ __volatile__("addq %1, %0":"+m"(*(volatile uint64_t *) counter):"er"(n):"cc", "memory");
}
#else
static inline void MPIDI_count(MPIDI_count_t * counter, uint64_t n)
{
    tsm_store(counter, tsm_load(counter, TSM_RELAXED) + n, TSM_RELAXED);
}

static inline void MPIDI_count_after(MPIDI_count_t * counter, uint64_t n)
{
    tsm_store(counter, tsm_load(counter, TSM_RELAXED) + n, TSM_RELEASE);
}
#endif

#ifdef ENABLE_THREAD_STATS
#define MPIDI_STATS(...) do { __VA_ARGS__; } while (0)
#define MPIDI_STATS_ARE_ON 1

/* How an operation was issued, and what it is. */
enum { MPIDI_STATS_DIRECT, MPIDI_STATS_POSTED, MPIDI_STATS_DELEGATED, MPIDI_STATS_WAYS };
enum { MPIDI_STATS_SEND, MPIDI_STATS_RECV, MPIDI_STATS_RMA, MPIDI_STATS_KINDS };

/* The execution paths of TOPC section 6.2: a call's own work, and the progress loop. */
enum { MPIDI_STATS_MAIN, MPIDI_STATS_PROGRESS, MPIDI_STATS_PATHS };

/* Where the bias of a lock is measured: between threads, cores and NUMA nodes. */
enum { MPIDI_STATS_THREAD, MPIDI_STATS_CORE, MPIDI_STATS_NUMA, MPIDI_STATS_LEVELS };

/* Buckets of the histograms; bucket i counts values from 2^i, and the last one all above. */
#define MPIDI_STATS_TIMES 24    /* nanoseconds; 0 is in bucket 0 */
#define MPIDI_STATS_BATCHES 16  /* operations */

/* Of so many posts of a thread the first is timed: reading the clock twice takes longer than a post. */
#define MPIDI_STATS_POSTS 16

/* A fair score of 1. */
#define MPIDI_STATS_FAIR_ONE (1u << 20)

/* Of a thread, which is the one writer. Passes on with its record. */
typedef struct MPIDI_thread_stats {
    MPIDI_count_t issued[MPIDI_STATS_WAYS][MPIDI_STATS_KINDS];
    MPIDI_count_t completed;    /* requests */
    MPIDI_count_t freed;        /* requests that had been completed */
    int until_timed;            /* posts before the next one whose time is measured */
    MPIDI_count_t waits[MPIDI_STATS_PATHS];     /* times that it blocked on the lock of a VCI */
    MPIDI_count_t misses;       /* polls that found the lock taken and left */
    MPIDI_count_t post_time[MPIDI_STATS_TIMES]; /* of one post in MPIDI_STATS_POSTS */
    MPIDI_count_t backoff[MPIDI_BACKOFF_LEVELS];
    MPIDI_count_t yields;
    MPIDI_count_t sleeps;
    MPIDI_count_t wakes;        /* of other threads, by this one */
    MPIDI_count_t usc_served;   /* times that it became the poller of a VCI */
    MPIDI_count_t usc_left;
    MPIDI_count_t server_turns;
    MPIDI_count_t server_idle;  /* turns that found nothing */
    MPIDI_count_t server_naps;
    MPIDI_count_t server_rung;  /* naps that a thread ended */
    struct MPIDI_trace_buffer *trace;   /* NULL: it is not traced (trace.h) */
} MPIDI_thread_stats_t;

/* The length of a queue of the receiver. */
typedef struct MPIDI_queue_stats {
    MPIDI_count_t length;
    MPIDI_count_t longest;
} MPIDI_queue_stats_t;

/* Threads that wait for a VCI, by path, in one word, so that the holder makes one test of it. With
 * the last bit an acquisition is looked into though nobody waits: see MPIDI_stats_look. */
#define MPIDI_STATS_WAITER(path_) ((uint64_t) 1 << (31 * (path_)))
#define MPIDI_STATS_WAITERS(word_, path_) ((word_) >> (31 * (path_)) & 0x7fffffff)
#define MPIDI_STATS_LOOK ((uint64_t) 1 << 63)

/* What each holder writes, in a line of vci.h that it writes anyway when it polls. */
typedef struct MPIDI_vci_held {
    MPIDI_count_t acquired;
    MPIDI_count_t progress;     /* of these, acquisitions by the progress loop */
    uintptr_t last;             /* the last holder, as MPIDI_stats_acquired has it; 0: none */
    int last_cpu;               /* on which processor that was; -1: not known */
    unsigned tenure;            /* operations that this holder has issued for others; plus _TRACED */
} MPIDI_vci_held_t;

/* This holder is recorded (trace.h). */
#define MPIDI_STATS_TRACED (1u << 31)

typedef struct MPIDI_vci_stats {
    /* written by threads that wait for the lock, read by the holder when it enters */
    MPIDI_count_t waiting TSM_ALIGNED;  /* see MPIDI_STATS_WAITER */
    ptrdiff_t cpu_at;           /* read only: see MPIDI_STATS_CPU */
    MPIDI_count_t waiting_most;
    /* of waiting threads, for each core and NUMA node (places.h); NULL before MPI_Init and after
     * MPI_Finalize */
    TSM_ATOMIC(int) *waiting_core;
    TSM_ATOMIC(int) *waiting_node;      /* NULL with one node, too */
    /* written by a holder for which receives or messages wait, whose poll finds nothing, or that issues
     * for others */
    MPIDI_queue_stats_t posted TSM_ALIGNED;     /* receives */
    MPIDI_queue_stats_t unexpected;     /* messages */
    MPIDI_count_t polls_vain;   /* Definition 5.5 */
    MPIDI_count_t combined;     /* operations issued for other threads, or from the queue */
    MPIDI_count_t taken;        /* operations taken from the queue */
    MPIDI_count_t tenures;      /* acquisitions with operations issued for others */
    /* and so far, with up to 63 of them, by one that does so; the rest with contention or a trace */
    MPIDI_count_t queue_most;   /* most taken in a row */
    MPIDI_count_t tenure_most;
    MPIDI_count_t batches[MPIDI_STATS_BATCHES];
    struct MPIDI_trace_record *traced;  /* of this holder, if it is recorded */
    MPIDI_count_t polls_wasted; /* Definition 5.6 */
    MPIDI_count_t contended;    /* acquisitions while other threads waited */
    MPIDI_count_t waiting_sum;  /* threads in competition, over these acquisitions */
    MPIDI_count_t crowded;      /* of these, those with more threads than processors (tsm_load.h) */
    MPIDI_count_t monopolized[MPIDI_STATS_LEVELS];      /* Definition 5.2: M(S) */
    MPIDI_count_t fair[MPIDI_STATS_LEVELS];     /* Definition 5.3: F(S), in MPIDI_STATS_FAIR_ONE */
} MPIDI_vci_stats_t;

static inline void MPIDI_count_most(MPIDI_count_t * most, uint64_t n)
{
    if (n > tsm_load(most, TSM_RELAXED))
        tsm_store(most, n, TSM_RELAXED);
}

/* The bucket of a value. */
static inline int MPIDI_count_bucket(uint64_t value, int buckets)
{
    int i = value ? 63 - __builtin_clzll(value) : 0;

    return i < buckets ? i : buckets - 1;
}

#else
#define MPIDI_STATS(...) do { } while (0)
#define MPIDI_STATS_ARE_ON 0
#endif

#endif /* MPIDI_STATS_COUNTERS_H_INCLUDED */
