/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * A gate in front of any lock limits how many threads compete for it. It is open while the threads
 * of the node fit on the processors (tsm_load.h). With more threads, only the favoured thread passes
 * for about a scheduling quantum and the others wait in the gate's queue, so that a FIFO lock does
 * not pay a context switch for each hand-over.
 *
 * Source:     GCR, the wrapper of Dice and Kogan, "Avoiding Scalability Collapse by Restricting
 *             Concurrency", Euro-Par 2019: a FIFO of passive threads, of which the first watches,
 *             in front of an unchanged lock; Dice, "Malthusian Locks", EuroSys 2017: few threads
 *             circulate, and one of the others is admitted now and then for long-term fairness. GCR
 *             counts the active threads with atomic instructions; here the gate names the one thread
 *             that may pass, which costs that thread a compare and a plain store.
 *
 * Use:        tsm_gated.h has our locks with their gates. In general, give the inner lock's try and
 *             acquire, which are evaluated after the gate is passed:
 *               tsm_gate_acquire(&gate, tsm_mcs_try(&lock, node), tsm_mcs_acquire(&lock, node));
 *               tsm_mcs_release(&lock, node);                     the gate has no part in it
 *               if (tsm_gate_try(&gate, tsm_mcs_try(&lock, node))) ...
 *             For a lock without a try write 0; the count in `waiting` then costs two atomic
 *             instructions each time. Each lock has its own gate. A lock with two priorities has a
 *             gate for each, so that its high threads never queue behind low ones. Its low threads
 *             use the functions that end in _below: they also wait, for a quantum at most, while
 *             high threads queue at their gate, where the lock does not see them. Each gate counts
 *             its own threads. HMCS's try goes to the root, so it may overtake a thread that climbs
 *             from a leaf; the other tries overtake no thread.
 *
 * Threads:    any number; they may come and go. No node and nothing to register.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_GATE_H_INCLUDED
#define TSM_GATE_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_load.h"
#include "../tsm_wait.h"
#include "tsm_mcs.h"
#include "tsm_watch.h"

/* Uses after which the favoured thread checks whether a thread queues. */
#define TSM_GATE_USES 64

typedef struct tsm_gate {
    TSM_ATOMIC(uintptr_t) favoured;     /* 0 or a thread; each thread that arrives reads it */
    TSM_ATOMIC(uint32_t) uses;          /* counted by the favoured thread */
    char pad1[TSM_CACHELINE - sizeof(uintptr_t) - sizeof(uint32_t)];
    tsm_mcs_t queue;                    /* its holder is the head */
    TSM_ATOMIC(int) waiting;            /* threads that wait for the inner lock */
    char pad2[TSM_CACHELINE - sizeof(tsm_mcs_t) - sizeof(int)];
} tsm_gate_t;

#define TSM_GATE_INITIALIZER { 0, 0, { 0 }, TSM_MCS_INITIALIZER, 0, { 0 } }

/* Make an open gate. One thread, before any use. */
static inline void tsm_gate_init(tsm_gate_t *gate)
{
    tsm_store(&gate->favoured, 0, TSM_RELAXED);
    tsm_store(&gate->uses, 0, TSM_RELAXED);
    tsm_mcs_init(&gate->queue);
    tsm_store(&gate->waiting, 0, TSM_RELAXED);
}

/* 1 if threads wait at the gate, else 0; may be out of date on return. Wait-free. */
static inline int tsm_gate_queued(tsm_gate_t *gate)
{
    return tsm_load(&gate->queue.tail, TSM_RELAXED) != NULL;
}

/* Count a pass of the favoured thread. It opens the gate by compare-and-swap, because another thread
 * may have become the favoured one, with a queue of its own. */
static inline void tsm_gate_use_(tsm_gate_t *gate)
{
    uintptr_t me = tsm_watch_me();
    uint32_t uses = tsm_load(&gate->uses, TSM_RELAXED) + 1;

    tsm_store(&gate->uses, uses, TSM_RELAXED);
    if (uses % TSM_GATE_USES == 0 && !tsm_gate_queued(gate))
        tsm_cas(&gate->favoured, &me, 0, TSM_RELAXED, TSM_RELAXED);
}

/* May we pass without queueing? above: NULL, or the gate of a higher priority. */
static inline int tsm_gate_pass_(tsm_gate_t *gate, tsm_gate_t *above)
{
    uintptr_t favoured = tsm_load(&gate->favoured, TSM_RELAXED);

    if (above != NULL && tsm_load(&above->favoured, TSM_RELAXED) != 0 && tsm_gate_queued(above))
        return 0;
    if (favoured == 0)
        return 1;
    if (favoured != tsm_watch_me())
        return 0;
    tsm_gate_use_(gate);
    return 1;
}

/* What the head saw at its last look. */
typedef struct tsm_gate_view {
    tsm_gate_t *gate;
    uint32_t uses;
    int looked;
} tsm_gate_view_t;

/* By the head: 1 if the gate is open or may open, or the lock idle. */
static inline int tsm_gate_look_(void *arg)
{
    tsm_gate_view_t *view = arg;
    uint32_t last = view->uses;

    if (tsm_load(&view->gate->favoured, TSM_RELAXED) == 0 || !tsm_load_crowded())
        return 1;
    view->uses = tsm_load(&view->gate->uses, TSM_RELAXED);
    if (!view->looked++)
        return 0;
    return view->uses == last && tsm_load(&view->gate->waiting, TSM_RELAXED) == 0;
}

/* By the head: 1 if no thread queues at the gate above. */
static inline int tsm_gate_look_above_(void *above)
{
    return !tsm_gate_queued(above);
}

/* Wait in the queue. Out of line, to save the caller's registers. */
static __attribute__((noinline, unused)) void tsm_gate_queue_(tsm_gate_t *gate, tsm_gate_t *above)
{
    tsm_gate_view_t view = { gate, 0, 0 };
    tsm_mcs_node_t node;

    tsm_load_touch();
    tsm_mcs_acquire(&gate->queue, &node);
    tsm_watch(tsm_gate_look_, &view);
    if (above != NULL)
        tsm_watch(tsm_gate_look_above_, above);
    int last = tsm_load(&gate->queue.tail, TSM_RELAXED) == &node;
    /* the load may have changed since the gate was closed: no thread but the head would notice */
    int opens = last || !tsm_load_crowded();
    tsm_store(&gate->favoured, opens ? 0 : tsm_watch_me(), TSM_RELAXED);
    tsm_mcs_release(&gate->queue, &node);
}

/* Pass the gate, at once or by the queue. */
static inline void tsm_gate_enter_(tsm_gate_t *gate, tsm_gate_t *above)
{
    if (!tsm_gate_pass_(gate, above))
        tsm_gate_queue_(gate, above);
}

/* Count the caller before it waits for the inner lock, and close the gate if another thread waits
 * too and there are more threads than processors. */
static inline void tsm_gate_wait_begin_(tsm_gate_t *gate)
{
    uintptr_t open = 0;

    tsm_load_touch();
    if (tsm_fetch_add(&gate->waiting, 1, TSM_RELAXED) > 0 && tsm_load_crowded() &&
        tsm_load(&gate->favoured, TSM_RELAXED) == open)
        tsm_cas(&gate->favoured, &open, tsm_watch_me(), TSM_RELAXED, TSM_RELAXED);
}

static inline void tsm_gate_wait_end_(tsm_gate_t *gate)
{
    tsm_fetch_add(&gate->waiting, -1, TSM_RELAXED);
}

/* May a try go on to the inner try? Yes if the gate is closed but no thread queues: otherwise it
 * would stay closed to a thread that only tries. */
static inline int tsm_gate_try_(tsm_gate_t *gate, tsm_gate_t *above)
{
    if (tsm_gate_pass_(gate, above))
        return 1;
    return !tsm_gate_queued(gate) && (above == NULL || !tsm_gate_queued(above));
}

/* Blocks until the inner lock is ours. try_: an expression, true if it has taken the inner lock;
 * acquire_: a statement that takes it. Release the inner lock only. */
#define tsm_gate_acquire(gate_, try_, acquire_) \
    tsm_gate_acquire_below(gate_, NULL, try_, acquire_)

/* The same for a lower priority: waits also, for a while, if threads queue at the gate above_. */
#define tsm_gate_acquire_below(gate_, above_, try_, acquire_) \
    do { \
        tsm_gate_enter_((gate_), (above_)); \
        if (!(try_)) { \
            tsm_gate_wait_begin_(gate_); \
            acquire_; \
            tsm_gate_wait_end_(gate_); \
        } \
    } while (0)

/* 1 if try_ took the inner lock; 0 if it did not, or if threads queue and the caller is not the
 * favoured one. Never waits. */
#define tsm_gate_try(gate_, try_) tsm_gate_try_below(gate_, NULL, try_)
#define tsm_gate_try_below(gate_, above_, try_) (tsm_gate_try_((gate_), (above_)) && (try_))

/*
 * Policy.     `favoured` is 0 while the gate is open. A thread that finds the inner lock taken is
 *             counted in `waiting` until it has the lock; if another thread waits already and the
 *             load is crowded, it closes the gate and becomes the favoured thread. Other threads
 *             that arrive then queue. The first in the queue, the head, is awake and watches, with
 *             a yield for each look, since the favoured thread may need the processor. Its watch
 *             ends when
 *              - the gate is open, or the load is no longer crowded, or
 *              - the favoured thread has not passed from one look to the next and no thread waits
 *                at the inner lock: a free lock does not stay idle while threads wait, or
 *              - TSM_WATCH_QUANTUM_NS are over.
 *             Then the head becomes the favoured thread if another thread queues behind it and the
 *             load is still crowded; otherwise it opens the gate. The favoured thread also opens the
 *             gate now and then if no thread queues. The inner lock orders the threads that have
 *             passed; ours are FIFO.
 *
 * Invariants: (1) The gate is only policy: a thread that passes wrongly or twice, or with the name
 *             of a thread that has ended, costs order or speed. The inner lock alone excludes.
 *             (2) The queue's holder, the head, never sleeps, and its watch ends after a quantum at
 *             most, so the favoured thread wakes no thread and no wake-up can be lost. (3) While the
 *             load is not crowded, or at most one thread waits for the inner lock, no thread closes
 *             the gate. If it is closed when the load ceases to be crowded, the head opens it at its
 *             next look, or else the next thread that must queue does. While it is open, the order
 *             is the inner lock's. (4) A thread touches the gate only before its
 *             critical section, so the last holder may free gate and lock after release.
 * Progress:   passing is blocking and FIFO in the queue, with a quantum at most for each thread
 *             before us, as far as the scheduler runs the head; below another gate, with another
 *             quantum. Passing an open gate costs one load, or two below another gate. Passing a
 *             closed one costs the favoured thread a few loads and a store, and a compare-and-swap
 *             once in TSM_GATE_USES. Try adds no more than that to the inner try; while threads
 *             queue, it fails for all but the favoured thread.
 *
 *   No pairs of its own: `favoured`, `uses` and `waiting` are hints, so all accesses are relaxed.
 *   The queue's pairs, in tsm_mcs.h, only hand on the place of the head; the inner lock's pairs
 *   order what the lock protects.
 */

#endif /* TSM_GATE_H_INCLUDED */
