/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * Ticket lock with proportional back-off: a thread takes a number and waits until it is served. The
 * lock is one pair of words; it needs no nodes. Waiters spin and yield but do not park.
 *
 * Source:     Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization on Shared-Memory
 *             Multiprocessors", TOCS 9(1) 1991, section 2.2; used as a fair lock for MPI in
 *             "MPI+Threads: Runtime Contention and Remedies", PPoPP 2015.
 * Threads:    fewer than 2^32 at once. All waiters share one word, so they spin and yield but do
 *             not park: a wake would wake them all. With more threads than processors, strict FIFO
 *             order makes each hand-over wait for the scheduler; see tsm_gate.h.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_TICKET_H_INCLUDED
#define TSM_TICKET_H_INCLUDED

#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"

/* Pauses between two looks, for each thread before us. */
#define TSM_TICKET_PAUSES 8

typedef struct tsm_ticket {
    TSM_ATOMIC(uint32_t) next;                          /* threads that arrive write here ... */
    char pad[TSM_CACHELINE - sizeof(uint32_t)];
    TSM_ATOMIC(uint32_t) serving;                       /* ... and poll here */
} tsm_ticket_t;

#define TSM_TICKET_INITIALIZER { 0, { 0 }, 0 }

/* Make a free lock. One thread, before any use. */
static inline void tsm_ticket_init(tsm_ticket_t *lock)
{
    tsm_store(&lock->next, 0, TSM_RELAXED);
    tsm_store(&lock->serving, 0, TSM_RELAXED);
}

/* Is it our turn? Leaves in *weight how many pauses to wait before the next look. */
static inline int tsm_ticket_turn_(tsm_ticket_t *lock, uint32_t ticket, uint32_t *weight)
{
    uint32_t before_us = ticket - tsm_load(&lock->serving, TSM_ACQUIRE);

    *weight = before_us * TSM_TICKET_PAUSES;
    return before_us == 0;
}

/* Blocks until the lock is ours; FIFO. Not for a thread that holds it already. */
static inline void tsm_ticket_acquire(tsm_ticket_t *lock)
{
    uint32_t ticket = tsm_fetch_add(&lock->next, 1, TSM_RELAXED);
    uint32_t weight = 0;

    tsm_wait_until_weighted(tsm_ticket_turn_(lock, ticket, &weight), weight, TSM_WAIT_POLL);
}

/* Returns 1 if the lock is now ours, 0 if it was held. Never waits. */
static inline int tsm_ticket_try(tsm_ticket_t *lock)
{
    uint32_t serving = tsm_load(&lock->serving, TSM_ACQUIRE);

    /* a look first, so that failing does not take the cache line from the others */
    if (tsm_load(&lock->next, TSM_RELAXED) != serving)
        return 0;
    return tsm_cas(&lock->next, &serving, serving + 1, TSM_RELAXED, TSM_RELAXED);
}

/* By the holder. Wait-free. */
static inline void tsm_ticket_release(tsm_ticket_t *lock)
{
    /* only the holder writes serving, so no read-modify-write is needed */
    uint32_t serving = tsm_load(&lock->serving, TSM_RELAXED);

    tsm_store(&lock->serving, serving + 1, TSM_RELEASE);
}

/*
 * Invariants: serving <= next, modulo 2^32; the lock is free exactly when they are equal; the
 *             holder's ticket equals serving; serving is written by the holder only. A ticket is a
 *             number modulo 2^32. Exclusion can fail only if a thread is stopped inside try, between
 *             its look and its compare-and-swap, while others take exactly 2^32 tickets or a multiple
 *             (minutes at least), of which the last is still held: the compare-and-swap then finds
 *             the number that it expects.
 * Progress:   acquire is blocking and strictly FIFO in the order of the fetch-and-add. Try is
 *             bounded: two loads and one compare-and-swap. Release is wait-free.
 *
 *   release                           acquire
 *   release: store of serving         acquire: load of serving that finds our ticket
 *                                     try: load of serving
 *   `next` only hands out numbers, so its accesses are relaxed. In try, the load of serving
 *   synchronizes: it finds the store of the last holder, and the compare-and-swap then proves that
 *   no thread has taken a ticket since.
 */

#endif /* TSM_TICKET_H_INCLUDED */
