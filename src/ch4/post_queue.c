/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/post_queue.h"
#include "tsm/tsm_wait.h"

typedef struct MPIDI_post_queue_other {
    int kind;
    tsm_swp_node_t in_swp;      /* the one node of the SWP queue; stays there */
    /* WAIT_FREE */
    tsm_wfq_t wfq;
    tsm_wfq_handle_t *holder;   /* the handle of the VCI's holder, passed on with the lock */
    /* MAILBOX */
    tsm_mailbox_t box TSM_ALIGNED;
    tsm_mailbox_slot_t slot[MPIDI_POST_QUEUE_MESSAGES] TSM_ALIGNED;
} other_t;

static void *checked(void *memory)
{
    if (!memory) {
        fprintf(stderr, "MPI: no memory for the queue of a VCI (%zu bytes)\n", sizeof(other_t));
        abort();
    }
    return memory;
}

void MPIDI_post_queue_init(MPIDI_post_queue_t * queue, int kind)
{
    other_t *other;

    tsm_swp_init(&queue->swp);
    queue->other = NULL;
    if (kind == MPIDI_POST_QUEUE_SWP)
        return;
    other = checked(aligned_alloc(TSM_CACHELINE, sizeof(*other)));
    other->kind = kind;
    if (kind == MPIDI_POST_QUEUE_MAILBOX) {
        tsm_mailbox_init(&other->box, other->slot, MPIDI_POST_QUEUE_MESSAGES);
    } else {
        int err = tsm_wfq_init(&other->wfq, MPIDI_POST_QUEUE_THREADS + 1,
                               MPIDI_POST_QUEUE_SEGMENTS);
        other->holder = checked(err ? NULL : tsm_wfq_attach(&other->wfq));
    }
    queue->other = other;
    tsm_swp_push(&queue->swp, &other->in_swp);
}

/* The VCI whose handles detach() takes from all threads; of the one thread in MPI. */
static int leaving;

static void detach(MPIDI_thread_t * thread)
{
    if (thread->post_handle[leaving])
        tsm_wfq_detach(thread->post_handle[leaving]);
    thread->post_handle[leaving] = NULL;
}

void MPIDI_post_queue_destroy(MPIDI_post_queue_t * queue, int vci)
{
    other_t *other = queue->other;

    if (!other)
        return;
    if (other->kind == MPIDI_POST_QUEUE_WAIT_FREE) {
        leaving = vci;
        MPIDI_thread_foreach(detach);
        tsm_wfq_detach(other->holder);
        tsm_wfq_destroy(&other->wfq);
    }
    (free) (other);
    queue->other = NULL;
}

void MPIDI_post_queue_thread_exit(MPIDI_thread_t * thread)
{
    for (int i = 0; i < MPIDI_CH4_MAX_VCIS; i++) {
        if (thread->post_handle[i])
            tsm_wfq_detach(thread->post_handle[i]);
    }
}

static int push_wait_free(other_t * other, int vci, tsm_swp_node_t * node)
{
    MPIDI_thread_t *self = MPIDI_thread_self();

    if (!self->post_handle[vci])
        self->post_handle[vci] = tsm_wfq_attach(&other->wfq);
    return self->post_handle[vci] && !tsm_wfq_enqueue(&other->wfq, self->post_handle[vci], node);
}

static int push_mailbox(other_t * other, tsm_swp_node_t * node)
{
    const uint64_t word = (uintptr_t) node;

    if (MPIDI_thread_local.held)
        return tsm_mailbox_try_send(&other->box, &word, 1);
    tsm_mailbox_send(&other->box, &word, 1);
    return 1;
}

int MPIDI_post_queue_push_other(MPIDI_post_queue_t * queue, int vci, tsm_swp_node_t * node)
{
    other_t *other = queue->other;

    return other->kind == MPIDI_POST_QUEUE_MAILBOX ? push_mailbox(other, node) :
        push_wait_free(other, vci, node);
}

tsm_swp_node_t *MPIDI_post_queue_pop_other(MPIDI_post_queue_t * queue)
{
    other_t *other = queue->other;
    uint64_t word;

    if (other->kind == MPIDI_POST_QUEUE_WAIT_FREE)
        return tsm_wfq_dequeue(&other->wfq, other->holder);
    if (!tsm_mailbox_try_receive(&other->box, &word, 1))
        return NULL;
    return (tsm_swp_node_t *) (uintptr_t) word;
}

int MPIDI_post_queue_is_empty_other(const MPIDI_post_queue_t * queue)
{
    other_t *other = queue->other;

    return other->kind == MPIDI_POST_QUEUE_MAILBOX ? tsm_mailbox_is_idle(&other->box) :
        tsm_wfq_is_empty(&other->wfq);
}

static void take_all_swp(tsm_swp_t * swp, void (*take) (void *, tsm_swp_node_t *), void *arg)
{
    tsm_swp_node_t *last = tsm_swp_tail_snapshot(swp);
    tsm_swp_node_t *node = NULL;

    while (last && node != last) {
        tsm_wait_until((node = tsm_swp_pop(swp)) != NULL, TSM_WAIT_POLL);
        take(arg, node);
    }
}

/* Indexes of the wait-free queue may have no item, so it takes at most so many. */
static void take_all_wait_free(MPIDI_post_queue_t * queue, void (*take) (void *, tsm_swp_node_t *),
                               void *arg)
{
    uint64_t most = tsm_wfq_length(&queue->other->wfq);
    tsm_swp_node_t *node;

    while (most-- > 0 && (node = MPIDI_post_queue_pop_other(queue)) != NULL)
        take(arg, node);
}

static void take_all_mail(MPIDI_post_queue_t * queue, void (*take) (void *, tsm_swp_node_t *),
                          void *arg)
{
    uint64_t most = tsm_mailbox_length(&queue->other->box);
    tsm_swp_node_t *node = NULL;

    while (most-- > 0) {
        tsm_wait_until((node = MPIDI_post_queue_pop_other(queue)) != NULL, TSM_WAIT_POLL);
        take(arg, node);
    }
}

void MPIDI_post_queue_take_all(MPIDI_post_queue_t * queue,
                               void (*take) (void *arg, tsm_swp_node_t * node), void *arg)
{
    if (!queue->other)
        take_all_swp(&queue->swp, take, arg);
    else if (queue->other->kind == MPIDI_POST_QUEUE_WAIT_FREE)
        take_all_wait_free(queue, take, arg);
    else
        take_all_mail(queue, take, arg);
}

#endif
