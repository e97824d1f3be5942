/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_POST_QUEUE_H_INCLUDED
#define MPIDI_POST_QUEUE_H_INCLUDED

/* The queue of a VCI's posted operations, of one of three kinds: SWP, the default; a wait-free queue
 * for comparison (ICS'19 section 3.4 uses one); a mailbox, the message queue of MP-SERVER. Any thread
 * pushes, the holder of the VCI pops. An item is the node in the operation's request.
 *
 * SWP takes every item. The wait-free queue refuses one if it has no memory, or a new thread if
 * MPIDI_POST_QUEUE_THREADS use it already. A full mailbox delays the sender; it refuses the item of a
 * thread that holds a mutex of MPICH, which the server might need in order to make room. */

#include "thread.h"
#include "tsm/mailbox/tsm_mailbox.h"
#include "tsm/queue/tsm_swp.h"
#include "tsm/queue/tsm_wfq.h"

enum {
    MPIDI_POST_QUEUE_SWP,
    MPIDI_POST_QUEUE_WAIT_FREE,
    MPIDI_POST_QUEUE_MAILBOX
};

/* The most threads that can use a wait-free queue at a time, and its most segments. */
#define MPIDI_POST_QUEUE_THREADS 256
#define MPIDI_POST_QUEUE_SEGMENTS 4096

/* Messages that a mailbox has room for. */
#define MPIDI_POST_QUEUE_MESSAGES 1024

typedef struct MPIDI_post_queue {
    tsm_swp_t swp;              /* never empty if there is another, so that one look is enough */
    /* NULL: SWP. All that push read it, so it is in a line of its own, away from what they write */
    struct MPIDI_post_queue_other *other TSM_ALIGNED;
} MPIDI_post_queue_t;

/* Make an empty queue; destroy one, which must be empty. In MPI_Init and MPI_Finalize, by the one
 * thread in MPI. Without memory it prints a message and ends the program. */
void MPIDI_post_queue_init(MPIDI_post_queue_t * queue, int kind);
void MPIDI_post_queue_destroy(MPIDI_post_queue_t * queue, int vci);

/* Slow paths. */
int MPIDI_post_queue_push_other(MPIDI_post_queue_t * queue, int vci, tsm_swp_node_t * node);
tsm_swp_node_t *MPIDI_post_queue_pop_other(MPIDI_post_queue_t * queue);
int MPIDI_post_queue_is_empty_other(const MPIDI_post_queue_t * queue);

/* Returns 0 if the queue refuses the node, else 1. vci: the queue's. tells: the caller then calls
 * tsm_second_look_tell, which needs more of SWP. Any thread. */
static inline int MPIDI_post_queue_push(MPIDI_post_queue_t * queue, int vci, tsm_swp_node_t * node,
                                        int tells)
{
    if (__builtin_expect(queue->other != NULL, 0))
        return MPIDI_post_queue_push_other(queue, vci, node);
    if (tells)
        tsm_swp_push_before_tell(&queue->swp, node);
    else
        tsm_swp_push(&queue->swp, node);
    return 1;
}

/* Returns the oldest node, or NULL if there is none or another thread is in the middle of a push. By
 * the holder of the VCI; never waits. */
static inline tsm_swp_node_t *MPIDI_post_queue_pop(MPIDI_post_queue_t * queue)
{
    if (__builtin_expect(queue->other != NULL, 0))
        return MPIDI_post_queue_pop_other(queue);
    return tsm_swp_pop(&queue->swp);
}

/* The node that the next pop looks at first, or NULL if that is not known without a look at memory that
 * other threads write. By the holder. */
static inline tsm_swp_node_t *MPIDI_post_queue_next(const MPIDI_post_queue_t * queue)
{
    tsm_swp_node_t *head = queue->swp.head;

    return head == &queue->swp.stub ? NULL : head;
}

/* 0 if the queue is empty; 1 if it has a node, or is of another kind than SWP. As cheap as can be, for
 * the fast path. A push, then a read of X, in one thread, and a write of X, then this, in another one:
 * if all are seq_cst, one thread finds what the other has written. Any thread. */
static inline int MPIDI_post_queue_may_have(const MPIDI_post_queue_t * queue)
{
    return __builtin_expect(!tsm_swp_is_empty(&queue->swp), 0);
}

/* The same, exactly. */
static inline int MPIDI_post_queue_is_empty(const MPIDI_post_queue_t * queue)
{
    if (!MPIDI_post_queue_may_have(queue))
        return 1;
    return queue->other != NULL && MPIDI_post_queue_is_empty_other(queue);
}

/* Call take(arg, node) for each node that was pushed before this call, in their order. Waits for a
 * thread that is in the middle of a push. By the holder. */
void MPIDI_post_queue_take_all(MPIDI_post_queue_t * queue,
                               void (*take) (void *arg, tsm_swp_node_t * node), void *arg);

/* Give back what an ending thread has of each queue. By the thread itself, which holds its record
 * (thread.c). */
void MPIDI_post_queue_thread_exit(MPIDI_thread_t * thread);

#endif /* MPIDI_POST_QUEUE_H_INCLUDED */
