/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * DSM-Synch combining that also has a lock interface. A thread either announces an operation and
 * waits until a combiner has executed it, or acquires and releases. Both use one queue, so they
 * exclude each other.
 *
 * Source:     Fatourou and Kallimanis, "Revisiting the Combining Synchronization Technique",
 *             PPoPP 2012 (DSM-Synch); ICS'19 "Software Combining to Mitigate Multithreaded MPI
 *             Contention", section 3.3.1, figure 2c (acquire, release and the gate). Differences:
 *             (a) there the combiner reads the link of a node after it has marked the node
 *             complete, and the last node it executed stays in the queue after its owner has
 *             returned, so each thread needs two nodes that outlive it. Here the combiner reads the
 *             link first, and its own node replaces all nodes that it has taken out, so a thread
 *             needs one node, which is free when the call returns. (b) There the test "counter >
 *             MAX_COMBINE" lets MAX_COMBINE + 2 operations pass; here the bound is exact. (c) The
 *             store that the paper already found wrong (its line 63) is absent.
 * Threads:    any number; they may come and go. The caller owns the node, which
 *             tsm_dsm_synch_node_init prepares once; it must stay untouched during apply, and
 *             from acquire until release; after that the caller may reuse or free it. The operation
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
    tsm_dsm_synch_op_t op;              /* NULL: no operation, this is an acquisition */
    void *arg;
    tsm_mcs_node_t gate;                /* for acquisitions */
} tsm_dsm_synch_node_t;

typedef struct tsm_dsm_synch {
    TSM_ATOMIC(tsm_dsm_synch_node_t *) tail;
    char pad[TSM_CACHELINE - sizeof(void *)];
    tsm_mcs_t gate;                     /* lets one acquisition at a time into the queue */
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

/* Append node, whose op and arg are set. Returns its predecessor, which must be linked to it, or
 * NULL if the object was free. */
static inline tsm_dsm_synch_node_t *tsm_dsm_synch_append_(tsm_dsm_synch_t *dsm,
                                                          tsm_dsm_synch_node_t *node)
{
    tsm_store(&node->next, NULL, TSM_RELAXED);
    tsm_store(&node->status, TSM_DSM_SYNCH_WAITING, TSM_RELAXED);
    return tsm_swap(&dsm->tail, node, TSM_ACQ_REL);
}

static inline void tsm_dsm_synch_link_(tsm_dsm_synch_node_t *pred, tsm_dsm_synch_node_t *node)
{
    tsm_store(&pred->next, node, TSM_RELEASE);
}

/* Append node and wait. Returns 1 if we are the combiner, 0 if the operation is done. */
static inline int tsm_dsm_synch_enter_(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    assert(tsm_dsm_synch_is_free_(node) && "tsm_dsm_synch: the node is in use");
    tsm_dsm_synch_node_t *pred = tsm_dsm_synch_append_(dsm, node);
    if (pred == NULL) {
        tsm_store(&node->status, TSM_DSM_SYNCH_GRANTED, TSM_RELAXED);
        return 1;
    }
    tsm_dsm_synch_link_(pred, node);
    tsm_wait_word(&node->status, TSM_DSM_SYNCH_WAITING, TSM_DSM_SYNCH_PARKED, TSM_WAIT_PARK);
    return tsm_load(&node->status, TSM_RELAXED) == TSM_DSM_SYNCH_GRANTED;
}

/* Execute up to `budget` operations behind our node, and make its link skip them. */
static inline void tsm_dsm_synch_combine_(tsm_dsm_synch_node_t *node, uint32_t budget)
{
    tsm_dsm_synch_node_t *next = tsm_load(&node->next, TSM_ACQUIRE);
    tsm_dsm_synch_node_t *after;

    for (; budget > 0 && next != NULL && next->op != NULL; budget--) {
        after = tsm_load(&next->next, TSM_ACQUIRE);
        if (after == NULL)
            break;                      /* maybe the last: its thread will be the combiner */
        next->op(next->arg);
        tsm_wake_word(&next->status, TSM_DSM_SYNCH_DONE, TSM_DSM_SYNCH_PARKED);
        next = after;
    }
    if (next != NULL)
        tsm_store(&node->next, next, TSM_RELAXED);
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

/* Execute op(arg) in this thread or another, alone on the object; returns when it is done. Blocks;
 * FIFO. Not from inside an operation on the same object, nor by a holder of it. */
static inline void tsm_dsm_synch_apply(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node,
                                       tsm_dsm_synch_op_t op, void *arg)
{
    assert(op != NULL);
    node->op = op;
    node->arg = arg;
    if (!tsm_dsm_synch_enter_(dsm, node))
        return;
    op(arg);
    tsm_dsm_synch_combine_(node, dsm->max_combine - 1);
    tsm_dsm_synch_leave_(dsm, node);
}

/* Blocks until the object is ours; before it returns, it executes up to max_combine operations
 * that wait behind. FIFO among acquisitions. Not recursive. */
static inline void tsm_dsm_synch_acquire(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    assert(tsm_dsm_synch_is_free_(node) && "tsm_dsm_synch: the node is in use");
    tsm_mcs_acquire(&dsm->gate, &node->gate);
    node->op = NULL;
    node->arg = NULL;
    tsm_dsm_synch_enter_(dsm, node);
    tsm_dsm_synch_combine_(node, dsm->max_combine);
}

/* By the holder, with the node it acquired with. Waits only while a successor is between its swap
 * and its link. */
static inline void tsm_dsm_synch_release(tsm_dsm_synch_t *dsm, tsm_dsm_synch_node_t *node)
{
    assert(tsm_load(&node->status, TSM_RELAXED) == TSM_DSM_SYNCH_GRANTED && node->op == NULL &&
           "tsm_dsm_synch: release without acquire");
    tsm_dsm_synch_leave_(dsm, node);
    tsm_mcs_release(&dsm->gate, &node->gate);
}

/*
 * Invariants: (1) tail is NULL exactly when no thread combines, holds or waits, else the newest
 *             node. The nodes form one list from the combiner's own node to tail. (2) The link of
 *             a node is written once, by its successor; the combiner then may move its own link
 *             forward. (3) A waiting node is executed only when its link is known, so it is never
 *             the tail, and taking it out needs no compare-and-swap. (4) Only the holder of the
 *             gate has a node without operation, so there is at most one in the queue; combining
 *             stops before it. (5) A node reaches DONE only after its operation, and GRANTED only
 *             without it.
 * Progress:   blocking; operations and acquisitions take effect in the order of their swaps of
 *             tail (acquisitions wait at the gate first, FIFO). A thread executes at most
 *             max_combine operations before it passes the duty on.
 *
 *   release                                 acquire
 *   apply, acquire: swap of tail            apply, acquire: swap of tail by the successor (our link
 *     (ACQ_REL)                             is NULL before the successor writes it)
 *   apply, acquire: store of the link       combiner: load of the link (operation, argument)
 *                                           release, apply: load of the link (the successor's
 *                                             status is WAITING before we overwrite it)
 *   combiner: swap of a status to DONE      apply: end of tsm_wait_word (the operation's effects)
 *   release, apply: swap of the             apply, acquire: end of tsm_wait_word (all that was
 *     successor's status to GRANTED         protected so far)
 *   release, apply: CAS of tail to NULL     apply, acquire: swap of tail that finds NULL
 *   The combiner's store of its own link is relaxed: no other thread reads that link, and its only
 *   other writer has finished. The check for the last node loads the link with acquire, as it is
 *   the pointer followed next.
 */

#endif /* TSM_DSM_SYNCH_H_INCLUDED */
