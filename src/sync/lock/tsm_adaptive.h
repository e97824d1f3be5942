/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The adaptive lock: one word that a thread takes by compare-and-swap, and an MCS queue for the
 * threads that did not get it. It is strictly FIFO while the threads of the node fit on the
 * processors (tsm_load.h). With more threads, running threads may overtake waiting ones for about a
 * scheduling quantum.
 *
 * Source:     ours, from known parts: an outer word and an inner queue whose head alone competes
 *             for the word is LOITER (Dice, "Malthusian Locks", EuroSys 2017, appendix); giving the
 *             lock to running threads, within bounds, is from He, Scherer, Scott, "Preemption
 *             Adaptivity in Time-Published Queue-Based Spin Locks", HiPC 2005. Need: an unfair
 *             mutex starves progress (TOPC "Locking Aspects in Multithreaded MPI Implementations",
 *             section 5), and FIFO with more threads than processors costs a context switch with
 *             each hand-over.
 *
 * Threads:    any number; they may come and go; no node, no per-thread state. Any thread may
 *             release on behalf of the holder. The last holder may free the lock after release.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_ADAPTIVE_H_INCLUDED
#define TSM_ADAPTIVE_H_INCLUDED

#include <assert.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_load.h"
#include "../tsm_wait.h"
#include "tsm_mcs.h"
#include "tsm_watch.h"

/* Bits of the word; what is above them counts the releases. */
#define TSM_ADAPTIVE_HELD    1u
#define TSM_ADAPTIVE_CLAIMED 2u
#define TSM_ADAPTIVE_ASLEEP  4u
#define TSM_ADAPTIVE_STATE   7u

/* What a release adds: one more release counted, and HELD cleared. */
#define TSM_ADAPTIVE_LEAVE (TSM_ADAPTIVE_STATE + 1u - TSM_ADAPTIVE_HELD)

/* Looks of a thread that arrives, a pause after each, before it queues. test/model uses fewer. */
#ifndef TSM_ADAPTIVE_LOOKS
#define TSM_ADAPTIVE_LOOKS 32
#endif

/* Values of the bell. */
#define TSM_ADAPTIVE_WAITING 0
#define TSM_ADAPTIVE_PARKED  1
#define TSM_ADAPTIVE_RUNG    2

typedef struct tsm_adaptive {
    TSM_ATOMIC(uint32_t) word;
    TSM_ATOMIC(uint32_t) bell;          /* the heir sleeps here */
    char pad[TSM_CACHELINE - 2 * sizeof(uint32_t)];
    tsm_mcs_t queue;                    /* its holder is the heir */
    TSM_ATOMIC(int) queued;             /* threads in the queue */
} tsm_adaptive_t;

#define TSM_ADAPTIVE_INITIALIZER { 0, TSM_ADAPTIVE_WAITING, { 0 }, TSM_MCS_INITIALIZER, 0 }

/* Make a free lock. One thread, before any use. */
static inline void tsm_adaptive_init(tsm_adaptive_t *lock)
{
    tsm_store(&lock->word, 0, TSM_RELAXED);
    tsm_store(&lock->bell, TSM_ADAPTIVE_WAITING, TSM_RELAXED);
    tsm_mcs_init(&lock->queue);
    tsm_store(&lock->queued, 0, TSM_RELAXED);
}

/* Returns 1 if the lock is now ours, 0 if it was held or claimed. Never waits. */
static inline int tsm_adaptive_try(tsm_adaptive_t *lock)
{
    uint32_t word = tsm_load(&lock->word, TSM_RELAXED);

    /* load first, so that a failure does not take the cache line from the others */
    if (word & TSM_ADAPTIVE_STATE)
        return 0;
    return tsm_cas(&lock->word, &word, word | TSM_ADAPTIVE_HELD, TSM_ACQUIRE, TSM_RELAXED);
}

/* 1 if running threads may overtake. Never while one thread alone is at the lock. */
static inline int tsm_adaptive_crowded_(tsm_adaptive_t *lock, uint32_t word)
{
    int holders = (word & TSM_ADAPTIVE_HELD) != 0;

    return tsm_load(&lock->queued, TSM_RELAXED) + holders > 1 && tsm_load_crowded();
}

/* By the heir, with a word without HELD: take the lock. Leaves CLAIMED for the next heir, if there
 * is one, while the lock is FIFO. Returns 0, and the present word, if another thread was faster. */
static inline int tsm_adaptive_take_(tsm_adaptive_t *lock, tsm_mcs_node_t *heir, uint32_t *word)
{
    uint32_t taken = (*word & ~TSM_ADAPTIVE_STATE) | TSM_ADAPTIVE_HELD;

    if (tsm_load(&lock->queue.tail, TSM_RELAXED) != heir && !tsm_adaptive_crowded_(lock, *word))
        taken |= TSM_ADAPTIVE_CLAIMED;
    return tsm_cas(&lock->word, word, taken, TSM_ACQUIRE, TSM_RELAXED);
}

/* What the heir saw at its last look. */
typedef struct tsm_adaptive_view {
    tsm_adaptive_t *lock;
    tsm_mcs_node_t *heir;
    uint32_t word;
} tsm_adaptive_view_t;

enum { TSM_ADAPTIVE_GO_ON, TSM_ADAPTIVE_MINE, TSM_ADAPTIVE_OURS };

/* By the heir: take the lock if it is idle (MINE), or stop because the heir before us has claimed
 * it for us (OURS). A release changes the word, so the same word twice without HELD means idle. */
static inline int tsm_adaptive_look_(void *arg)
{
    tsm_adaptive_view_t *view = arg;
    uint32_t last = view->word, word = tsm_load(&view->lock->word, TSM_RELAXED);

    view->word = word;
    if (word & TSM_ADAPTIVE_CLAIMED)
        return TSM_ADAPTIVE_OURS;
    if (word != last || (word & TSM_ADAPTIVE_HELD))
        return TSM_ADAPTIVE_GO_ON;
    return tsm_adaptive_take_(view->lock, view->heir, &word) ? TSM_ADAPTIVE_MINE
                                                             : TSM_ADAPTIVE_GO_ON;
}

/* By the heir: for a quantum, take the lock only if it is idle. Returns 1 if we have it. */
static inline int tsm_adaptive_watch_(tsm_adaptive_t *lock, tsm_mcs_node_t *heir)
{
    tsm_adaptive_view_t view = { lock, heir, TSM_ADAPTIVE_HELD };

    return tsm_watch(tsm_adaptive_look_, &view) == TSM_ADAPTIVE_MINE;
}

/* By the heir, after it claimed the lock: sleep until the release, unless that has just come. */
static inline void tsm_adaptive_park_(tsm_adaptive_t *lock, uint32_t word)
{
    static const tsm_wait_policy_t at_once = { 0, 0, 1 };

    if (!tsm_cas(&lock->word, &word, word | TSM_ADAPTIVE_ASLEEP, TSM_RELAXED, TSM_RELAXED))
        return;
    tsm_wait_word(&lock->bell, TSM_ADAPTIVE_WAITING, TSM_ADAPTIVE_PARKED, at_once);
    tsm_store(&lock->bell, TSM_ADAPTIVE_WAITING, TSM_RELAXED);
}

/* By the heir: claim the lock, so that no other thread gets it, and take it when it is released. */
static inline void tsm_adaptive_claim_(tsm_adaptive_t *lock, tsm_mcs_node_t *heir)
{
    tsm_wait_state_t state = tsm_wait_begin(TSM_WAIT_PARK);
    uint32_t word = tsm_load(&lock->word, TSM_RELAXED);

    for (;;) {
        if (!(word & TSM_ADAPTIVE_HELD)) {
            if (tsm_adaptive_take_(lock, heir, &word))
                return;
            continue;
        }
        if (!(word & TSM_ADAPTIVE_CLAIMED))
            tsm_cas(&lock->word, &word, word | TSM_ADAPTIVE_CLAIMED, TSM_RELAXED, TSM_RELAXED);
        else if (tsm_wait_step(&state, 1))
            tsm_adaptive_park_(lock, word);
        word = tsm_load(&lock->word, TSM_RELAXED);
    }
}

/* Wait in the queue. Out of line, to save the caller's registers. */
static __attribute__((noinline, unused)) void tsm_adaptive_queue_(tsm_adaptive_t *lock)
{
    tsm_mcs_node_t node;

    tsm_load_touch();
    tsm_fetch_add(&lock->queued, 1, TSM_RELAXED);
    tsm_mcs_acquire(&lock->queue, &node);
    int crowded = tsm_adaptive_crowded_(lock, tsm_load(&lock->word, TSM_RELAXED));
    if (!crowded || !tsm_adaptive_watch_(lock, &node))
        tsm_adaptive_claim_(lock, &node);
    tsm_fetch_add(&lock->queued, -1, TSM_RELAXED);
    tsm_mcs_release(&lock->queue, &node);
}

/* Blocks until the lock is ours. Not for a thread that holds it already. */
static inline void tsm_adaptive_acquire(tsm_adaptive_t *lock)
{
    for (int looks = 0; looks < TSM_ADAPTIVE_LOOKS; looks++) {
        if (tsm_adaptive_try(lock))
            return;
        if (tsm_load(&lock->word, TSM_RELAXED) & TSM_ADAPTIVE_CLAIMED)
            break;
        tsm_cpu_pause();
    }
    tsm_adaptive_queue_(lock);
}

/* By the holder, or on its behalf. Wait-free; another thread may have freed the lock on return. */
static inline void tsm_adaptive_release(tsm_adaptive_t *lock)
{
    uint32_t old = tsm_fetch_add(&lock->word, TSM_ADAPTIVE_LEAVE, TSM_RELEASE);

    assert((old & TSM_ADAPTIVE_HELD) && "tsm_adaptive_release: the lock is not held");
    if (old & TSM_ADAPTIVE_ASLEEP)
        tsm_wake_word(&lock->bell, TSM_ADAPTIVE_RUNG, TSM_ADAPTIVE_PARKED);
}

/*
 * Policy.     A thread that arrives takes the word if it is free; if not, it retries for a moment.
 *             Then it queues and, unless it is first, parks. The first in the queue, the heir, is
 *             awake and has two ways to get the lock:
 *              - watch, if the threads outnumber the processors: it takes the lock only if it was
 *                idle from one look to the next. Until TSM_WATCH_QUANTUM_NS are over, the lock
 *                stays with the running thread, hot in its cache, and no thread is woken. Then the
 *                heir goes on to
 *              - claim, at once if the threads fit: with CLAIMED set only the heir can take the
 *                word, so it gets the lock at the next release. It spins and yields a little and
 *                then parks, with ASLEEP set so that the release wakes it.
 *             An heir that gets the lock makes the next thread in the queue the heir. If the threads
 *             fit, it leaves CLAIMED set, so that no other thread slips in between.
 *             So there is one wake-up in a quantum and not one in a critical section, there is no
 *             convoy, and n threads that all want the lock get it about once in n quanta each.
 *
 * Invariants: (1) HELD is set exactly while a thread has the lock. (2) Only the heir sets CLAIMED
 *             and ASLEEP and clears them; ASLEEP is set only while HELD and CLAIMED are. (3) The
 *             word's upper bits count the releases: a word found free and unchanged was idle (or
 *             released 2^29 times in between, which costs fairness once). (4) bell is WAITING
 *             unless an heir sleeps or was just woken; each ASLEEP gets exactly one ring, from the
 *             release that finds it, and the heir waits for that ring.
 * Progress:   acquire is blocking and does not starve: the queue is FIFO, and threads overtake its
 *             head for a quantum at most. With no more threads than processors, threads get the
 *             lock in the order of the queue. Try is bounded: a load, a compare-and-swap; it fails
 *             while an heir has claimed the lock. Release is wait-free: one fetch-and-add, and a
 *             wake-up if the heir sleeps.
 *
 *   release                                 acquire
 *   release: fetch-and-add of word          CAS of word that sets HELD, in try and take_; one
 *                                           release sequence, as only RMWs write the word
 *   release: swap of bell, in               park_: end of tsm_wait_word
 *     tsm_wake_word
 *   those of the queue, see tsm_mcs.h       an heir sees the bell as the heir before left it; so
 *                                           does the releaser, through the word
 *   The CAS of word that sets CLAIMED or ASLEEP is relaxed: it publishes no other data.
 *   `queued` is a hint: relaxed.
 */

#endif /* TSM_ADAPTIVE_H_INCLUDED */
