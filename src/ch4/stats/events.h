/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STATS_EVENTS_H_INCLUDED
#define MPIDI_STATS_EVENTS_H_INCLUDED

/* The events of MPI_T, in the category CH4_THREADS. They are raised on slow paths only, where a thread
 * has blocked; without a registered handle raising one costs a call and a branch. A tool's function may
 * run with a VCI held and in several threads at once, so it must be registered as thread-safe. */

/* In MPI_Init. */
void MPIDI_events_register(void);

/* What MPIDI_events_waited takes as begin_ns: the time, or 0 while there is no handle. */
uint64_t MPIDI_events_clock(void);

/* The calling thread has waited for a VCI on a path (MPIDI_STATS_MAIN or _PROGRESS) since begin_ns; if
 * that is 0, nothing is raised. */
void MPIDI_events_waited(int vci, int path, uint64_t begin_ns);

/* The calling thread has got the lock of a VCI again, while others waited; competitors: how many
 * threads wanted it, itself included. */
void MPIDI_events_kept(int vci, uint64_t competitors);

#endif /* MPIDI_STATS_EVENTS_H_INCLUDED */
