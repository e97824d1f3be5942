/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Handles of the multi-producer multi-consumer queue: one thread gives its handle back and checks
 * whether the door is open; another one opens it and asks for a handle. One of the two must notice. */

#define TSM_WFQ_CELLS 2
#include "client_wfq.h"

static tsm_wfq_t queue;
static tsm_wfq_handle_t *held[2];
static TSM_ATOMIC(int) opened;
static int missed, got_none;

static void *leaves(void *arg)
{
    (void) arg;
    tsm_wfq_detach(held[0]);
    missed = !tsm_load(&opened, TSM_SEQ_CST);
    return NULL;
}

static void *comes(void *arg)
{
    tsm_wfq_handle_t *handle;

    (void) arg;
    tsm_store(&opened, 1, TSM_SEQ_CST);
    handle = tsm_wfq_attach(&queue);
    if (handle)
        tsm_wfq_detach(handle);
    got_none = !handle;
    return NULL;
}

static void *(*const bodies[])(void *) = { leaves, comes };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 2, 2);

    assert(rc == 0);
    held[0] = tsm_wfq_attach(&queue);
    held[1] = tsm_wfq_attach(&queue);
    client_team(2, bodies);
    assert(!(missed && got_none));
    tsm_wfq_detach(held[1]);
    tsm_wfq_destroy(&queue);
    return 0;
}
