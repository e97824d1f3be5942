/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_WATCHDOG_H_INCLUDED
#define MPIDI_WATCHDOG_H_INCLUDED

/* Prints, once in a process, which MPI calls have waited for MPIR_CVAR_PROGRESS_TIMEOUT seconds, the
 * stacks of their threads, and the state of every VCI. A separate thread checks all waiting threads
 * once a second, so it also reports a process in which all other threads sleep. Without the CVAR there
 * is no such thread, and a call that waits costs one test of a variable that never changes.
 *
 * A call that waits does
 *     MPIDI_watchdog_begin("MPI_Wait");          the name is a literal
 *     while (...) { poll; MPIDI_watchdog_step(); }    when a poll found nothing, before any sleep
 *     MPIDI_watchdog_end();                      on every way out
 * The end of a nested call also ends the outer one's time, which starts again at its next begin. A call
 * that waits in loops of MPICH's own does
 *     MPIDI_watchdog_enter("MPI_Probe");  ... MPIDI_watchdog_leave();        on every way out
 * in place of that. It counts as waiting all the time, and again from the end of a nested call on.
 *
 * Threads: any. The watchdog takes no lock of MPICH, because the threads that hang may hold them, and
 * reads atomics only: the fields that it prints need not be of one moment. */

#include "tsm/tsm_atomic.h"

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

/* In MPI_Finalize, before the VCIs are destroyed: ends the thread. */
void MPIDI_watchdog_stop(void);

/* Slow paths. */
void MPIDI_watchdog_mark(void);
void MPIDI_watchdog_clear(const char *call);
void MPIDI_watchdog_inside(const char *call);

extern int MPIDI_watchdog_on;   /* changes only in MPI_Init and MPI_Finalize */

static inline void MPIDI_watchdog_begin(const char *call)
{
    if (__builtin_expect(MPIDI_watchdog_on, 0))
        MPIDI_watchdog_clear(call);
}

static inline void MPIDI_watchdog_step(void)
{
    if (__builtin_expect(MPIDI_watchdog_on, 0))
        MPIDI_watchdog_mark();
}

static inline void MPIDI_watchdog_end(void)
{
    if (__builtin_expect(MPIDI_watchdog_on, 0))
        MPIDI_watchdog_clear(NULL);
}

static inline void MPIDI_watchdog_enter(const char *call)
{
    if (__builtin_expect(MPIDI_watchdog_on, 0))
        MPIDI_watchdog_inside(call);
}

static inline void MPIDI_watchdog_leave(void)
{
    if (__builtin_expect(MPIDI_watchdog_on, 0))
        MPIDI_watchdog_inside(NULL);
}

/* Around a statement of a function that is called as the MPI function, with MPID in place of MPI. */
#define MPIDI_WATCHDOG_WAITS(statement_) \
    do { \
        MPIDI_watchdog_enter(__func__); \
        statement_; \
        MPIDI_watchdog_leave(); \
    } while (0)

/* What pairs with what
 *   release                                      acquire
 *   new_record: the CAS that links a record      oldest_wait, print_waits: the load of `records`
 *   MPIDI_watchdog_mark: the store of `since`    the load of `since`; `call`, `thread` and `lwp`
 *                                                are then those of this wait or of a later one
 *   record_exit: the store of `used`             new_record: the CAS that reuses the record
 *
 * Records of threads are never freed, only reused, so the reader needs no protection from threads
 * that exit. */

#endif /* MPIDI_WATCHDOG_H_INCLUDED */
