/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The multi-producer multi-consumer queue with one cell in a segment and few segments: each item
 * appends a segment, each dequeue leaves one behind, and segments are used again and again. */

#include "client_wfq.h"

#include <sched.h>

#define ITEMS 4

static tsm_wfq_t queue;
static int item[ITEMS];
static TSM_ATOMIC(int) got;

static void *produces(void *arg)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(&queue);

    (void) arg;
    for (int i = 0; i < ITEMS; i++) {
        item[i] = 1;
        while (tsm_wfq_enqueue(&queue, handle, &item[i]) != 0)
            sched_yield();
    }
    tsm_wfq_detach(handle);
    return NULL;
}

static void *consumes(void *arg)
{
    (void) arg;
    client_take_all(&queue, &got, ITEMS);
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, consumes, consumes };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 3, 3);

    assert(rc == 0);
    client_team(3, bodies);
    for (int i = 0; i < ITEMS; i++)
        assert(item[i] == 2);
    tsm_wfq_destroy(&queue);
    return 0;
}
