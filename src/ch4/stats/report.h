/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STATS_REPORT_H_INCLUDED
#define MPIDI_STATS_REPORT_H_INCLUDED

/* How the counts of --enable-thread-stats come out: performance variables of MPI_T, in the category
 * CH4_THREADS, and the line of MPIR_CVAR_CH4_THREAD_SUMMARY. In a library without the option there are
 * no variables, and the setting gets a line that says so. By the one thread in MPI. */

/* In MPI_Init, with the VCIs made. Returns an MPI error code after it has printed the error. */
int MPIDI_stats_start(void);

/* In MPI_Finalize, when no other thread of the library runs: prints the summary. */
void MPIDI_stats_stop(void);

#ifdef ENABLE_THREAD_STATS
/* Make the variables known to MPI_T. */
void MPIDI_stats_register(void);

/* The value of a counter of all VCIs, or of all threads, by its name without the prefix ch4_threads_;
 * -1 if there is none of that name. For the summary. */
double MPIDI_stats_value(const char *name);
#endif

#endif /* MPIDI_STATS_REPORT_H_INCLUDED */
