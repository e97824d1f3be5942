/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Requests to enqueue of the multi-producer multi-consumer queue: one thread makes one after the
 * other, as if it had failed before each; two dequeuers find cells for them, and may be late. Each
 * item comes out once, and in order for each of them. */

#include "client_wfq.h"

#define ITEMS 3

static tsm_wfq_t queue;
static int item[ITEMS];
static TSM_ATOMIC(int) got;

static void *asks(void *arg)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(&queue);

    (void) arg;
    for (int i = 0; i < ITEMS; i++) {
        item[i] = 1;
        int rc = tsm_wfq_enq_begin_(&queue, handle);
        assert(rc == 0);
        rc = tsm_wfq_enq_slow_(&queue, handle, &item[i], tsm_wfq_index_(&queue, handle));
        assert(rc == 0);
        tsm_wfq_end_(handle);
    }
    tsm_wfq_detach(handle);
    return NULL;
}

static void *takes(void *arg)
{
    (void) arg;
    client_take_all(&queue, &got, ITEMS);
    return NULL;
}

static void *(*const bodies[])(void *) = { asks, takes, takes };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 3, 16);

    assert(rc == 0);
    client_team(3, bodies);
    for (int i = 0; i < ITEMS; i++)
        assert(item[i] == 2);
    tsm_wfq_destroy(&queue);
    return 0;
}
