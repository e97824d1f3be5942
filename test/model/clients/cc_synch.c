/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CC-Synch: three threads hand over operations, two at most are executed in a row. Each thread
 * overwrites the node that it gets back at the end; results are read by the threads that asked.
 * Enumerated: one operation of each thread. */

#include "client.h"
#include "combine/tsm_cc_synch.h"

CLIENT_SYMMETRIC;

static tsm_cc_synch_t cc;
static tsm_cc_synch_node_t node[4];

static void operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
}

static void *applies(void *arg)
{
    tsm_cc_synch_handle_t handle;

    tsm_cc_synch_attach(&handle, &node[(intptr_t) arg]);
    for (int i = 0; i < client_pick(2, 1); i++) {
        int result = 1;
        tsm_cc_synch_apply(&cc, &handle, operation, &result);
        assert(result == 2);
        client_scribble(&result);
    }
    client_scribble(tsm_cc_synch_detach(&handle));
    return NULL;
}

static void *(*const bodies[])(void *) = { applies, applies, applies };

int main(void)
{
    tsm_cc_synch_init(&cc, &node[3], 2);
    client_team(3, bodies);
    assert(client_count == client_pick(6, 3));
    client_scribble(tsm_cc_synch_destroy(&cc));
    return 0;
}
