/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_SERVER_H_INCLUDED
#define MPIDI_SERVER_H_INCLUDED

/* The servers of progress `server` (ICS'19 fig. 1c): threads of the library that drive all VCIs. They
 * run with MPI_THREAD_MULTIPLE only, from the end of MPI_Init to the last wait of MPI_Finalize.
 * Included by turn.h. */

/* Start MPIR_CVAR_CH4_SERVER_THREADS servers if the model has servers. Prints an error before it returns
 * one. At the end of MPI_Init, by one thread. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
int MPIDI_server_start(void);

/* Stop them; waits for their end. In MPI_Finalize, by the last thread in MPI. */
void MPIDI_server_stop(void);
#else
#define MPIDI_server_start() MPI_SUCCESS
#define MPIDI_server_stop() do { } while (0)
#endif

#endif /* MPIDI_SERVER_H_INCLUDED */
