/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_SERVED_H_INCLUDED
#define MPIDI_SERVED_H_INCLUDED

/* A process whose VCIs are driven by threads of the library, the servers (progress/server.c): what the
 * other threads need to know of them. A thread rings after it has posted an operation, and in each turn
 * of a wait; a server sleeps only while no other thread sleeps in MPI.
 *
 * `on` becomes 0 only while one thread uses MPI, or when the program exits. It becomes 1 once
 * MPI_COMM_WORLD is complete, which with sessions is while other threads may be in MPI: its store
 * (release) publishes `servers` and the bells to the load in MPIDI_served_here (acquire). The rest: any
 * thread; nothing here waits. */

#include "model.h"
#include "thread.h"
#include "tsm/tsm_bell.h"

typedef struct MPIDI_served_bell {
    tsm_bell_t bell TSM_ALIGNED;
} MPIDI_served_bell_t;

typedef struct MPIDI_served {
    TSM_ATOMIC(int) on;         /* the servers run */
    int servers;                /* VCI i belongs to server i % servers */
    MPIDI_served_bell_t server[MPIDI_CH4_MAX_VCIS];
    TSM_ATOMIC(int) sleepers TSM_ALIGNED;       /* other threads asleep in a wait */
    /* of a server's poll, for the next wait to return; each turn of a wait reads it */
    TSM_ATOMIC(int) error TSM_ALIGNED;
} MPIDI_served_t;

extern MPIDI_served_t MPIDI_served __attribute__((visibility("hidden")));

/* 1 if servers run and the calling thread is not one of them. */
MPL_STATIC_INLINE_PREFIX int MPIDI_served_here(void)
{
    return tsm_load(&MPIDI_served.on, TSM_ACQUIRE) && !MPIDI_thread_local.is_server;
}

/* Wake the server of a VCI, if it sleeps. */
MPL_STATIC_INLINE_PREFIX void MPIDI_served_ring(int vci)
{
    const int n = MPIDI_served.servers;

    tsm_bell_ring(&MPIDI_served.server[n == 1 ? 0 : vci % n].bell);     /* a division takes long */
}

/* Wake all servers. */
MPL_STATIC_INLINE_PREFIX void MPIDI_served_ring_all(void)
{
    for (int i = 0; i < MPIDI_served.servers; i++)
        MPIDI_served_ring(i);
}

/* Around a sleep of the calling thread: the servers stay awake meanwhile. */
void MPIDI_served_sleep_begin(void);
void MPIDI_served_sleep_end(void);

/* Keep the first error of a server; is there one; take it out. */
void MPIDI_served_set_error(int mpi_errno);
MPL_STATIC_INLINE_PREFIX int MPIDI_served_has_error(void)
{
    return tsm_load(&MPIDI_served.error, TSM_RELAXED) != MPI_SUCCESS;
}
int MPIDI_served_take_error(void);

#endif /* MPIDI_SERVED_H_INCLUDED */
