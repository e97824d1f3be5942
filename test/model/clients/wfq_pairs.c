/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The multi-producer multi-consumer queue: two threads, each of which enqueues and then dequeues,
 * twice. Neither can find the queue empty. */

#define TSM_WFQ_CELLS 2
#include "client_wfq.h"

static tsm_wfq_t queue;
static int item[4];

static void *pairs(void *arg)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(&queue);

    for (int i = 0; i < 2; i++) {
        int *mine = &item[2 * (intptr_t) arg + i], *p;
        *mine = 1;
        int rc = tsm_wfq_enqueue(&queue, handle, mine);
        assert(rc == 0);
        p = tsm_wfq_dequeue(&queue, handle);
        assert(p != NULL && *p == 1);
        *p = 2;
    }
    tsm_wfq_detach(handle);
    return NULL;
}

static void *(*const bodies[])(void *) = { pairs, pairs };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 2, 8);

    assert(rc == 0);
    client_team(2, bodies);
    for (int i = 0; i < 4; i++)
        assert(item[i] == 2);
    tsm_wfq_destroy(&queue);
    return 0;
}
