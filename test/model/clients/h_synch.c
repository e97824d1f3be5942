/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* H-Synch of two clusters, with two threads and one. */

#include "client.h"
#include "combine/tsm_h_synch.h"

static tsm_h_synch_t h;
static tsm_cc_synch_t cluster[2];
static tsm_cc_synch_node_t node[5];

static void operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
}

static void *applies(void *arg)
{
    tsm_h_synch_handle_t handle;

    tsm_h_synch_attach(&h, &handle, (intptr_t) arg == 2, &node[(intptr_t) arg]);
    for (int i = 0; i < 2; i++) {
        int result = 1;
        tsm_h_synch_apply(&h, &handle, operation, &result);
        assert(result == 2);
        client_scribble(&result);
    }
    client_scribble(tsm_h_synch_detach(&handle));
    return NULL;
}

int main(void)
{
    tsm_cc_synch_node_t *nodes[2] = { &node[3], &node[4] };

    tsm_h_synch_init(&h, cluster, nodes, 2, 2);
    client_team(3, (void *(*const[])(void *)) { applies, applies, applies });
    assert(client_count == 6);
    tsm_h_synch_destroy(&h, nodes);
    client_scribble(nodes[0]);
    client_scribble(nodes[1]);
    return 0;
}
