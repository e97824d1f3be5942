/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       the user-space condition: each thread waits for its own completion and sleeps;
 *             whoever completes it wakes exactly that thread in O(1), without looking at the
 *             others. One of the waiting threads, the server, drives progress for all by calling
 *             its poll function.
 * Source:     the model HMCS<N>USC of ICS'19 "Software Combining to Mitigate Multithreaded MPI
 *             Contention", section 4.2, after Dang, Seo, Amer and Balaji, "Advanced Thread
 *             Synchronization for Multithreaded MPI Implementations", CCGRID 2017. "Locking
 *             Aspects in Multithreaded MPI Implementations" (TOPC), section 9, names such
 *             selective wake-ups as future work. No MPI in here: what completes, and what polling
 *             means, is the caller's business. The protocol below is ours.
 * Invariants: (1) As long as there is a sleeper, there is a server, which never sleeps: a thread
 *             goes to sleep only beside a server, and the server elects its successor before it
 *             leaves. (2) Two events may come to a waiter, its completion and its election, each
 *             at most once and in any order. Each counts itself in `takers`; the first of them
 *             wakes, the second touches the waiter with that one addition only. (3) A thread
 *             returns when it has counted its completion and seen the wake of the first, so
 *             nobody touches a waiter whose owner has returned. (4) `server`, `first`, `last` and
 *             the links are guarded by `lock`. A sleeper that has been completed already is never
 *             elected.
 * Progress:   wait blocks. Completing is wait-free (one fetch-and-add), waking too (one swap and,
 *             if the thread sleeps in the kernel, one system call). Election is O(1) for each
 *             sleeper over its life in the set. The server's own wait is as long as its polls
 *             are.
 *
 *   release                             acquire
 *   complete: fetch-and-add of takers   wait: load of takers (all that was done before completing)
 *   wake, election: swap of sleep       wait: end of tsm_wait_word (the waker is done with it)
 *   mutex                               mutex (server, list)
 *
 * Threads:    any number. The waiting thread owns the waiter, which stays until tsm_usc_wait has
 *             returned. One waiter stands for one completion: init, hand its address to whoever
 *             will complete it, wait. It may be completed before the wait begins, and by any
 *             thread, also by the waiting thread itself from inside its poll function.
 */

#ifndef TSM_USC_H_INCLUDED
#define TSM_USC_H_INCLUDED

#include <assert.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "tsm_atomic.h"
#include "tsm_wait.h"
#include "lock/tsm_mutex.h"

/* Values of a waiter's sleep word. */
#define TSM_USC_ASLEEP           0
#define TSM_USC_ASLEEP_IN_KERNEL 1
#define TSM_USC_AWAKE            2

/* What a waiter's takers are made of. */
#define TSM_USC_COMPLETED 1
#define TSM_USC_ELECTED   2

typedef struct tsm_usc_waiter {
    TSM_ATOMIC(uint32_t) takers;
    TSM_ATOMIC(uint32_t) sleep;
    int queued;                         /* this and the links: guarded by the lock */
    struct tsm_usc_waiter *next;
    struct tsm_usc_waiter *prev;
} tsm_usc_waiter_t;

typedef struct tsm_usc {
    tsm_mutex_t lock;
    tsm_usc_waiter_t *server;
    tsm_usc_waiter_t *first;            /* the sleepers in the order of their coming */
    tsm_usc_waiter_t *last;
} tsm_usc_t;

/* Drives progress; returns 0 if it found nothing to do. Called by one thread at a time for each
 * tsm_usc_t, without its lock, so it may complete any waiter, and may take locks. */
typedef int (*tsm_usc_poll_t)(void *arg);

/* Make an empty set. Returns 0 or an errno value. One thread, before any use. */
static inline int tsm_usc_init(tsm_usc_t *usc)
{
    usc->server = NULL;
    usc->first = NULL;
    usc->last = NULL;
    return tsm_mutex_init(&usc->lock);
}

/* End of use; nobody may wait. */
static inline void tsm_usc_destroy(tsm_usc_t *usc)
{
    assert(usc->server == NULL && usc->first == NULL && "tsm_usc_destroy: somebody waits");
    tsm_mutex_destroy(&usc->lock);
}

/* Prepare a waiter for one completion. Its owner, before anybody else has its address. */
static inline void tsm_usc_waiter_init(tsm_usc_waiter_t *waiter)
{
    tsm_store(&waiter->takers, 0, TSM_RELAXED);
    tsm_store(&waiter->sleep, TSM_USC_ASLEEP, TSM_RELAXED);
    waiter->queued = 0;
}

/* Has the waiter been completed? Then what was done before that is visible. Its owner. */
static inline int tsm_usc_is_complete(tsm_usc_waiter_t *waiter)
{
    return (tsm_load(&waiter->takers, TSM_ACQUIRE) & TSM_USC_COMPLETED) != 0;
}

/* Count an event; 1 if it is the first, which has to wake. If not, hands off the waiter. */
static inline int tsm_usc_take_(tsm_usc_waiter_t *waiter, uint32_t event)
{
    uint32_t before = tsm_fetch_add(&waiter->takers, event, TSM_RELEASE);

    assert((before & event) == 0 && "tsm_usc: completed twice");
    return before == 0;
}

/* First half of tsm_usc_signal, for callers that hold a lock. Returns 1 if the caller now owes a
 * tsm_usc_wake of this waiter, for which the waiting thread waits; if 0, the waiter must not be
 * touched again. Any thread, once for each waiter; wait-free. */
static inline int tsm_usc_complete(tsm_usc_waiter_t *waiter)
{
    return tsm_usc_take_(waiter, TSM_USC_COMPLETED);
}

/* Second half: after a tsm_usc_complete that returned 1. The server must pay what it owes before
 * its poll function returns. Any thread; wait-free. */
static inline void tsm_usc_wake(tsm_usc_waiter_t *waiter)
{
    tsm_wake_word(&waiter->sleep, TSM_USC_AWAKE, TSM_USC_ASLEEP_IN_KERNEL);
}

/* The completion that waiter stands for has come: its thread, and no other, goes on. Any thread,
 * once for each waiter, which may be gone on return; wait-free. */
static inline void tsm_usc_signal(tsm_usc_waiter_t *waiter)
{
    if (tsm_usc_complete(waiter))
        tsm_usc_wake(waiter);
}

/* With the lock held. */
static inline void tsm_usc_append_(tsm_usc_t *usc, tsm_usc_waiter_t *waiter)
{
    waiter->queued = 1;
    waiter->next = NULL;
    waiter->prev = usc->last;
    if (usc->last != NULL)
        usc->last->next = waiter;
    else
        usc->first = waiter;
    usc->last = waiter;
}

/* With the lock held. */
static inline void tsm_usc_remove_(tsm_usc_t *usc, tsm_usc_waiter_t *waiter)
{
    waiter->queued = 0;
    if (waiter->prev != NULL)
        waiter->prev->next = waiter->next;
    else
        usc->first = waiter->next;
    if (waiter->next != NULL)
        waiter->next->prev = waiter->prev;
    else
        usc->last = waiter->prev;
}

/* Become the server (1) or one of the sleepers (0). */
static inline int tsm_usc_join_(tsm_usc_t *usc, tsm_usc_waiter_t *waiter)
{
    int serve;

    tsm_mutex_acquire(&usc->lock);
    serve = (usc->server == NULL);
    if (serve)
        usc->server = waiter;
    else
        tsm_usc_append_(usc, waiter);
    tsm_mutex_release(&usc->lock);
    return serve;
}

/* No longer one of the sleepers: 1 if that is because of an election. */
static inline int tsm_usc_rejoin_(tsm_usc_t *usc, tsm_usc_waiter_t *waiter)
{
    int elected;

    tsm_mutex_acquire(&usc->lock);
    if (waiter->queued)
        tsm_usc_remove_(usc, waiter);
    elected = (usc->server == waiter);
    tsm_mutex_release(&usc->lock);
    return elected;
}

/* The server leaves: the first sleeper that is not complete follows. Those before it are awake, or
 * will be, and are in nobody's way outside the list; the lock keeps them from going. */
static inline void tsm_usc_leave_(tsm_usc_t *usc)
{
    tsm_usc_waiter_t *waiter;

    tsm_mutex_acquire(&usc->lock);
    while ((waiter = usc->first) != NULL) {
        tsm_usc_remove_(usc, waiter);
        if (tsm_usc_take_(waiter, TSM_USC_ELECTED))
            break;
    }
    usc->server = waiter;
    tsm_mutex_release(&usc->lock);
    if (waiter != NULL)
        tsm_usc_wake(waiter);
}

/* Poll until our own completion has come, then find a successor. */
static inline void tsm_usc_serve_(tsm_usc_t *usc, tsm_usc_waiter_t *waiter, tsm_usc_poll_t poll_fn,
                                  void *arg)
{
    tsm_wait_state_t state = tsm_wait_begin(TSM_WAIT_POLL);

    while (!tsm_usc_is_complete(waiter)) {
        if (poll_fn(arg))
            state = tsm_wait_begin(TSM_WAIT_POLL);
        else if (tsm_wait_step(&state, 1))
            sched_yield();
    }
    tsm_usc_leave_(usc);
}

static inline void tsm_usc_sleep_(tsm_usc_waiter_t *waiter)
{
    tsm_wait_word(&waiter->sleep, TSM_USC_ASLEEP, TSM_USC_ASLEEP_IN_KERNEL, TSM_WAIT_PARK);
}

/* Returns when waiter has been completed. Until then the thread sleeps, or it is the server and
 * calls poll_fn(arg) over and over. Every thread of a set must bring a poll function that is good
 * for all of them. Blocks; holds no lock while it sleeps or polls. The owner of waiter. */
static inline void tsm_usc_wait(tsm_usc_t *usc, tsm_usc_waiter_t *waiter, tsm_usc_poll_t poll_fn,
                                void *arg)
{
    int serve;

    assert(poll_fn != NULL && !waiter->queued && "tsm_usc_wait: the waiter is in use");
    if (!tsm_usc_is_complete(waiter)) {
        serve = tsm_usc_join_(usc, waiter);
        if (!serve) {
            tsm_usc_sleep_(waiter);
            serve = tsm_usc_rejoin_(usc, waiter);
        }
        if (serve)
            tsm_usc_serve_(usc, waiter, poll_fn, arg);
    }
    /* whoever came first, by now nearly always over: after it, nobody has our address */
    tsm_usc_sleep_(waiter);
}

#endif /* TSM_USC_H_INCLUDED */
