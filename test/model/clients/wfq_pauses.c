/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* A dequeuer of the multi-producer multi-consumer queue that arrives before the enqueuer, as one of
 * several may, and waits for it: it may find the item only in a later look at the cell. The item is
 * plain data. */

#define TSM_WFQ_PAUSES 2
#include "client_wfq.h"

static tsm_wfq_t queue;
static tsm_wfq_handle_t *producer, *visitor;
static int item;

static void *produces(void *arg)
{
    (void) arg;
    item = 1;
    int rc = tsm_wfq_enqueue(&queue, producer, &item);
    assert(rc == 0);
    return NULL;
}

static void *visits(void *arg)
{
    (void) arg;
    int *p = tsm_wfq_visit_(&queue, visitor, tsm_wfq_cell_(&visitor->head, 0), 0);
    assert(p == NULL || *p == 1);
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, visits };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 2, 4);

    assert(rc == 0);
    producer = tsm_wfq_attach(&queue);
    visitor = tsm_wfq_attach(&queue);
    tsm_wfq_begin_(&queue, visitor, &visitor->head);
    tsm_fetch_add(&queue.head, 1, TSM_SEQ_CST);
    client_team(2, bodies);
    tsm_wfq_end_(visitor);
    tsm_wfq_detach(visitor);
    tsm_wfq_detach(producer);
    tsm_wfq_destroy(&queue);
    return 0;
}
