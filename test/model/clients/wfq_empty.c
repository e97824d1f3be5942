/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Late help in the multi-producer multi-consumer queue, from one situation: the enqueuers of cells 0
 * and 1 never arrive, the item in cell 2 was the candidate of one request to dequeue and went to
 * another one, whose owner is slow. So the first request finds the queue empty. Its owner then
 * enqueues and dequeues: it must find its item, whatever helpers of the first request do. */

#include "client_wfq.h"

#define HELPERS 3

static tsm_wfq_t queue;
static tsm_wfq_handle_t *asker, *slow, *helper[HELPERS];
static int item[2];

static void *helps(void *arg)
{
    tsm_wfq_hunt_(&queue, helper[(intptr_t) arg], asker, 0,
                  tsm_load(&asker->deq_seg, TSM_ACQUIRE));
    return NULL;
}

static void *asks(void *arg)
{
    (void) arg;
    void *got = client_answer(&queue, asker, 0);
    assert(got == NULL);
    int rc = tsm_wfq_enqueue(&queue, asker, &item[1]);
    assert(rc == 0);
    got = tsm_wfq_dequeue(&queue, asker);
    assert(got == &item[1]);
    return NULL;
}

static void *(*const bodies[])(void *) = { helps, helps, helps, asks };

int main(void)
{
    int rc = tsm_wfq_init(&queue, HELPERS + 2, 4);

    assert(rc == 0);
    asker = tsm_wfq_attach(&queue);
    slow = tsm_wfq_attach(&queue);
    tsm_fetch_add(&queue.tail, 2, TSM_SEQ_CST);
    rc = tsm_wfq_enqueue(&queue, slow, &item[0]);
    assert(rc == 0);
    client_ask(&queue, asker, 0);
    client_ask(&queue, slow, 1);
    for (int i = 0; i < HELPERS; i++) {
        helper[i] = tsm_wfq_attach(&queue);
        tsm_wfq_begin_(&queue, helper[i], &helper[i]->head);
    }
    tsm_store(&asker->deq_state, 2 << 2 | TSM_WFQ_PENDING, TSM_SEQ_CST);
    tsm_wfq_hunt_(&queue, slow, slow, 1, slow->head.seg);
    client_team(HELPERS + 1, bodies);
    for (int i = 0; i < HELPERS; i++) {
        tsm_wfq_end_(helper[i]);
        tsm_wfq_detach(helper[i]);
    }
    void *got = tsm_wfq_deq_finish_(&queue, slow);
    assert(got == &item[0]);
    tsm_wfq_end_(slow);
    tsm_wfq_detach(asker);
    tsm_wfq_detach(slow);
    tsm_wfq_destroy(&queue);
    return 0;
}
