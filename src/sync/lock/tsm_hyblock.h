/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * HYBLOCK, a queue lock whose order is kept in one shared word and whose hand-over is a message.
 * Each waiter sleeps on its own mailbox. The caller provides a node for each lock that it holds or
 * awaits.
 *
 * Source:     thesis on communication and synchronization on manycore processors, section 6.1.1,
 *             algorithm 3. There a thread has one queue and one `next` for all its locks, so locks
 *             do not nest; here both are in the node, so locks nest and may be released in any
 *             order. The messages go through tsm_mailbox.h.
 * Threads:    any number; they may come and go. The caller owns the node, prepares it once with
 *             tsm_hyblock_node_init, uses it for one lock at a time, in any thread, and does not
 *             touch it from acquire (or successful try) until release returns. Align nodes to
 *             TSM_CACHELINE for speed. With more threads than processors each hand-over may cost a
 *             wake-up; see tsm_gate.h.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_HYBLOCK_H_INCLUDED
#define TSM_HYBLOCK_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../mailbox/tsm_mailbox.h"
#include "../tsm_atomic.h"

typedef struct tsm_hyblock_node {
    tsm_mailbox_t box;
    struct tsm_hyblock_node *next;
    struct tsm_hyblock *lock;                           /* held or awaited with this node */
    char pad[TSM_CACHELINE - sizeof(uint64_t) - 2 * sizeof(void *)];
    tsm_mailbox_slot_t slot[2];
} tsm_hyblock_node_t;

typedef struct tsm_hyblock {
    TSM_ATOMIC(tsm_hyblock_node_t *) last;
} tsm_hyblock_t;

#define TSM_HYBLOCK_INITIALIZER { NULL }

/* Make a free lock. One thread, before any use. */
static inline void tsm_hyblock_init(tsm_hyblock_t *lock)
{
    tsm_store(&lock->last, NULL, TSM_RELAXED);
}

/* Make a node that can be used for any lock, one after the other. Its owner, before any use. */
static inline void tsm_hyblock_node_init(tsm_hyblock_node_t *node)
{
    tsm_mailbox_init(&node->box, node->slot, 2);
    node->next = NULL;
    node->lock = NULL;
}

/* Send `what` to the owner of node: the sender's node, or NULL to grant the lock. */
static inline void tsm_hyblock_tell_(tsm_hyblock_node_t *node, tsm_hyblock_node_t *what)
{
    uint64_t word = (uintptr_t) what;

    tsm_mailbox_send(&node->box, &word, 1);
}

static inline tsm_hyblock_node_t *tsm_hyblock_hear_(tsm_hyblock_node_t *node)
{
    uint64_t word;

    tsm_mailbox_receive(&node->box, &word, 1);
    return (tsm_hyblock_node_t *) (uintptr_t) word;
}

/* Wait for the grant; the successor's message may come first. */
static inline void tsm_hyblock_wait_(tsm_hyblock_node_t *node)
{
    tsm_hyblock_node_t *from = tsm_hyblock_hear_(node);

    if (from != NULL) {
        node->next = from;
        from = tsm_hyblock_hear_(node);
        assert(from == NULL && "tsm_hyblock: two successors of one node");
    }
}

/* Blocks until the lock is ours; FIFO. node: see "Threads" above. */
static inline void tsm_hyblock_acquire(tsm_hyblock_t *lock, tsm_hyblock_node_t *node)
{
    assert(node->lock == NULL && "tsm_hyblock: the node is in use");
    node->lock = lock;

    tsm_hyblock_node_t *prev = tsm_swap(&lock->last, node, TSM_ACQ_REL);
    if (prev == NULL)
        return;
    tsm_hyblock_tell_(prev, node);
    tsm_hyblock_wait_(node);
}

/* Returns 1 if the lock is now ours through node, 0 if it was held. Never waits. */
static inline int tsm_hyblock_try(tsm_hyblock_t *lock, tsm_hyblock_node_t *node)
{
    tsm_hyblock_node_t *expected = NULL;

    assert(node->lock == NULL && "tsm_hyblock: the node is in use");
    /* load first, so that a failure does not take the cache line from the others */
    if (tsm_load(&lock->last, TSM_RELAXED) != NULL)
        return 0;
    if (!tsm_cas(&lock->last, &expected, node, TSM_ACQ_REL, TSM_RELAXED))
        return 0;
    node->lock = lock;
    return 1;
}

/* By the holder, with the node it acquired with. */
static inline void tsm_hyblock_release(tsm_hyblock_t *lock, tsm_hyblock_node_t *node)
{
    tsm_hyblock_node_t *next = node->next;

    assert(node->lock == lock && "tsm_hyblock: the node does not hold this lock");
    node->lock = NULL;
    node->next = NULL;
    if (next == NULL) {
        tsm_hyblock_node_t *expected = node;
        if (tsm_mailbox_is_empty(&node->box) &&
            tsm_cas(&lock->last, &expected, NULL, TSM_RELEASE, TSM_RELAXED))
            return;
        /* a successor has swapped `last` and has sent its node, or is about to */
        next = tsm_hyblock_hear_(node);
    }
    tsm_hyblock_tell_(next, NULL);
}

/*
 * Invariants: (1) last is NULL exactly when the lock is free, else the node of the newest request.
 *             (2) A request gets at most two messages: its successor's node, and its predecessor's
 *             grant; so two slots suffice and no send ever waits. (3) When release returns, the
 *             node's mailbox is empty and no thread sends to it.
 *             (4) node->next is the successor if its message was received ahead of the grant.
 * Progress:   acquire is blocking and strictly FIFO in the order of the swaps of last. Try is
 *             bounded: one load, one compare-and-swap. Release waits only while a successor is
 *             between its swap and its message. A successor that is held while it writes its
 *             message can delay the grant after it in the same mailbox; with message hardware it
 *             could not.
 *
 *   release                                 acquire
 *   acquire, try: RMW of last (ACQ_REL)     acquire: swap of last by the successor (our mailbox
 *                                           is ready)
 *   acquire: message with our node          release, or acquire: receipt (our node is ready)
 *   release: message that grants            acquire: receipt (hand-over)
 *   release: CAS of last to NULL            acquire, try: RMW of last that finds NULL
 *   The order of the messages is that of tsm_mailbox.h.
 */

#endif /* TSM_HYBLOCK_H_INCLUDED */
