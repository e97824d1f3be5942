/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The user-space condition: a thread sleeps until one of the things it waits for is complete, and
 * the completer wakes exactly that thread in O(1). One of the waiting threads of a set, the server,
 * stays awake and drives progress for all of them; it elects its successor when it leaves. A thread
 * may wait for any of n things, and in several sets at once.
 *
 * Interface:  tsm_usc_t               a set of waiting threads with one server: one for each VCI
 *             tsm_usc_waiter_t        a thread that waits: one for each thread, used again
 *             tsm_usc_link_t          a waiter's membership in a set
 *             tsm_usc_slot_t          in each thing that can be waited for
 *
 *             for the waiting thread:
 *             tsm_usc_begin()         before the first join of a sleep
 *             tsm_usc_join()          1: server of this set; 0: listed among its sleepers
 *             tsm_usc_register()      in each slot; look once more at what is waited for after it
 *             tsm_usc_sleep()         until a completer or an election wakes the waiter;
 *             tsm_usc_sleep_for()     or for a limited time
 *             tsm_usc_is_woken()      whether that was so
 *             tsm_usc_unregister()    each slot
 *             tsm_usc_rejoin()        each set with join 0. 1: elected meanwhile, now the server
 *             tsm_usc_leave()         each set of which it is the server
 *             tsm_usc_settle()        before the waiter's memory goes away
 *             tsm_usc_sleep_or_serve()  all of it from begin to rejoin
 *
 *             for a completer:
 *             tsm_usc_notify()        after the thing is complete: the waiter to wake, or NULL
 *             tsm_usc_wake()          that waiter, once, now or later
 *
 * Use:        poll for a while (tsm_patience.h), then sleep and poll again:
 *               while (!complete(r)) {
 *                   if (poll() || serving || tsm_patience_step(&p, 1) != TSM_PATIENCE_SLEEP)
 *                       continue;
 *                   tsm_usc_begin(self);
 *                   serving = tsm_usc_join(set, &link, self);
 *                   if (serving)
 *                       continue;
 *                   tsm_usc_register(&r->slot, self);
 *                   if (!complete(r))                            seq_cst, see the end of the file
 *                       tsm_usc_sleep(self, policy);
 *                   tsm_usc_unregister(&r->slot, self);
 *                   serving = tsm_usc_rejoin(set, &link);
 *               }
 *               if (serving)
 *                   tsm_usc_leave(set, &link);
 *             The server of one set must not be listed in another: it rejoins the others and polls
 *             for all that it waits for.
 *
 * Source:     the model HMCS<N>USC of ICS'19 "Software Combining to Mitigate Multithreaded MPI
 *             Contention", section 4.2, after Dang, Seo, Amer and Balaji, "Advanced Thread
 *             Synchronization for Multithreaded MPI Implementations", CCGRID 2017. "Locking
 *             Aspects in Multithreaded MPI Implementations" (TOPC), section 9, names such
 *             selective wake-ups as future work. The protocol is ours.
 * Threads:    any number. A link belongs to the waiting thread and stays from join 0 to rejoin, and
 *             from join or rejoin 1 to leave.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_USC_H_INCLUDED
#define TSM_USC_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "tsm_atomic.h"
#include "tsm_wait.h"
#include "lock/tsm_mutex.h"

typedef struct tsm_usc_waiter {
    TSM_ATOMIC(uint32_t) count;         /* of takers that have finished; see tsm_wait_count */
    uint32_t taken;                     /* of takers, by the same measure; this and the next: the */
    uint32_t begun;                     /* owner's alone. The count when this sleep began. */
} tsm_usc_waiter_t;

typedef TSM_ATOMIC(tsm_usc_waiter_t *) tsm_usc_slot_t;

enum { TSM_USC_OUT, TSM_USC_LISTED, TSM_USC_SERVES };

typedef struct tsm_usc_link {
    tsm_usc_waiter_t *waiter;
    int state;                          /* this and the links: guarded by the set's mutex */
    struct tsm_usc_link *next;
    struct tsm_usc_link *prev;
} tsm_usc_link_t;

typedef struct tsm_usc {
    tsm_mutex_t lock;
    tsm_usc_link_t *server;
    tsm_usc_link_t *first;              /* the sleepers in the order of their joins */
    tsm_usc_link_t *last;
} tsm_usc_t;

#define TSM_USC_WAITER_INITIALIZER { 0, 0, 0 }
#define TSM_USC_LINK_INITIALIZER { NULL, TSM_USC_OUT, NULL, NULL }

/* Make an empty set. Returns 0 or an errno value. One thread, before any use. */
static inline int tsm_usc_init(tsm_usc_t *usc)
{
    usc->server = NULL;
    usc->first = NULL;
    usc->last = NULL;
    return tsm_mutex_init(&usc->lock);
}

/* Destroy a set in which no thread waits. */
static inline void tsm_usc_destroy(tsm_usc_t *usc)
{
    assert(usc->server == NULL && usc->first == NULL && "tsm_usc_destroy: a thread waits");
    tsm_mutex_destroy(&usc->lock);
}

/* Once for each waiter, slot and link, before any use. */
static inline void tsm_usc_waiter_init(tsm_usc_waiter_t *waiter)
{
    tsm_store(&waiter->count, 0, TSM_RELAXED);
    waiter->taken = 0;
    waiter->begun = 0;
}

static inline void tsm_usc_slot_init(tsm_usc_slot_t *slot)
{
    tsm_store(slot, NULL, TSM_RELAXED);
}

static inline void tsm_usc_link_init(tsm_usc_link_t *link)
{
    *link = (tsm_usc_link_t) TSM_USC_LINK_INITIALIZER;
}

/* ---- of a completer ---- */

/* Wake the waiter that notify returned. The waiter may be freed from then on. Once for each notify.
 * Any thread; wait-free. */
static inline void tsm_usc_wake(tsm_usc_waiter_t *waiter)
{
    tsm_wake_count(&waiter->count);
}

/* Call it after the thing of this slot is complete. Returns the waiter that the caller must wake,
 * or NULL. Any thread; wait-free. */
static inline tsm_usc_waiter_t *tsm_usc_notify_swap(tsm_usc_slot_t *slot)
{
    return tsm_swap(slot, NULL, TSM_ACQ_REL);
}

/* The same, for a completion that has been written seq_cst. Costs a load if no thread sleeps. */
static inline tsm_usc_waiter_t *tsm_usc_notify(tsm_usc_slot_t *slot)
{
    if (tsm_load(slot, TSM_SEQ_CST) == NULL)
        return NULL;
    return tsm_usc_notify_swap(slot);
}

/* ---- of the waiting thread: completions ---- */

/* Begin a sleep, before its first join and register. */
static inline void tsm_usc_begin(tsm_usc_waiter_t *waiter)
{
    waiter->begun = tsm_count_read(&waiter->count);
}

/* Ask to be woken when the thing of this slot completes. After this, check its completion by a
 * seq_cst load before you sleep. No thread, nor this one, may be registered there. */
static inline void tsm_usc_register(tsm_usc_slot_t *slot, tsm_usc_waiter_t *waiter)
{
    tsm_usc_waiter_t *before = tsm_swap(slot, waiter, TSM_SEQ_CST);

    assert(before == NULL && "tsm_usc_register: a thread waits for this already");
    (void) before;
}

/* Withdraw the request. Returns 1 if a completer was faster: then it wakes, or has woken, the
 * waiter, and the thing is complete. */
static inline int tsm_usc_unregister(tsm_usc_slot_t *slot, tsm_usc_waiter_t *waiter)
{
    int taken = tsm_swap(slot, NULL, TSM_ACQUIRE) == NULL;

    if (taken)
        waiter->taken += TSM_COUNT_ONE;
    return taken;
}

/* Sleep until a thread wakes the waiter. Returns at once if one has done so since begin; may return
 * without reason. */
static inline void tsm_usc_sleep(tsm_usc_waiter_t *waiter, tsm_wait_policy_t policy)
{
    tsm_wait_count(&waiter->count, waiter->begun, policy);
}

/* The same for at most ns nanoseconds; sleeps at once. */
static inline void tsm_usc_sleep_for(tsm_usc_waiter_t *waiter, uint64_t ns)
{
    tsm_wait_count_for(&waiter->count, waiter->begun, ns);
}

/* Returns whether a thread has woken the waiter since begin. */
static inline int tsm_usc_is_woken(tsm_usc_waiter_t *waiter)
{
    return tsm_count_read(&waiter->count) != waiter->begun;
}

/* Wait until all takers have finished; then no other thread has the address of the waiter. The owner
 * must be in no set and no slot, and hold no lock that a completer may need before it wakes. */
static inline void tsm_usc_settle(tsm_usc_waiter_t *waiter)
{
    uint32_t count;

    while ((count = tsm_count_read(&waiter->count)) != waiter->taken)
        tsm_wait_count(&waiter->count, count, TSM_WAIT_PARK);
}

/* ---- of the waiting thread: sets ---- */

/* Returns how many threads sleep in this set, and sets *served if it has a server; both out of date
 * on return. Returns -1 if the set is busy. For a report. Any thread; never waits. */
static inline int tsm_usc_look(tsm_usc_t *usc, int *served)
{
    int n = 0;

    if (!tsm_mutex_try(&usc->lock))
        return -1;
    *served = (usc->server != NULL);
    for (tsm_usc_link_t *link = usc->first; link != NULL; link = link->next)
        n++;
    tsm_mutex_release(&usc->lock);
    return n;
}

/* With the lock held. */
static inline void tsm_usc_append_(tsm_usc_t *usc, tsm_usc_link_t *link)
{
    link->state = TSM_USC_LISTED;
    link->next = NULL;
    link->prev = usc->last;
    if (usc->last != NULL)
        usc->last->next = link;
    else
        usc->first = link;
    usc->last = link;
}

/* With the lock held. */
static inline void tsm_usc_remove_(tsm_usc_t *usc, tsm_usc_link_t *link)
{
    link->state = TSM_USC_OUT;
    if (link->prev != NULL)
        link->prev->next = link->next;
    else
        usc->first = link->next;
    if (link->next != NULL)
        link->next->prev = link->prev;
    else
        usc->last = link->prev;
}

/* With the lock held. */
static inline void tsm_usc_appoint_(tsm_usc_t *usc, tsm_usc_link_t *link)
{
    usc->server = link;
    if (link != NULL)
        link->state = TSM_USC_SERVES;
}

/* Become the server (1) or one of the sleepers (0). */
static inline int tsm_usc_join(tsm_usc_t *usc, tsm_usc_link_t *link, tsm_usc_waiter_t *waiter)
{
    int serve;

    assert(link->state == TSM_USC_OUT && "tsm_usc_join: the link is in use");
    link->waiter = waiter;
    tsm_mutex_acquire(&usc->lock);
    serve = (usc->server == NULL);
    if (serve)
        tsm_usc_appoint_(usc, link);
    else
        tsm_usc_append_(usc, link);
    tsm_mutex_release(&usc->lock);
    return serve;
}

/* Leave the sleepers. Returns 1 if the thread has been elected and is the server now. */
static inline int tsm_usc_rejoin(tsm_usc_t *usc, tsm_usc_link_t *link)
{
    int elected;

    tsm_mutex_acquire(&usc->lock);
    elected = (link->state == TSM_USC_SERVES);
    if (!elected)
        tsm_usc_remove_(usc, link);
    tsm_mutex_release(&usc->lock);
    if (elected)
        link->waiter->taken += TSM_COUNT_ONE;
    return elected;
}

/* The server leaves. The first of the sleepers becomes the server and is woken, even if a completer
 * is about to wake it. The link and its waiter may be used again on return. */
static inline void tsm_usc_leave(tsm_usc_t *usc, tsm_usc_link_t *link)
{
    tsm_usc_waiter_t *elected = NULL;
    tsm_usc_link_t *next;

    tsm_mutex_acquire(&usc->lock);
    assert(usc->server == link && "tsm_usc_leave: the caller is not the server");
    link->state = TSM_USC_OUT;
    next = usc->first;
    if (next != NULL) {
        elected = next->waiter;         /* the link may be gone once the lock is free */
        tsm_usc_remove_(usc, next);
    }
    tsm_usc_appoint_(usc, next);
    tsm_mutex_release(&usc->lock);
    if (elected != NULL)
        tsm_usc_wake(elected);
}

/* ---- of the waiting thread: all in one ---- */

/* What a thread sleeps on. */
typedef struct tsm_usc_wait {
    tsm_usc_waiter_t *waiter;
    int sets;
    tsm_usc_t *const *usc;              /* that many sets, and a link for each */
    tsm_usc_link_t *link;
    int (*enlist)(void *arg);           /* register each slot; 1 if something is complete already */
    void (*delist)(void *arg);          /* unregister each of them */
    void *arg;
    tsm_wait_policy_t policy;
} tsm_usc_wait_t;

/* Sleep until something is complete or the caller is elected; may return without reason. Returns
 * the number of sets that the caller serves now: those whose link[i].state is TSM_USC_SERVES. It
 * must poll, and finally leave each of them. None of the links may be in use. */
static inline int tsm_usc_sleep_or_serve(const tsm_usc_wait_t *wait)
{
    int joined = 0, serves = 0;

    tsm_usc_begin(wait->waiter);
    while (joined < wait->sets && !serves) {
        serves = tsm_usc_join(wait->usc[joined], &wait->link[joined], wait->waiter);
        joined++;
    }
    if (!serves) {
        if (!wait->enlist(wait->arg))
            tsm_usc_sleep(wait->waiter, wait->policy);
        wait->delist(wait->arg);
    }
    /* the last one joined is the one served, if any is */
    for (int i = joined - 1 - serves; i >= 0; i--)
        serves += tsm_usc_rejoin(wait->usc[i], &wait->link[i]);
    return serves;
}

/*
 * Invariants: (1) As long as a set lists a sleeper it has a server. A server never sleeps: it has
 *             joined with 1, or it has been woken by its election. (2) A slot holds NULL or the
 *             waiter of the one thread that waits for it. To wake that thread, swap the pointer out
 *             and add one to the waiter's count; the swap is the right to touch the waiter, and the
 *             addition, which wakes, is the last touch. An election is the same: taking the link
 *             off the list is the right, the addition the last touch. (3) Every taker adds, so no
 *             taker relies on another one's wake: a completer that takes a pointer and wakes late
 *             delays neither an election nor another completion. (4) The waiter counts its takers:
 *             the slots that it finds empty and its elections. Its memory stays until as many have
 *             added. It may be used for the next sleep before that; a late addition then ends that
 *             sleep early, which costs a poll. (5) The count only grows, and tsm_usc_begin() reads
 *             it before the first join and register, so each addition for a sleep comes after that
 *             read.
 * No lost wake: the waiter registers by a swap and then loads the completion; the completer
 *             completes and then loads the slot. If notify finds the slot still empty, its load is
 *             before the register in the one order of seq_cst accesses, and so the completion is
 *             before the waiter's load, which finds it. Therefore the completing write and that
 *             load must be seq_cst as well. A completer with only acq_rel must call
 *             tsm_usc_notify_swap(), which is always right: of the two swaps of one slot one is
 *             first, and the other acquires from it.
 * Progress:   notify is wait-free, and so is wake (one fetch-and-add, and a system call if the
 *             thread sleeps in the kernel). Join, rejoin and leave take the set's mutex for a few
 *             instructions; an election is O(1). Sleep blocks until it is woken. Settle blocks
 *             until the last taker has added; hold no lock that it may need.
 *
 *   release                             acquire
 *   register: swap of slot              notify: swap of slot (the waiter's fields)
 *   notify: swap of slot                unregister: swap of slot (the slot's memory may go)
 *                                       register, with notify_swap: the completion
 *   wake: fetch-and-add of count        sleep, settle: load of count
 *   mutex                               mutex (server, list, links)
 *   seq_cst: register's swap, notify's load, and the caller's two accesses of the completion
 */

#endif /* TSM_USC_H_INCLUDED */
