/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_WATCHDOG_H_INCLUDED
#define MPIDI_WATCHDOG_H_INCLUDED

/* Prints, once in a process, which MPI calls have waited for MPIR_CVAR_PROGRESS_TIMEOUT seconds, what
 * they wait for, the stacks of their threads, and the state of every VCI, with the stack of a thread of
 * the library that holds it and does not poll. A separate thread checks all
 * waiting threads once a second, so it also reports a process in which all other threads sleep. Without
 * the CVAR there is no such thread. ../watched.h has what the calls that wait do for it.
 *
 * Threads: any. The watchdog takes no lock of MPICH, because the threads that hang may hold them, and
 * reads atomics only: the fields that it prints need not be of one moment. */

#include "../watched.h"

/* What is printed of a VCI. Threads are given by their pthread_self(), 0 for none. */
typedef struct MPIDI_watchdog_vci {
    unsigned long owner;        /* of the lock */
    int depth;                  /* how often the owner has entered */
    int queue_empty;            /* no operation is posted; -1: the model has no queue */
    int sleepers;               /* with server threads: of the process. -1: could not be read */
    int is_served;              /* a thread drives the VCI for those that sleep */
    unsigned polls;
} MPIDI_watchdog_vci_t;

/* Reads the state of a VCI, without a lock. By the watchdog's thread. */
typedef void (*MPIDI_watchdog_fill_t) (int vci, MPIDI_watchdog_vci_t * out);

/* In MPI_Init, with the VCIs made and before other threads use them: starts the thread if the CVAR
 * is set. Returns an MPI error code. */
int MPIDI_watchdog_start(int rank, int vcis, MPIDI_watchdog_fill_t fill);

/* By a thread of the library that drives VCIs, when it begins. */
void MPIDI_watchdog_driver(void);

/* In MPI_Finalize, before the VCIs are destroyed: ends the thread. */
void MPIDI_watchdog_stop(void);

#endif /* MPIDI_WATCHDOG_H_INCLUDED */
