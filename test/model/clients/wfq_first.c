/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The first segment of the multi-producer multi-consumer queue: a thread begins a call in a
 * segment that is freed, and takes the first segment instead, while another one passes items through
 * the queue and so moves on to segments that it has just appended. With one enqueuer a reserve of one
 * cell is enough, so that a new segment soon is the first one. */

#define TSM_WFQ_MARGIN(handles_) 1
#define TSM_WFQ_STRIDE(handles_) 1
#include "client_wfq.h"

static tsm_wfq_t queue;
static tsm_wfq_handle_t *mover;
static int item;

static void move(int n)
{
    for (int i = 0; i < n; i++) {
        int rc = tsm_wfq_enqueue(&queue, mover, &item);
        assert(rc == 0);
        void *got = tsm_wfq_dequeue(&queue, mover);
        assert(got == &item);
    }
}

static void *moves(void *arg)
{
    (void) arg;
    move(2);
    return NULL;
}

static void *begins(void *arg)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(&queue);

    (void) arg;
    tsm_wfq_begin_(&queue, handle, &handle->head);
    assert(handle->head.id > 0);
    tsm_wfq_end_(handle);
    tsm_wfq_detach(handle);
    return NULL;
}

static void *(*const bodies[])(void *) = { moves, begins };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 2, 8);

    assert(rc == 0);
    mover = tsm_wfq_attach(&queue);
    move(2);
    client_team(2, bodies);
    tsm_wfq_detach(mover);
    tsm_wfq_destroy(&queue);
    return 0;
}
