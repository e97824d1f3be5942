/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_WATCHED_H_INCLUDED
#define MPIDI_WATCHED_H_INCLUDED

/* What the threads that wait tell the watchdog (progress/watchdog.h). Without the watchdog a call that
 * waits costs one test of a variable that never changes.
 *
 * A call that waits does
 *     MPIDI_watchdog_begin("MPI_Wait", n, reqs);      the name is a literal; n 0: for no request
 *     while (...) { poll; MPIDI_watchdog_step(); }    when a poll found nothing, before any sleep
 *     MPIDI_watchdog_end();                           on every way out
 * The end of a nested call also ends the outer one's time, which starts again at its next begin. A call
 * that waits in loops of MPICH's own does
 *     MPIDI_watchdog_enter("MPI_Probe");  ... MPIDI_watchdog_leave();        on every way out
 * in place of that. It counts as waiting all the time, and again from the end of a nested call on. A
 * thread that finds the lock of a VCI taken says so for as long as it waits for it, in whatever call
 * (section/vci_lock.h).
 *
 * Threads: any. Nothing here waits, but for the memory of a thread's record. */

#include "tsm/tsm_atomic.h"

struct MPIR_Request;

/* A lock of the library that is no VCI's. */
#define MPIDI_WATCHED_OTHER_LOCK (-1)

/* Of a thread, which alone writes. */
typedef struct MPIDI_watched {
    struct MPIDI_watched *next; /* written before the record is linked */
    TSM_ATOMIC(int) used;       /* by a thread */
    TSM_ATOMIC(uint64_t) since; /* when a poll of the wait first found nothing; 0: not yet */
    TSM_ATOMIC(uint64_t) lock_since;    /* when it found a lock taken; 0: it waits for none */
    TSM_ATOMIC(int) lock;       /* the VCI's number, or MPIDI_WATCHED_OTHER_LOCK */
    TSM_ATOMIC(const char *) call;      /* NULL: none whose waits are watched */
    TSM_ATOMIC(unsigned long) thread;
    TSM_ATOMIC(long) lwp;
    /* only for the thread itself, and signal handlers that run in it */
    const char *inside;         /* the call it has entered */
    TSM_ATOMIC(int) count;      /* of reqs */
    TSM_ATOMIC(struct MPIR_Request **) reqs;    /* what its wait is for */
} MPIDI_watched_t;

extern int MPIDI_watchdog_on;   /* changes only in MPI_Init and MPI_Finalize */

/* Slow paths. */
void MPIDI_watchdog_mark(void);
void MPIDI_watchdog_clear(const char *call, int count, struct MPIR_Request **reqs);
void MPIDI_watchdog_inside(const char *call);
void MPIDI_watchdog_lock_begin(int vci);
void MPIDI_watchdog_lock_end(void);

/* Make the calling thread known before it waits. */
void MPIDI_watchdog_register(void);

static inline void MPIDI_watchdog_begin(const char *call, int count, struct MPIR_Request **reqs)
{
    if (__builtin_expect(MPIDI_watchdog_on, 0))
        MPIDI_watchdog_clear(call, count, reqs);
}

static inline void MPIDI_watchdog_step(void)
{
    if (__builtin_expect(MPIDI_watchdog_on, 0))
        MPIDI_watchdog_mark();
}

static inline void MPIDI_watchdog_end(void)
{
    if (__builtin_expect(MPIDI_watchdog_on, 0))
        MPIDI_watchdog_clear(NULL, 0, NULL);
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

/* ---- for the watchdog ---- */

/* The clock of `since`, in ns. */
uint64_t MPIDI_watched_now(void);

/* All records: the first, then ->next of each. */
MPIDI_watched_t *MPIDI_watched_first(void);

/* The calling thread's, or NULL. For signal handlers, too. */
MPIDI_watched_t *MPIDI_watched_self(void);

/* When the thread's wait began, or 0. */
static inline uint64_t MPIDI_watched_since(MPIDI_watched_t * r)
{
    uint64_t since = tsm_load(&r->since, TSM_ACQUIRE);
    uint64_t lock_since = tsm_load(&r->lock_since, TSM_ACQUIRE);

    return since && (!lock_since || since < lock_since) ? since : lock_since;
}

/* What pairs with what
 *   release                                      acquire
 *   new_record: the CAS that links a record      MPIDI_watched_first: the load of `records`
 *   MPIDI_watchdog_mark: the store of `since`    the load of `since`; `call`, `thread` and `lwp`
 *                                                are then those of this wait or of a later one
 *   MPIDI_watchdog_lock_begin: of `lock_since`   the load of `lock_since`; likewise with `lock`
 *   record_exit: the store of `used`             new_record: the CAS that reuses the record
 *
 * Records of threads are never freed, only reused, so the reader needs no protection from threads
 * that exit. */

#endif /* MPIDI_WATCHED_H_INCLUDED */
