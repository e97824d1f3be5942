/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Handles of the multi-producer multi-consumer queue: of two threads with one handle, only one has it
 * at a time; with as many handles as threads, attaching never fails. */

#define TSM_WFQ_CELLS 2
#include "client_wfq.h"

#include <sched.h>

static tsm_wfq_t narrow, wide;

static void *comes_and_goes(void *arg)
{
    tsm_wfq_handle_t *handle;

    (void) arg;
    for (int i = 0; i < 2; i++) {
        while (!(handle = tsm_wfq_attach(&narrow)))
            sched_yield();
        client_critical();
        tsm_wfq_detach(handle);
        handle = tsm_wfq_attach(&wide);
        assert(handle != NULL);
        tsm_wfq_detach(handle);
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { comes_and_goes, comes_and_goes, comes_and_goes };

int main(void)
{
    int rc = tsm_wfq_init(&narrow, 1, 2) || tsm_wfq_init(&wide, 3, 2);

    assert(rc == 0);
    client_team(3, bodies);
    assert(client_count == 6);
    tsm_wfq_destroy(&narrow);
    tsm_wfq_destroy(&wide);
    return 0;
}
