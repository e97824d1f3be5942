/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       one lock interface without nodes; TSM_LOCK_KIND selects the algorithm at compile
 *             time.
 * Source:     the per-VNI locks compared in ICS'19 "Software Combining to Mitigate Multithreaded
 *             MPI Contention", sections 2 and 3.2.
 * Invariants: the lock is released by the thread that acquired it. It is not recursive. Locks may
 *             be released in any order. For MCS: the node in use is remembered in the lock
 *             (`owner`, read and written by the holder only); nodes come from a per-thread pool, in
 *             which a set bit of `busy` means that the node is in the list of some lock.
 * Progress, release and acquire: those of the selected lock; the pool is private to its thread.
 *             Ticket and MCS stand behind a gate (tsm_gate.h): with more threads than processors
 *             FIFO is given up for a quantum at a time, and a try also fails while others wait at
 *             the gate, so that the lock may be free then; but one of those will take it.
 *             Release is a release, not a sequentially consistent store: nothing orders it before
 *             a later load of the same thread, not even a seq_cst one such as tsm_swp_is_empty().
 *             A protocol of the form "release, then look whether somebody posted meanwhile" must
 *             not take a clean look as proof.
 * Threads:    any number; they may come and go at will, with nothing to register and nothing to
 *             clean up. For MCS one thread holds or waits for at most TSM_LOCK_HELD_MAX locks at
 *             once; one more ends the program with a message.
 */

#ifndef TSM_LOCK_H_INCLUDED
#define TSM_LOCK_H_INCLUDED

#define TSM_LOCK_KIND_MUTEX  1
#define TSM_LOCK_KIND_TICKET 2
#define TSM_LOCK_KIND_MCS    3

#ifndef TSM_LOCK_KIND
#error "define TSM_LOCK_KIND as TSM_LOCK_KIND_MUTEX (1), _TICKET (2) or _MCS (3)"
#elif TSM_LOCK_KIND == TSM_LOCK_KIND_MUTEX

#include "tsm_mutex.h"

typedef tsm_mutex_t tsm_lock_t;

/* Make a free lock. Returns 0 or an errno value. One thread, before any use. */
static inline int tsm_lock_init(tsm_lock_t *lock)
{
    return tsm_mutex_init(lock);
}

/* End of use; the lock must be free. */
static inline void tsm_lock_destroy(tsm_lock_t *lock)
{
    tsm_mutex_destroy(lock);
}

/* Blocks until the lock is ours. */
static inline void tsm_lock_acquire(tsm_lock_t *lock)
{
    tsm_mutex_acquire(lock);
}

/* Returns 1 if the lock is now ours, 0 if it was held. Never waits. */
static inline int tsm_lock_try(tsm_lock_t *lock)
{
    return tsm_mutex_try(lock);
}

/* By the thread that acquired. */
static inline void tsm_lock_release(tsm_lock_t *lock)
{
    tsm_mutex_release(lock);
}

/* A constant string, for messages. */
static inline const char *tsm_lock_name(void)
{
    return "mutex";
}

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_TICKET

#include "tsm_gate.h"
#include "tsm_ticket.h"

typedef struct tsm_lock {
    tsm_gate_t gate;
    tsm_ticket_t ticket;
} tsm_lock_t;

static inline int tsm_lock_init(tsm_lock_t *lock)
{
    tsm_gate_init(&lock->gate);
    tsm_ticket_init(&lock->ticket);
    return 0;
}

static inline void tsm_lock_destroy(tsm_lock_t *lock)
{
    (void) lock;
}

static inline void tsm_lock_acquire(tsm_lock_t *lock)
{
    tsm_gate_acquire(&lock->gate, tsm_ticket_try(&lock->ticket), tsm_ticket_acquire(&lock->ticket));
}

static inline int tsm_lock_try(tsm_lock_t *lock)
{
    return tsm_gate_try(&lock->gate, tsm_ticket_try(&lock->ticket));
}

static inline void tsm_lock_release(tsm_lock_t *lock)
{
    tsm_ticket_release(&lock->ticket);
}

static inline const char *tsm_lock_name(void)
{
    return "ticket";
}

#elif TSM_LOCK_KIND == TSM_LOCK_KIND_MCS

#include "tsm_lock_mcs.h"

#else
#error "TSM_LOCK_KIND is none of TSM_LOCK_KIND_MUTEX (1), _TICKET (2), _MCS (3)"
#endif

#endif /* TSM_LOCK_H_INCLUDED */
