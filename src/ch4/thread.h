/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_THREAD_H_INCLUDED
#define MPIDI_THREAD_H_INCLUDED

/* What the library keeps for each thread that calls it. The record is made when the thread first needs
 * it and passes to another thread when it exits. A few words that every critical section needs are
 * thread-local variables, which saves a pointer. Only the thread itself writes either, except where
 * noted. */

#include "stats/counters.h"
#include "tsm/tsm_atomic.h"
#include "tsm/tsm_usc.h"

/* Whether there are such records: in global for the statistics alone. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI || defined(ENABLE_THREAD_STATS)
#define MPIDI_THREAD_HAS_RECORDS 1
#else
#define MPIDI_THREAD_HAS_RECORDS 0
#endif

#define MPIDI_THREAD_REQUEST_POOLS 64   /* = MPIR_REQUEST_NUM_POOLS, checked in request_cache.c */

typedef struct MPIDI_request_cache {
    void *head;                 /* free objects, linked through MPIR_Handle_common.next */
    int count;
} MPIDI_request_cache_t;

/* The most VCIs that one wait can sleep for. */
#define MPIDI_THREAD_LINKS 16

/* What a thread has seen of one VCI; see progress/poll.h. */
typedef struct MPIDI_thread_watch {
    int polls;                  /* the VCI's count of polls when it was last looked at */
    int misses;                 /* times that the lock was taken since */
    int taken;                  /* polls of waits in a row that found it taken */
    int polled;                 /* the count after its last poll from elsewhere; see elsewhere.h */
    int is_left_alone;          /* no other thread drives it */
    uint32_t backoff_ns;        /* of nonblocking calls; 0: none */
    uint64_t not_before;        /* nonblocking calls leave the lock alone until then */
} MPIDI_thread_watch_t;

/* Its mailbox of a VCI's combiner; see combiner.h. */
typedef struct MPIDI_thread_member {
    struct MPIDI_combiner *combiner;    /* NULL: it has none */
    int id;
} MPIDI_thread_member_t;

/* Threads that it wakes at once; see complete.h. */
#define MPIDI_THREAD_WAKES 8

/* It has taken in early messages (transport/early.h); it leaves taken locks alone (poll.h). */
#define MPIDI_THREAD_EARLY 1u
#define MPIDI_THREAD_BACKS_OFF 2u

typedef struct MPIDI_thread {
    struct MPIDI_thread *next;  /* all records; see thread.c */
    TSM_ATOMIC(int) state;
    TSM_ATOMIC(int) waits;      /* calls that it waits in; read by MPI_Finalize */
    struct MPIDI_op_pool *op_pool;      /* passed on with the record; see op_pool.h */
#ifdef ENABLE_THREAD_STATS
    MPIDI_thread_stats_t stats; /* likewise; read by any thread */
#endif
    /* from here on as new for each thread */
    int tests;                  /* nonblocking calls without result until it offers its processor */
    unsigned attention;         /* MPIDI_THREAD_*: what it looks into before its next poll */
    int backing_off;            /* VCIs whose backoff_ns is not 0 */
    int early;                  /* messages it took in before their receives, since its last yield */
    tsm_usc_waiter_t waiter;    /* other threads write it and the links; see tsm_usc.h */
    tsm_usc_link_t links[MPIDI_THREAD_LINKS];
    MPIDI_thread_watch_t watch[MPIDI_CH4_MAX_VCIS];
    tsm_usc_waiter_t *wake[MPIDI_THREAD_WAKES];
    struct {
        unsigned polls;
        unsigned sleeps;
        int slept;              /* since the last wait that polled in vain began */
    } crowded;                  /* see progress/wait.c */
    struct tsm_wfq_handle *post_handle[MPIDI_CH4_MAX_VCIS];     /* see post_queue.h */
    MPIDI_thread_member_t member[MPIDI_CH4_MAX_VCIS];
    MPIDI_request_cache_t cache[MPIDI_THREAD_REQUEST_POOLS];
} MPIDI_thread_t;

/* What a section of any mutex of MPICH, and one of a VCI, adds to `held`. */
#define MPIDI_THREAD_SECTION 1
#define MPIDI_THREAD_VCI (1 << 16 | MPIDI_THREAD_SECTION)

typedef struct MPIDI_thread_local {
    MPIDI_thread_t *self;       /* NULL before the first need */
    int to_wake;                /* pending wakes: the number in self->wake */
    int held;                   /* critical sections it is in: one of the two values above for each */
    int draining;               /* it is issuing posted operations; see posted.h */
    int is_server;              /* it is a thread of the library that drives VCIs; see served.h */
    unsigned completed;         /* requests that it has completed; wraps around */
    unsigned arrived;           /* cells of shared memory that it has taken in; wraps around */
    unsigned handled;           /* those of them for no request of this process; drive.h */
    unsigned turns;             /* in vain, of its wait for one-sided operations; section.h */
    int is_low;                 /* it enters sections with low priority */
#ifdef ENABLE_THREAD_STATS
    int until_sample;           /* completions until it takes a sample, less 1; 0 without a record */
#endif
} MPIDI_thread_local_t;

/* initial-exec saves a call on every access, but all of the library's thread-local memory must then fit
 * into the little that the C library keeps for libraries that are loaded at run time: test/dlopen. */
extern __thread MPIDI_thread_local_t MPIDI_thread_local __attribute__((tls_model("initial-exec")));

/* See MPIDI_thread_self. Waits for no thread, but allocates. */
MPIDI_thread_t *MPIDI_thread_create(void);

/* 1 if the calling thread holds a VCI. */
static inline int MPIDI_thread_holds_vci(void)
{
    return MPIDI_thread_local.held >= MPIDI_THREAD_VCI;
}

/* A number that changes when the calling thread completes a request or handles a cell. */
static inline unsigned MPIDI_thread_done(void)
{
    return MPIDI_thread_local.completed + MPIDI_thread_local.handled;
}

/* Returns the calling thread's record. Without memory it prints a message and ends the program. */
static inline MPIDI_thread_t *MPIDI_thread_self(void)
{
    MPIDI_thread_t *self = MPIDI_thread_local.self;
    return self ? self : MPIDI_thread_create();
}

/* The calling thread begins (1) or ends (-1) a wait that lasts. They nest. */
static inline void MPIDI_thread_count_wait(int n)
{
    MPIDI_thread_t *self = MPIDI_thread_self();

    tsm_store(&self->waits, tsm_load(&self->waits, TSM_RELAXED) + n, TSM_RELAXED);
}

/* Other threads that are in such a wait. Any thread. */
int MPIDI_thread_others_wait(void);

/* Call fn, in the thread itself, for each thread that exits from now on. By one thread, in MPI_Init. */
void MPIDI_thread_at_exit(void (*fn) (MPIDI_thread_t * thread));

/* The records of all threads that are or were in MPI: the first, then ->next of each. They stay until
 * the process ends. Any thread, which reads only what other threads may read. */
MPIDI_thread_t *MPIDI_thread_first(void);

/* Call fn for all records, those without a thread, too. Waits for threads that are ending, as they wait
 * for fn. By one thread, while no other is in MPI. */
void MPIDI_thread_foreach(void (*fn) (MPIDI_thread_t * thread));

#endif /* MPIDI_THREAD_H_INCLUDED */
