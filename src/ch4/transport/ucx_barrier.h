/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef UCX_BARRIER_H_INCLUDED
#define UCX_BARRIER_H_INCLUDED

/* The barrier after a process has disconnected its endpoints. The process manager's barrier drives no
 * worker, but a peer that is still disconnecting may need an answer of this process, for example
 * because it is still connecting one of UCX's lanes. So a thread drives the workers meanwhile, once in
 * a millisecond.
 *
 *   MPIDI_UCX_barrier   the process manager's barrier, while a thread drives the workers. For
 *                       ucx_init.c, in whose only barrier it takes MPIR's place. */

#include <pthread.h>
#include <time.h>

#define MPIDI_UCX_BARRIER_PAUSE_NS 1000000

typedef struct MPIDI_UCX_barrier {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int over;                   /* under lock */
} MPIDI_UCX_barrier_t;

static inline void MPIDI_UCX_barrier_pause(MPIDI_UCX_barrier_t * barrier)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += MPIDI_UCX_BARRIER_PAUSE_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&barrier->wake, &barrier->lock, &until);
}

static inline void *MPIDI_UCX_barrier_drive(void *barrier_)
{
    MPIDI_UCX_barrier_t *barrier = barrier_;

    pthread_mutex_lock(&barrier->lock);
    while (!barrier->over) {
        for (int i = 0; i < MPIDI_UCX_global.num_vnis; i++)
            ucp_worker_progress(MPIDI_UCX_global.ctx[i].worker);
        MPIDI_UCX_barrier_pause(barrier);
    }
    pthread_mutex_unlock(&barrier->lock);
    return NULL;
}

/* Without a thread it is the plain barrier, in which a peer may wait for ever. */
static inline int MPIDI_UCX_barrier(void)
{
    MPIDI_UCX_barrier_t barrier = {
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0
    };
    pthread_t thread;
    int mpi_errno, err = pthread_create(&thread, NULL, MPIDI_UCX_barrier_drive, &barrier);

    mpi_errno = MPIR_pmi_barrier();
    if (err == 0) {
        pthread_mutex_lock(&barrier.lock);
        barrier.over = 1;
        pthread_cond_signal(&barrier.wake);
        pthread_mutex_unlock(&barrier.lock);
        pthread_join(thread, NULL);
    }
    return mpi_errno;
}

#define MPIR_pmi_barrier MPIDI_UCX_barrier

#endif /* UCX_BARRIER_H_INCLUDED */
