/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPIDI_THREAD_HAS_RECORDS

#include "threads/combiner.h"
#include "threads/post_queue.h"
#include "threads/stats/trace.h"
#include "tsm/tsm_wait.h"

__thread MPIDI_thread_local_t MPIDI_thread_local __attribute__((tls_model("initial-exec")));

/* Records pass from threads that have ended to new ones, so the list of all records only grows, and a
 * thread's first call, which may be an MPI_Isend, waits for no lock but malloc's. HELD: its thread is
 * ending, or MPI_Finalize looks at it.
 *
 *   release: CAS of threads in add              acquire: load of threads in take, foreach
 *   release: UNUSED in thread_exit, foreach     acquire: CAS to USED in take, to HELD in foreach
 *   release: USED after fn in foreach           acquire: CAS to HELD in thread_exit */
enum { UNUSED, USED, HELD };

static TSM_ATOMIC(MPIDI_thread_t *) threads;
static void (*at_exit) (MPIDI_thread_t * thread);       /* written in MPI_Init */
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static TSM_ATOMIC(int) has_key;

static int change(MPIDI_thread_t * thread, int from, int to)
{
    return tsm_cas(&thread->state, &from, to, TSM_ACQ_REL, TSM_RELAXED);
}

static int hold(MPIDI_thread_t * thread, int *was)
{
    *was = tsm_load(&thread->state, TSM_RELAXED);
    return *was != HELD && change(thread, *was, HELD);
}

/* Make all of it as new but for what passes to the next thread. */
static void clear(MPIDI_thread_t * thread)
{
    tsm_store(&thread->waits, 0, TSM_RELAXED);
    memset(&thread->tests, 0, sizeof(*thread) - offsetof(MPIDI_thread_t, tests));
    thread->tests = MPL_MAX(MPIR_CVAR_CH4_TEST_YIELD, 1);       /* 0 until MPI_Init has read it */
    tsm_usc_waiter_init(&thread->waiter);
    for (int i = 0; i < MPIDI_THREAD_LINKS; i++)
        tsm_usc_link_init(&thread->links[i]);
}

/* Give back what the thread has of each VCI, where VCIs have locks. */
static void leave_vcis(MPIDI_thread_t * self)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    MPIDI_post_queue_thread_exit(self);
    MPIDI_combiner_thread_exit(self);
#else
    (void) self;
#endif
}

static void thread_exit(void *arg)
{
    MPIDI_thread_t *self = arg;

    tsm_usc_settle(&self->waiter);      /* a thread that is about to wake it still has its address */
    tsm_wait_until(change(self, USED, HELD), TSM_WAIT_POLL);
    if (at_exit)
        at_exit(self);
    leave_vcis(self);
    clear(self);
    MPIDI_thread_local.self = NULL;
    MPIDI_STATS(MPIDI_thread_local.until_sample = 0);
    tsm_store(&self->state, UNUSED, TSM_RELEASE);
}

static void make_exit_key(void)
{
    int err = pthread_key_create(&exit_key, thread_exit);
    MPIR_Assert(err == 0);
    tsm_store(&has_key, 1, TSM_RELAXED);
}

/* The library may be unloaded before its threads end: no destructor may call into it then. The record
 * of a thread that comes later stays in use. */
__attribute__((destructor)) static void end_of_library(void)
{
    if (tsm_swap(&has_key, 0, TSM_RELAXED))
        pthread_key_delete(exit_key);
}

/* Returns 0 or an errno value. */
static int watch_exit(MPIDI_thread_t * self)
{
    pthread_once(&exit_key_once, make_exit_key);
    if (tsm_load(&has_key, TSM_RELAXED) == 0 || pthread_setspecific(exit_key, self) == 0)
        return 0;
    return tsm_load(&has_key, TSM_RELAXED) ? ENOMEM : 0;        /* deleted meanwhile */
}

/* Returns the record of a thread that has ended, or NULL. */
static MPIDI_thread_t *take(void)
{
    MPIDI_thread_t *thread = tsm_load(&threads, TSM_ACQUIRE);

    while (thread && (tsm_load(&thread->state, TSM_RELAXED) != UNUSED ||
                      !change(thread, UNUSED, USED)))
        thread = thread->next;
    return thread;
}

/* MPL's tracing allocator is not used because it has a lock. Returns NULL without memory. */
static MPIDI_thread_t *add(void)
{
    MPIDI_thread_t *thread = (calloc) (1, sizeof(*thread));

    if (!thread)
        return NULL;
    clear(thread);
    tsm_store(&thread->state, USED, TSM_RELAXED);
    thread->next = tsm_load(&threads, TSM_RELAXED);
    while (!tsm_cas(&threads, &thread->next, thread, TSM_RELEASE, TSM_RELAXED));
    return thread;
}

MPIDI_thread_t *MPIDI_thread_create(void)
{
    MPIDI_thread_t *self = take();

    if (!self)
        self = add();
    if (!self || watch_exit(self)) {
        fprintf(stderr, "MPI: no memory for the state of a thread (%zu bytes)\n", sizeof(*self));
        abort();
    }
    MPIDI_thread_local.self = self;
    MPIDI_STATS(MPIDI_trace_join(self));
    return self;
}

void MPIDI_thread_at_exit(void (*fn) (MPIDI_thread_t * thread))
{
    at_exit = fn;
}

MPIDI_thread_t *MPIDI_thread_first(void)
{
    return tsm_load(&threads, TSM_ACQUIRE);
}

int MPIDI_thread_others_wait(void)
{
    int n = 0;

    for (MPIDI_thread_t * thread = MPIDI_thread_first(); thread; thread = thread->next)
        n += thread != MPIDI_thread_local.self && tsm_load(&thread->waits, TSM_RELAXED) > 0;
    return n;
}

void MPIDI_thread_foreach(void (*fn) (MPIDI_thread_t * thread))
{
    MPIDI_thread_t *thread = tsm_load(&threads, TSM_ACQUIRE);

    for (; thread; thread = thread->next) {
        int was;
        tsm_wait_until(hold(thread, &was), TSM_WAIT_POLL);
        fn(thread);
        tsm_store(&thread->state, was, TSM_RELEASE);
    }
}

#endif
