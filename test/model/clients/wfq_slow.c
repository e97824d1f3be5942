/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The slow paths of the multi-producer multi-consumer queue: at the start one index belongs to an
 * enqueuer that never arrives, so dequeuers fail, ask for help, and spoil what others want. Handles
 * are given back after each call, so that requests of one handle follow each other. Nothing is lost
 * or doubled, and a consumer sees a producer's order. */

#include "client_wfq.h"

#include <sched.h>

#define EACH 2

static tsm_wfq_t queue;
static int item[2 * EACH];
static TSM_ATOMIC(int) got;

static void *produces(void *arg)
{
    int *mine = &item[EACH * (intptr_t) arg];

    for (int i = 0; i < EACH; i++) {
        tsm_wfq_handle_t *handle = tsm_wfq_attach(&queue);
        mine[i] = 1;
        int rc = tsm_wfq_enqueue(&queue, handle, &mine[i]);
        assert(rc == 0);
        tsm_wfq_detach(handle);
    }
    return NULL;
}

static void *consumes(void *arg)
{
    int *last[2] = { NULL, NULL };

    (void) arg;
    while (tsm_load(&got, TSM_RELAXED) < 2 * EACH) {
        tsm_wfq_handle_t *handle = tsm_wfq_attach(&queue);
        int *p = tsm_wfq_dequeue(&queue, handle);
        tsm_wfq_detach(handle);
        if (!p) {
            sched_yield();
            continue;
        }
        assert(*p == 1);
        *p = 2;
        assert(last[p >= item + EACH] < p);
        last[p >= item + EACH] = p;
        tsm_fetch_add(&got, 1, TSM_RELAXED);
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, produces, consumes, consumes };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 4, 16);

    assert(rc == 0);
    tsm_store(&queue.tail, 1, TSM_RELAXED);
    client_team(4, bodies);
    for (int i = 0; i < 2 * EACH; i++)
        assert(item[i] == 2);
    tsm_wfq_destroy(&queue);
    return 0;
}
