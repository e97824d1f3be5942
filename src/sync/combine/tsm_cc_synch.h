/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * CC-Synch combining: a thread announces an operation and waits until a combiner has executed it.
 * Each operation costs one swap. Nodes pass from thread to thread as in a CLH lock.
 *
 * Source:     Fatourou and Kallimanis, "Revisiting the Combining Synchronization Technique",
 *             PPoPP 2012 (CC-Synch). The paper's two flags, "wait" and "completed", are one word
 *             here, so that one load shows which of the two happened; on a weakly ordered machine a
 *             thread could see two plain flags change in the wrong order.
 * Threads:    any number; each attaches its own handle with a node, and gets a node back, in general
 *             another one, when it detaches. So allocate each node separately, or free them all
 *             after tsm_cc_synch_destroy. The operation runs in any thread that uses the object and
 *             must not use the same object again.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_CC_SYNCH_H_INCLUDED
#define TSM_CC_SYNCH_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"

/* A bound that suits most uses. A smaller one shares the work more evenly, a larger one is faster. */
#define TSM_CC_SYNCH_MAX_COMBINE 1024

/* Values of a node's status. */
#define TSM_CC_SYNCH_WAITING 0
#define TSM_CC_SYNCH_PARKED  1
#define TSM_CC_SYNCH_GRANTED 2
#define TSM_CC_SYNCH_DONE    3

typedef void (*tsm_cc_synch_op_t)(void *arg);

typedef struct tsm_cc_synch_node {
    TSM_ATOMIC(struct tsm_cc_synch_node *) next;
    TSM_ATOMIC(uint32_t) status;
    tsm_cc_synch_op_t op;
    void *arg;
} tsm_cc_synch_node_t;

typedef struct tsm_cc_synch {
    TSM_ATOMIC(tsm_cc_synch_node_t *) tail;
    uint32_t max_combine;
    char pad[TSM_CACHELINE - sizeof(void *) - sizeof(uint32_t)];
} tsm_cc_synch_t;

/* One thread's access to one object. */
typedef struct tsm_cc_synch_handle {
    tsm_cc_synch_node_t *spare;         /* NULL while detached or in a call */
} tsm_cc_synch_handle_t;

/* Make a free object; node: any memory that stays until it comes back, see "Threads" above;
 * max_combine, at least 1. One thread, before any use. */
static inline void tsm_cc_synch_init(tsm_cc_synch_t *cc, tsm_cc_synch_node_t *node,
                                     uint32_t max_combine)
{
    assert(max_combine > 0);
    tsm_store(&node->next, NULL, TSM_RELAXED);
    tsm_store(&node->status, TSM_CC_SYNCH_GRANTED, TSM_RELAXED);
    cc->max_combine = max_combine;
    tsm_store(&cc->tail, node, TSM_RELAXED);
}

/* Destroy an object without operations under way. Returns the last node. One thread, synchronized
 * with all the others. */
static inline tsm_cc_synch_node_t *tsm_cc_synch_destroy(tsm_cc_synch_t *cc)
{
    tsm_cc_synch_node_t *node = tsm_load(&cc->tail, TSM_RELAXED);

    assert(tsm_load(&node->status, TSM_RELAXED) == TSM_CC_SYNCH_GRANTED &&
           "tsm_cc_synch_destroy: an operation is under way");
    return node;
}

/* Begin to use objects with this handle and node. By the thread that will use it. */
static inline void tsm_cc_synch_attach(tsm_cc_synch_handle_t *handle, tsm_cc_synch_node_t *node)
{
    assert(node != NULL);
    handle->spare = node;
}

/* End the use of the handle. Returns a node, not always the one it was attached with. */
static inline tsm_cc_synch_node_t *tsm_cc_synch_detach(tsm_cc_synch_handle_t *handle)
{
    tsm_cc_synch_node_t *node = handle->spare;

    assert(node != NULL && "tsm_cc_synch_detach: not attached, or in a call");
    handle->spare = NULL;
    return node;
}

/* Announce op(arg). Returns the node that is ours now, linked. */
static inline tsm_cc_synch_node_t *tsm_cc_synch_announce_(tsm_cc_synch_t *cc,
                                                          tsm_cc_synch_node_t *spare,
                                                          tsm_cc_synch_op_t op, void *arg)
{
    tsm_store(&spare->next, NULL, TSM_RELAXED);
    tsm_store(&spare->status, TSM_CC_SYNCH_WAITING, TSM_RELAXED);

    tsm_cc_synch_node_t *node = tsm_swap(&cc->tail, spare, TSM_ACQ_REL);
    node->op = op;
    node->arg = arg;
    tsm_store(&node->next, spare, TSM_RELEASE);
    return node;
}

/* Wait. Returns 1 if we are the combiner, 0 if the operation is done. */
static inline int tsm_cc_synch_is_combiner_(tsm_cc_synch_node_t *node)
{
    tsm_wait_word(&node->status, TSM_CC_SYNCH_WAITING, TSM_CC_SYNCH_PARKED, TSM_WAIT_PARK);
    return tsm_load(&node->status, TSM_RELAXED) == TSM_CC_SYNCH_GRANTED;
}

/* Execute our operation and those behind it. Returns the node of the next combiner. */
static inline tsm_cc_synch_node_t *tsm_cc_synch_combine_(tsm_cc_synch_node_t *node, uint32_t budget)
{
    /* we have linked our node, and no thread waits for it */
    tsm_cc_synch_node_t *current = tsm_load(&node->next, TSM_RELAXED);
    tsm_cc_synch_node_t *next;

    node->op(node->arg);
    while (--budget > 0 && (next = tsm_load(&current->next, TSM_ACQUIRE)) != NULL) {
        current->op(current->arg);
        tsm_wake_word(&current->status, TSM_CC_SYNCH_DONE, TSM_CC_SYNCH_PARKED);
        current = next;
    }
    return current;
}

/* Make the present or future owner of node the combiner. */
static inline void tsm_cc_synch_pass_(tsm_cc_synch_node_t *node)
{
    tsm_wake_word(&node->status, TSM_CC_SYNCH_GRANTED, TSM_CC_SYNCH_PARKED);
}

/* Execute op(arg) in this thread or another, alone on the object; returns when it is done. Blocks;
 * FIFO. Not from inside an operation on the same object. */
static inline void tsm_cc_synch_apply(tsm_cc_synch_t *cc, tsm_cc_synch_handle_t *handle,
                                      tsm_cc_synch_op_t op, void *arg)
{
    tsm_cc_synch_node_t *node = tsm_cc_synch_detach(handle);

    assert(op != NULL);
    node = tsm_cc_synch_announce_(cc, node, op, arg);
    if (tsm_cc_synch_is_combiner_(node))
        tsm_cc_synch_pass_(tsm_cc_synch_combine_(node, cc->max_combine));
    handle->spare = node;
}

/*
 * Invariants: (1) The nodes form one list that ends in tail, a node without operation that
 *             has no owner yet. A thread that swaps its spare node in as the new tail gets the old
 *             one, puts its operation there and then links it. (2) Exactly one node of the list,
 *             its first, is GRANTED or belongs to the combiner, so there is at most one combiner;
 *             without operations that node is tail. (3) The combiner executes linked nodes only and
 *             reads a link before it marks the node DONE. (4) n threads attached: n + 1 nodes, each
 *             of them a handle's spare or in the list.
 * Progress:   blocking; operations take effect in the order of the swaps of tail. A thread
 *             executes at most max_combine operations, its own included. A thread between its swap
 *             and its link delays those behind it; the combiner does not wait for it but leaves.
 *
 *   release                              acquire
 *   apply: swap of tail (ACQ_REL; the    apply: swap of tail by the thread that gets the node next
 *     new tail's link and status)
 *   apply: store of the link             combiner: load of the link (operation, argument, and the
 *                                        node that it leads to)
 *   combiner: swap of a status to DONE   apply: end of tsm_wait_word (the operation's effects)
 *   combiner: swap of the status where   apply: end of tsm_wait_word (all that was protected)
 *     it stops to GRANTED
 */

#endif /* TSM_CC_SYNCH_H_INCLUDED */
