/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "threads/watched.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#define NANO 1000000000u

int MPIDI_watchdog_on;

static TSM_ATOMIC(MPIDI_watched_t *) records;
static __thread MPIDI_watched_t *mine;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static TSM_ATOMIC(int) has_key;

uint64_t MPIDI_watched_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * NANO + (uint64_t) t.tv_nsec;
}

static long lwp_of_self(void)
{
#ifdef __linux__
    return (long) syscall(SYS_gettid);
#else
    return 0;
#endif
}

static void record_exit(void *arg)
{
    MPIDI_watched_t *r = arg;

    mine = NULL;
    r->inside = NULL;
    tsm_store(&r->count, 0, TSM_RELAXED);
    tsm_store(&r->call, NULL, TSM_RELAXED);
    tsm_store(&r->since, 0, TSM_RELAXED);
    tsm_store(&r->lock_since, 0, TSM_RELAXED);
    tsm_store(&r->used, 0, TSM_RELEASE);
}

static void make_exit_key(void)
{
    int err = pthread_key_create(&exit_key, record_exit);
    MPIR_Assert(err == 0);
    tsm_store(&has_key, 1, TSM_RELAXED);
}

/* The library may be unloaded before its threads end: no destructor may call into it then. */
__attribute__((destructor)) static void end_of_library(void)
{
    if (tsm_swap(&has_key, 0, TSM_RELAXED))
        pthread_key_delete(exit_key);
}

MPIDI_watched_t *MPIDI_watched_first(void)
{
    return tsm_load(&records, TSM_ACQUIRE);
}

MPIDI_watched_t *MPIDI_watched_self(void)
{
    return mine;
}

static MPIDI_watched_t *reused_record(void)
{
    for (MPIDI_watched_t * r = MPIDI_watched_first(); r; r = r->next) {
        int unused = 0;
        if (tsm_cas(&r->used, &unused, 1, TSM_ACQUIRE, TSM_RELAXED))
            return r;
    }
    return NULL;
}

/* Returns NULL without memory; then the watchdog does not see the thread's waits. */
static MPIDI_watched_t *new_record(void)
{
    MPIDI_watched_t *r = reused_record();

    pthread_once(&exit_key_once, make_exit_key);
    if (!r) {
        /* not MPL's tracing allocator: records outlive MPI_Finalize */
        r = (calloc) (1, sizeof(*r));
        if (!r)
            return NULL;
        tsm_store(&r->used, 1, TSM_RELAXED);
        r->next = tsm_load(&records, TSM_RELAXED);
        while (!tsm_cas(&records, &r->next, r, TSM_RELEASE, TSM_RELAXED));
    }
    tsm_store(&r->thread, (unsigned long) pthread_self(), TSM_RELAXED);
    tsm_store(&r->lwp, lwp_of_self(), TSM_RELAXED);
    if (tsm_load(&has_key, TSM_RELAXED))
        pthread_setspecific(exit_key, r);
    return r;
}

/* A handler that interrupts this sees no requests, or all of them. */
static void set_requests(int count, struct MPIR_Request **reqs)
{
    tsm_store(&mine->count, 0, TSM_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    tsm_store(&mine->reqs, reqs, TSM_RELAXED);
    atomic_signal_fence(memory_order_seq_cst);
    tsm_store(&mine->count, count, TSM_RELAXED);
}

void MPIDI_watchdog_register(void)
{
    if (!mine)
        mine = new_record();
}

void MPIDI_watchdog_clear(const char *call, int count, struct MPIR_Request **reqs)
{
    if (!mine && !(mine = new_record()))
        return;
    tsm_store(&mine->since, 0, TSM_RELAXED);
    tsm_store(&mine->call, call ? call : mine->inside, TSM_RELAXED);
    set_requests(count, reqs);
    if (!call)
        MPIDI_watchdog_mark();
}

void MPIDI_watchdog_inside(const char *call)
{
    if (mine || (mine = new_record())) {
        mine->inside = call;
        MPIDI_watchdog_clear(NULL, 0, NULL);
    }
}

void MPIDI_watchdog_mark(void)
{
    if (mine && tsm_load(&mine->call, TSM_RELAXED) && !tsm_load(&mine->since, TSM_RELAXED))
        tsm_store(&mine->since, MPIDI_watched_now(), TSM_RELEASE);
}

void MPIDI_watchdog_lock_begin(int vci)
{
    if (!mine && !(mine = new_record()))
        return;
    tsm_store(&mine->lock, vci, TSM_RELAXED);
    tsm_store(&mine->lock_since, MPIDI_watched_now(), TSM_RELEASE);
}

void MPIDI_watchdog_lock_end(void)
{
    if (mine)
        tsm_store(&mine->lock_since, 0, TSM_RELAXED);
}
