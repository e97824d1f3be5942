/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/combiner.h"
#include "threads/post_queue.h"

__thread MPIDI_thread_local_t MPIDI_thread_local __attribute__((tls_model("initial-exec")));

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static MPIDI_thread_t *threads; /* under threads_lock */
static void (*at_exit[MPIDI_THREAD_EXITS]) (MPIDI_thread_t * thread);    /* under threads_lock */
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

/* Calls at_exit under the lock, because MPI_Finalize may use the thread's record at the same time. */
static void thread_exit(void *arg)
{
    MPIDI_thread_t *self = arg;

    tsm_usc_settle(&self->waiter);      /* a thread that is about to wake it still has its address */
    pthread_mutex_lock(&threads_lock);
    for (int i = 0; i < MPIDI_THREAD_EXITS && at_exit[i]; i++)
        at_exit[i] (self);
    MPIDI_post_queue_thread_exit(self);
    MPIDI_combiner_thread_exit(self);
    DL_DELETE(threads, self);
    pthread_mutex_unlock(&threads_lock);
    MPIDI_thread_local.self = NULL;
    free(self);
}

static void make_exit_key(void)
{
    int err = pthread_key_create(&exit_key, thread_exit);
    MPIR_Assert(err == 0);
}

/* MPL's tracing allocator is not used because a thread may exit after MPI_Finalize. */
MPIDI_thread_t *MPIDI_thread_create(void)
{
    MPIDI_thread_t *self = calloc(1, sizeof(*self));

    pthread_once(&exit_key_once, make_exit_key);
    if (!self || pthread_setspecific(exit_key, self)) {
        fprintf(stderr, "MPI: no memory for the state of a thread (%zu bytes)\n", sizeof(*self));
        abort();
    }
    tsm_usc_waiter_init(&self->waiter);
    for (int i = 0; i < MPIDI_THREAD_LINKS; i++)
        tsm_usc_link_init(&self->links[i]);
    pthread_mutex_lock(&threads_lock);
    DL_APPEND(threads, self);
    pthread_mutex_unlock(&threads_lock);
    MPIDI_thread_local.self = self;
    return self;
}

void MPIDI_thread_at_exit(void (*fn) (MPIDI_thread_t * thread))
{
    int i = 0;

    pthread_mutex_lock(&threads_lock);
    while (i < MPIDI_THREAD_EXITS && at_exit[i] && at_exit[i] != fn)
        i++;
    MPIR_Assert(i < MPIDI_THREAD_EXITS);
    at_exit[i] = fn;
    pthread_mutex_unlock(&threads_lock);
}

void MPIDI_thread_foreach(void (*fn) (MPIDI_thread_t * thread))
{
    MPIDI_thread_t *thread;

    pthread_mutex_lock(&threads_lock);
    DL_FOREACH(threads, thread) {
        fn(thread);
    }
    pthread_mutex_unlock(&threads_lock);
}

#endif
