/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * DSM-Synch combining that also has a lock interface. A thread either announces an operation and
 * waits until a combiner has executed it, or acquires and releases. Both use one queue, so they
 * exclude each other.
 *
 * Interface:  tsm_dsm_synch_apply()                 execute an operation, here or in another thread
 *             tsm_dsm_synch_begin(), _combine(), _release()         the three parts of apply
 *             tsm_dsm_synch_acquire() or _try(), _combine(), _release()   the object as a lock
 *
 * Source:     Fatourou and Kallimanis, "Revisiting the Combining Synchronization Technique",
 *             PPoPP 2012 (DSM-Synch); ICS'19 "Software Combining to Mitigate Multithreaded MPI
 *             Contention", section 3.3.1, figure 2 (the parts, acquire, release and the gate).
 *             Differences: (a) there the combiner reads the link of a node after it has marked the
 *             node complete, and the last node it executed stays in the queue after its owner has
 *             returned, so each thread needs two nodes that outlive it. Here the combiner reads the
 *             link first, and its own node replaces all nodes that it has taken out, so a thread
 *             needs one node, which is free when the call returns. (b) There the combiner stops
 *             before the last node, whose thread becomes the next combiner. Here it takes the last
 *             one out too, by compare-and-swap of the tail, because that thread may not have a
 *             processor. (c) There the test "counter > MAX_COMBINE" lets MAX_COMBINE + 2 operations
 *             pass; here the bound is exact. (d) The store that the paper already found wrong (its
 *             line 63) is absent. (e) Try, and an acquisition of a free object, pass no gate.
 * Threads:    any number; they may come and go. The caller owns the node, which
 *             tsm_dsm_synch_node_init prepares once; it must stay untouched during apply, and
 *             from begin, acquire or a successful try until release; after that the caller may
 *             reuse or free it. After a begin that returned 0 it is free at once. The operation
 *             runs in any thread that uses the object, may block, and must not use the same object
 *             again. It returns results through its argument.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_DSM_SYNCH_H_INCLUDED
#define TSM_DSM_SYNCH_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"
#include "../lock/tsm_mcs.h"

/* The papers' bound on the operations that one thread executes in a row. */
#define TSM_DSM_SYNCH_MAX_COMBINE 1024

/* Values of a node's status. In IDLE and DONE no other thread uses the node. */
#define TSM_DSM_SYNCH_IDLE    0
#define TSM_DSM_SYNCH_WAITING 1
#define TSM_DSM_SYNCH_PARKED  2
#define TSM_DSM_SYNCH_GRANTED 3
#define TSM_DSM_SYNCH_DONE    4

typedef void (*tsm_dsm_synch_op_t)(void *arg);

typedef struct tsm_dsm_synch_node {
    TSM_ATOMIC(struct tsm_dsm_synch_node *) next;
    TSM_ATOMIC(uint32_t) status;
    uint32_t executed;                  /* operations since it was granted, with our own */
    tsm_dsm_synch_op_t op;              /* NULL: no operation, this is an acquisition */
    void *arg;
    int gated;                          /* we hold the gate */
    tsm_mcs_node_t gate;                /* for acquisitions */
} tsm_dsm_synch_node_t;

typedef struct tsm_dsm_synch {
    TSM_ATOMIC(tsm_dsm_synch_node_t *) tail;
    char pad[TSM_CACHELINE - sizeof(void *)];
    tsm_mcs_t gate;                     /* lets one acquisition at a time wait in the queue */
    uint32_t max_combine;
} tsm_dsm_synch_t;

/* Make a free object; max_combine, at least 1: how many operations one thread executes at most
 * before it passes the duty on. One thread, before any use. */
static inline void tsm_dsm_synch_init(tsm_dsm_synch_t *dsm, uint32_t max_combine)
{
    assert(max_combine > 0);
    tsm_store(&dsm->tail, NULL, TSM_RELAXED);
    tsm_mcs_init(&dsm->gate);
    dsm->max_combine = max_combine;
}

/* Prepare a node, once. Its owner, before any use of it. */
static inline void tsm_dsm_synch_node_init(tsm_dsm_synch_node_t *node)
{
    tsm_store(&node->status, TSM_DSM_SYNCH_IDLE, TSM_RELAXED);
}

/* 1 if no other thread uses the node. For assertions. */
static inline int tsm_dsm_synch_is_free_(tsm_dsm_synch_node_t *node)
{
    uint32_t status = tsm_load(&node->status, TSM_RELAXED);

    return status == TSM_DSM_SYNCH_IDLE || status == TSM_DSM_SYNCH_DONE;
}

static inline void tsm_dsm_synch_prepare_(tsm_dsm_synch_node_t *node, tsm_dsm_synch_op_t op,
                                          void *arg)
{
    assert(tsm_dsm_synch_is_free_(node) && "tsm_dsm_synch: the node is in use");
    node->op = op;
    node->arg = arg;
    node->executed = op != NULL;
    node->gated = 0;
    tsm_store(&node->next, NULL, TSM_RELAXED);
}

/* Append a prepared node. Returns its predecessor, which must be linked to it, or NULL if the object
 * was free. */
static inline tsm_dsm_synch_node_t *tsm_dsm_synch_append_(tsm_dsm_synch_t *dsm,
                                                          tsm_dsm_synch_node_t *node)
{
    tsm_store(&node->status, TSM_DSM_SYNCH_WAITING, TSM_RELAXED);
    return tsm_swap(&dsm->tail, node, TSM_ACQ_REL);
}

static inline void tsm_dsm_synch_link_(tsm_dsm_synch_node_t *pred, tsm_dsm_synch_node_t *node)
{
    tsm_store(&pred->next, node, TSM_RELEASE);
}

/* Append a prepared node and wait. Returns 1 if we are the combiner, 0 if the operation is done. */
static inline int tsm_dsm_synch_enter_(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    tsm_dsm_synch_node_t *pred = tsm_dsm_synch_append_(dsm, node);

    if (pred == NULL) {
        tsm_store(&node->status, TSM_DSM_SYNCH_GRANTED, TSM_RELAXED);
        return 1;
    }
    tsm_dsm_synch_link_(pred, node);
    tsm_wait_word(&node->status, TSM_DSM_SYNCH_WAITING, TSM_DSM_SYNCH_PARKED, TSM_WAIT_PARK);
    return tsm_load(&node->status, TSM_RELAXED) == TSM_DSM_SYNCH_GRANTED;
}

/* Take the only waiting node out of the queue, so that ours is the tail again. Returns 0 if another
 * thread has appended itself behind it and is about to link; then our link must be restored. */
static inline int tsm_dsm_synch_take_last_(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node,
                                           tsm_dsm_synch_node_t *last)
{
    /* a thread that finds our node in tail links itself to it */
    tsm_store(&node->next, NULL, TSM_RELAXED);
    return tsm_cas(&dsm->tail, &last, node, TSM_RELEASE, TSM_RELAXED);
}

/* Take out the node behind ours, *next, execute its operation, and set *next to the node behind it,
 * maybe NULL. Returns 0, with nothing done, if another thread is about to link itself to *next. */
static inline int tsm_dsm_synch_serve_(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node,
                                       tsm_dsm_synch_node_t **next)
{
    tsm_dsm_synch_node_t *served = *next;
    tsm_dsm_synch_node_t *after = tsm_load(&served->next, TSM_ACQUIRE);
    int is_last = after == NULL;

    if (is_last && !tsm_dsm_synch_take_last_(dsm, node, served))
        return 0;
    if (!is_last)
        __builtin_prefetch(after);      /* its thread has written it, maybe on another core */
    node->executed++;
    served->op(served->arg);
    tsm_wake_word(&served->status, TSM_DSM_SYNCH_DONE, TSM_DSM_SYNCH_PARKED);
    *next = is_last ? tsm_load(&node->next, TSM_ACQUIRE) : after;
    return 1;
}

/* Execute operations that wait behind us, until none waits, an acquisition is next, or max_combine are
 * executed since we got the object. Returns their number. By the combiner or holder; does not wait. */
static inline uint32_t tsm_dsm_synch_combine(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    tsm_dsm_synch_node_t *next = tsm_load(&node->next, TSM_ACQUIRE);
    uint32_t before = node->executed;

    assert(tsm_load(&node->status, TSM_RELAXED) == TSM_DSM_SYNCH_GRANTED &&
           "tsm_dsm_synch: combine without the object");
    while (next != NULL && next->op != NULL && node->executed < dsm->max_combine) {
        if (!tsm_dsm_synch_serve_(dsm, node, &next))
            break;                      /* the thread of *next will be the combiner */
    }
    if (next != NULL)
        tsm_store(&node->next, next, TSM_RELAXED);
    return node->executed - before;
}

/* Make the thread of the next node the combiner, or leave the object free. */
static inline void tsm_dsm_synch_leave_(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    tsm_dsm_synch_node_t *next = tsm_load(&node->next, TSM_ACQUIRE);
    tsm_dsm_synch_node_t *expected = node;

    if (next == NULL && !tsm_cas(&dsm->tail, &expected, NULL, TSM_RELEASE, TSM_RELAXED)) {
        /* a successor has swapped the tail and is about to link */
        tsm_wait_until((next = tsm_load(&node->next, TSM_ACQUIRE)) != NULL, TSM_WAIT_POLL);
    }
    if (next != NULL)
        tsm_wake_word(&next->status, TSM_DSM_SYNCH_GRANTED, TSM_DSM_SYNCH_PARKED);
    tsm_store(&node->status, TSM_DSM_SYNCH_IDLE, TSM_RELAXED);
}

/* Announce op(arg) and wait. Returns 0 if another thread has executed it. Returns 1 if the object is
 * ours: execute the operation here, then combine if wanted, then release. Blocks; FIFO. */
static inline int tsm_dsm_synch_begin(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node,
                                      tsm_dsm_synch_op_t op, void *arg)
{
    assert(op != NULL);
    tsm_dsm_synch_prepare_(node, op, arg);
    return tsm_dsm_synch_enter_(dsm, node);
}

/* 1 if the object was free and is ours now, else 0; then no other thread has seen the node. Never
 * waits. It leaves the gate alone: no acquisition waits in a queue that is free. */
static inline int tsm_dsm_synch_try(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    tsm_dsm_synch_node_t *expected = NULL;

    /* load first, so that a failure does not take the cache line from the others */
    if (tsm_load(&dsm->tail, TSM_RELAXED) != NULL)
        return 0;
    tsm_dsm_synch_prepare_(node, NULL, NULL);
    if (!tsm_cas(&dsm->tail, &expected, node, TSM_ACQ_REL, TSM_RELAXED))
        return 0;
    tsm_store(&node->status, TSM_DSM_SYNCH_GRANTED, TSM_RELAXED);
    return 1;
}

/* Blocks until the object is ours. Not recursive. FIFO among the acquisitions that find it taken. */
static inline void tsm_dsm_synch_acquire_only(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    if (tsm_dsm_synch_try(dsm, node))
        return;
    tsm_dsm_synch_prepare_(node, NULL, NULL);
    tsm_mcs_acquire(&dsm->gate, &node->gate);
    node->gated = 1;
    tsm_dsm_synch_enter_(dsm, node);
}

/* The same; before it returns, it executes operations that wait behind. */
static inline void tsm_dsm_synch_acquire(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    tsm_dsm_synch_acquire_only(dsm, node);
    tsm_dsm_synch_combine(dsm, node);
}

/* By the holder or combiner, with the node it got the object with. Waits only while a successor is
 * between its swap and its link. */
static inline void tsm_dsm_synch_release(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    assert(tsm_load(&node->status, TSM_RELAXED) == TSM_DSM_SYNCH_GRANTED &&
           "tsm_dsm_synch: release without the object");
    tsm_dsm_synch_leave_(dsm, node);
    if (node->gated)
        tsm_mcs_release(&dsm->gate, &node->gate);
}

/* Execute op(arg) in this thread or another, alone on the object; returns when it is done. Blocks;
 * FIFO. Not from inside an operation on the same object, nor by a holder of it. */
static inline void tsm_dsm_synch_apply(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node,
                                       tsm_dsm_synch_op_t op, void *arg)
{
    if (!tsm_dsm_synch_begin(dsm, node, op, arg))
        return;
    op(arg);
    tsm_dsm_synch_combine(dsm, node);
    tsm_dsm_synch_release(dsm, node);
}

/*
 * Invariants: (1) tail is NULL exactly when no thread combines, holds or waits, else the newest
 *             node. The nodes form one list from the combiner's own node to tail. (2) Only the next
 *             node's thread, and the combiner's in its own node, write a link: the successor links
 *             itself once, to the node that it found in tail. The combiner moves its own link
 *             forward, which has been set then, or clears it in order to take the last node out.
 *             While it is clear and tail names another node, no thread writes it; when the
 *             compare-and-swap has put the combiner's node into tail, the next thread to arrive
 *             does. If it fails, the combiner sets the link back. (3) A node is executed and marked
 *             when it is out of the queue: its link is known, and the combiner's node takes its
 *             place, or it was the tail and the combiner's node has become the tail. So its thread
 *             may reuse it at once. (4) At most one node without operation waits in the queue, as
 *             its thread holds the gate; combining stops before it. The combiner's own may be
 *             another. (5) A node reaches DONE only after its operation, and GRANTED only without
 *             it.
 * Progress:   blocking; operations and acquisitions take effect in the order in which they enter
 *             the queue, by a swap of tail. Acquisitions wait at the gate first, FIFO; but one that
 *             finds the object free enters the queue at once, before those at the gate. Try is
 *             bounded. A thread executes at most max_combine operations before it passes the duty
 *             on, however often it combines. It passes it on earlier only to an acquisition, and to
 *             the thread before one that is between its swap and its link. Combine never waits.
 *
 *   release                                 acquire
 *   apply, acquire: swap of tail; try:      apply, acquire: swap of tail by the successor (our link
 *     CAS of tail (ACQ_REL)                   is NULL before the successor writes it)
 *   combine: CAS of tail from the last      apply, acquire: swap of tail by the successor (the same,
 *     node to ours                            for the link that we have cleared)
 *   apply, acquire: store of the link       combine: loads of a link (operation, argument, WAITING)
 *                                           release: load of the link (the successor's status is
 *                                             WAITING before we overwrite it)
 *   combine: swap of a status to DONE       apply, begin: end of tsm_wait_word (the operation's
 *                                             effects)
 *   release: swap of the successor's        apply, begin, acquire: end of tsm_wait_word (all that
 *     status to GRANTED                       was protected so far)
 *   release: CAS of tail to NULL            apply, acquire: swap of tail that finds NULL; try: CAS
 *   The combiner's stores of its own link are relaxed: no other thread reads that link, and those
 *   that may write it come before (they have linked) or after (the CAS of tail). The CAS that takes
 *   the last node out acquires nothing: the link has told all about that node. The check for the
 *   last node loads the link with acquire, as it is the pointer followed next.
 */

#endif /* TSM_DSM_SYNCH_H_INCLUDED */
