/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Multi-producer multi-consumer queue: what is_empty promises. A producer enqueues and checks whether
 * the door is closed; another thread closes it and checks whether the queue is empty: one of the two
 * must notice, unless the item has been dequeued. */

#include "client_wfq.h"

static tsm_wfq_t queue;
static tsm_wfq_handle_t *producer, *consumer;
static int early = 1, late = 2;
static TSM_ATOMIC(int) closed;
static int missed, found_empty;

static void *produces(void *arg)
{
    (void) arg;
    int rc = tsm_wfq_enqueue(&queue, producer, &late);
    assert(rc == 0);
    missed = !tsm_load(&closed, TSM_SEQ_CST);
    return NULL;
}

/* early, which is first: late is left */
static void *consumes(void *arg)
{
    (void) arg;
    int *item = tsm_wfq_dequeue(&queue, consumer);
    assert(item == &early && *item == 1);
    return NULL;
}

static void *closes(void *arg)
{
    (void) arg;
    tsm_store(&closed, 1, TSM_SEQ_CST);
    found_empty = tsm_wfq_is_empty(&queue);
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, consumes, closes };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 2, 4);

    assert(rc == 0);
    producer = tsm_wfq_attach(&queue);
    consumer = tsm_wfq_attach(&queue);
    rc = tsm_wfq_enqueue(&queue, producer, &early);
    assert(rc == 0);
    client_team(3, bodies);
    assert(!(missed && found_empty));
    tsm_wfq_detach(producer);
    tsm_wfq_detach(consumer);
    tsm_wfq_destroy(&queue);
    return 0;
}
