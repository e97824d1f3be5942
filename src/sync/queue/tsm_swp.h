/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * SWP, an intrusive multi-producer single-consumer FIFO queue. It allocates nothing; the caller may
 * reuse a popped node at once. A push is wait-free; a pop never waits.
 *
 * Source:     ICS'19 "Software Combining to Mitigate Multithreaded MPI Contention", section 3.4.1,
 *             figure 4. There the popped node stays in the queue as the new dummy. Here the dummy
 *             is a stub inside the queue: a pop of the last node puts the stub back as the tail by
 *             a compare-and-swap, which succeeds only if no producer has pushed meanwhile. As the
 *             tail the stub is written NULL, which every lock holder tests with fewer instructions.
 * Threads:    any number of producers, which may come and go; one consumer at a time. The consumer
 *             may change if a lock, or another release-acquire edge, lies between. The queue must
 *             not be moved or copied after init.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_SWP_H_INCLUDED
#define TSM_SWP_H_INCLUDED

#include <stddef.h>

#include "../tsm_atomic.h"

typedef struct tsm_swp_node {
    TSM_ATOMIC(struct tsm_swp_node *) next;
} tsm_swp_node_t;

typedef struct tsm_swp {
    TSM_ATOMIC(tsm_swp_node_t *) tail;  /* producers write here; NULL: the stub */
    char pad[TSM_CACHELINE - sizeof(tsm_swp_node_t *)];
    tsm_swp_node_t *head;                               /* consumer only */
    tsm_swp_node_t stub;
} tsm_swp_t;

/* Make an empty queue. One thread, before any use. */
static inline void tsm_swp_init(tsm_swp_t *queue)
{
    tsm_store(&queue->stub.next, NULL, TSM_RELAXED);
    queue->head = &queue->stub;
    tsm_store(&queue->tail, NULL, TSM_RELAXED);
}

/* The first half of a push: the node becomes the tail. Returns the node that must be linked to it.
 * The list is cut there: pop stops at that node until tsm_swp_link_. */
static inline tsm_swp_node_t *tsm_swp_enter_(tsm_swp_t *queue, tsm_swp_node_t *node)
{
    tsm_swp_node_t *pred;

    tsm_store(&node->next, NULL, TSM_RELAXED);
    pred = tsm_swap(&queue->tail, node, TSM_SEQ_CST);
    return pred ? pred : &queue->stub;
}

/* The second half of a push. */
static inline void tsm_swp_link_(tsm_swp_node_t *pred, tsm_swp_node_t *node)
{
    tsm_store(&pred->next, node, TSM_RELEASE);
}

/* Append node, which the caller owns and which must stay until it is popped. Any thread; wait-free;
 * seq_cst (see the end of this file). */
static inline void tsm_swp_push(tsm_swp_t *queue, tsm_swp_node_t *node)
{
    tsm_swp_link_(tsm_swp_enter_(queue, node), node);
}

/* The same for a thread that tells (tsm_second_look.h): the link is seq_cst, too, which on x86 is an
 * exchange in place of a store, in a line that the caller writes anyway. */
static inline void tsm_swp_push_before_tell(tsm_swp_t *queue, tsm_swp_node_t *node)
{
    tsm_store(&tsm_swp_enter_(queue, node)->next, node, TSM_SEQ_CST);
}

/* Remove the last node by making the stub the tail again. Returns 0 if a producer was faster. */
static inline int tsm_swp_pop_last_(tsm_swp_t *queue, tsm_swp_node_t *last)
{
    tsm_swp_node_t *expected = last;

    /* the stub is out of the list, and its producer wrote its link before we passed it */
    tsm_store(&queue->stub.next, NULL, TSM_RELAXED);
    if (!tsm_cas(&queue->tail, &expected, NULL, TSM_RELEASE, TSM_RELAXED))
        return 0;
    queue->head = &queue->stub;
    return 1;
}

/* Removes and returns the oldest node. Returns NULL if the queue is empty or a producer is between
 * swap and link. Consumer only; bounded, never waits. Its loads are seq_cst for tsm_second_look.h; on
 * x86 and most ARM that is the same instruction as acquire. */
static inline tsm_swp_node_t *tsm_swp_pop(tsm_swp_t *queue)
{
    tsm_swp_node_t *node = queue->head;
    tsm_swp_node_t *next = tsm_load(&node->next, TSM_SEQ_CST);

    if (node == &queue->stub) {
        if (next == NULL)
            return NULL;
        queue->head = node = next;
        next = tsm_load(&node->next, TSM_SEQ_CST);
    }
    if (next != NULL) {
        queue->head = next;
        return node;
    }
    return tsm_swp_pop_last_(queue, node) ? node : NULL;
}

/* 1 only if the queue has no node at the moment of the load, else 0; a push counts from its swap
 * on. Any thread; wait-free; seq_cst (see the end of this file). */
static inline int tsm_swp_is_empty(const tsm_swp_t *queue)
{
    return tsm_load(&queue->tail, TSM_SEQ_CST) == NULL;
}

/* Returns the newest node, or NULL if the queue is empty. A consumer that pops until it gets this
 * node has taken everything pushed before this call. The node may not be linked yet, so pop may
 * return NULL earlier. Consumer only; wait-free. */
static inline tsm_swp_node_t *tsm_swp_tail_snapshot(tsm_swp_t *queue)
{
    return tsm_load(&queue->tail, TSM_SEQ_CST);
}

/*
 * Invariants: (1) tail is the newest pushed node not yet popped, or the stub if there is none: so
 *             tail == NULL exactly when the queue is empty, seen from any thread. (2) The stub is
 *             in the list only as its first element, never behind a real node. (3) The link of a
 *             node is written by the one producer whose swap returned that node. (4) head is the
 *             stub or the oldest node not yet popped.
 * Progress:   push is wait-free: one swap, one store. Pop never waits; it returns NULL while the
 *             producer of the node at the cut is between its swap and its link (the paper's window,
 *             "Linearizability"), though nodes behind the cut may be complete. The node just before
 *             the cut also stays in the queue, since its link is not written yet. The other calls
 *             are one load.
 *
 *   release                              acquire
 *   push: store of the link              pop: loads of the link (contents of the node pushed)
 *   push: swap of tail (its own link     push: swap of tail by the next producer, before it
 *     is NULL)                           writes that link
 *   pop: CAS of tail to the stub (the    push: swap of tail by the next producer
 *     stub's link is NULL)               is_empty: load of tail (the last pop is over)
 *
 * The swap in push and the load in is_empty are seq_cst because callers rely on the pairing
 *     producer: push(node); read X            other: write X; is_empty()
 * with seq_cst accesses to X: either the producer reads the new X, or the other thread finds that
 * the queue is not empty. The loads in pop and the link of push_before_tell are seq_cst for the pairing
 *     producer: push_before_tell(node); read X        consumer: write X; pop()
 * either the producer reads the new X, or pop finds the link, if it comes so far.
 */

#endif /* TSM_SWP_H_INCLUDED */
