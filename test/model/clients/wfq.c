/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The multi-producer multi-consumer queue with two cells in a segment: one thread enqueues, one
 * dequeues, one does both. Nothing is lost or doubled; the consumer sees a producer's order; items
 * are plain data. */

#define TSM_WFQ_CELLS 2
#include "client_wfq.h"

#include <sched.h>

static tsm_wfq_t queue;
static int item[2][3];
static TSM_ATOMIC(int) got;

static void put(tsm_wfq_handle_t *handle, int *p)
{
    *p = 1;
    while (tsm_wfq_enqueue(&queue, handle, p) != 0)
        sched_yield();
}

/* Dequeue an item, which is then ours alone. Returns 1 if there was one. */
static int take(tsm_wfq_handle_t *handle, int **last)
{
    int *p = tsm_wfq_dequeue(&queue, handle);

    if (!p)
        return 0;
    assert(*p == 1);
    *p = 2;
    if (p < item[1]) {
        assert(p > *last);
        *last = p;
    }
    tsm_fetch_add(&got, 1, TSM_RELAXED);
    return 1;
}

static void *produces(void *arg)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(&queue);

    (void) arg;
    for (int i = 0; i < 3; i++)
        put(handle, &item[0][i]);
    tsm_wfq_detach(handle);
    return NULL;
}

static void *consumes(void *arg)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(&queue);
    int *last = NULL;

    (void) arg;
    while (tsm_load(&got, TSM_RELAXED) < 5) {
        if (!take(handle, &last))
            sched_yield();
    }
    tsm_wfq_detach(handle);
    return NULL;
}

static void *does_both(void *arg)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(&queue);
    int *last = NULL;

    (void) arg;
    put(handle, &item[1][0]);
    take(handle, &last);
    put(handle, &item[1][1]);
    take(handle, &last);
    tsm_wfq_detach(handle);
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, consumes, does_both };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 3, 8);

    assert(rc == 0);
    client_team(3, bodies);
    for (int i = 0; i < 3; i++)
        assert(item[0][i] == 2);
    assert(item[1][0] == 2 && item[1][1] == 2);
    tsm_wfq_destroy(&queue);
    return 0;
}
