/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_SERVER_H_INCLUDED
#define MPIDI_SERVER_H_INCLUDED

/* The servers of progress `server` (ICS'19 fig. 1c): threads of the library that drive all VCIs. They
 * run with MPI_THREAD_MULTIPLE only, from the time when MPI_COMM_WORLD is complete to the last wait of
 * MPI_Finalize, or the end of the last session. Included by turn.h. */

/* Start MPIR_CVAR_CH4_SERVER_THREADS servers if the model has servers, they do not run, and
 * MPI_COMM_WORLD is complete. Prints an error before it returns one. One thread at a time. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
int MPIDI_server_start(void);

/* Stop them, if they run; waits for their end. By the last thread in MPI. */
void MPIDI_server_stop(void);

/* 1 if the model has servers: then MPIR_CVAR_ASYNC_PROGRESS needs no thread of its own. Any thread. */
int MPIDI_server_is_used(void);
#else
#define MPIDI_server_start() MPI_SUCCESS
#define MPIDI_server_is_used() 0
#define MPIDI_server_stop() do { } while (0)
#endif

#endif /* MPIDI_SERVER_H_INCLUDED */
