/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_THREAD_H_INCLUDED
#define CH4_THREAD_H_INCLUDED

/* What the library keeps for each thread that calls it: its back-off state and its caches of
 * request objects. Made at the thread's first need, taken apart when the thread exits. */

#include "tsm/tsm_atomic.h"

struct MPIR_Request;

#define MPIDI_TSM_REQUEST_POOLS 64      /* = MPIR_REQUEST_NUM_POOLS, checked in ch4_thread.c */

typedef struct MPIDI_tsm_cache {
    void *head;                 /* free objects, linked through MPIR_Handle_common.next */
    int count;
} MPIDI_tsm_cache_t;

typedef struct MPIDI_tsm_thread {
    struct MPIDI_tsm_thread *next, *prev;       /* all threads, under the lock in ch4_thread.c */
    unsigned idle;              /* polls in a row that found nothing to do or a busy lock */
    int unexpected;             /* messages taken in early, since the last yield, for others */
    struct {
        int polls;              /* the VCI's count when its lock was found taken the last time */
        int misses;             /* how often it was taken, with nobody driving in between */
        unsigned skip;          /* nonblocking calls that will not try the lock */
        unsigned skip_max;      /* the current back-off of nonblocking calls */
    } watch[MPIDI_CH4_MAX_VCIS];
    /* see ch4_usc.h */
    TSM_ATOMIC(uint32_t) sleep;
    TSM_ATOMIC(int) takers;
    struct MPIDI_tsm_thread *sleep_next, *sleep_prev;
    struct MPIDI_tsm_thread *wake_next; /* of those that another thread will wake */
    MPIDI_tsm_cache_t cache[MPIDI_TSM_REQUEST_POOLS];
} MPIDI_tsm_thread_t;

/* initial-exec: one pointer fits into the space that the C library keeps for libraries loaded at
 * run time, and saves a call on every access. */
extern __thread MPIDI_tsm_thread_t *MPIDI_tsm_self_ptr __attribute__((tls_model("initial-exec")));

/* Slow paths, see ch4_thread.c. */
MPIDI_tsm_thread_t *MPIDI_tsm_self_create(void);
void *MPIDI_tsm_cache_refill(int pool);
void MPIDI_tsm_cache_bypass(void *obj, int pool);
void MPIDI_tsm_cache_spill(MPIDI_tsm_thread_t * self, int pool);
void MPIDI_tsm_thread_open(void);
void MPIDI_tsm_thread_close(void);
int MPIDI_tsm_oversubscribed(void);
void MPIDI_tsm_pause_server(MPIDI_tsm_thread_t * self);
int MPIDI_tsm_should_yield(const MPIDI_tsm_thread_t * self);

/* The calling thread's state, or NULL if there is no memory for it. */
static inline MPIDI_tsm_thread_t *MPIDI_tsm_self(void)
{
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self_ptr;
    return self ? self : MPIDI_tsm_self_create();
}

#endif /* CH4_THREAD_H_INCLUDED */
