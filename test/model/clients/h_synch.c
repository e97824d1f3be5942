/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* H-Synch of two clusters, with two threads and one. Enumerated: one thread in
 * each, one operation of each thread. */

#include "client.h"
#include "combine/tsm_h_synch.h"

CLIENT_SYMMETRIC;

static tsm_h_synch_t h;
static tsm_cc_synch_t cluster[2];
static tsm_cc_synch_node_t node[5];

static void operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
}

static void apply(intptr_t me, int mine)
{
    tsm_h_synch_handle_t handle;

    tsm_h_synch_attach(&h, &handle, mine, &node[me]);
    for (int i = 0; i < client_pick(2, 1); i++) {
        int result = 1;
        tsm_h_synch_apply(&h, &handle, operation, &result);
        assert(result == 2);
        client_scribble(&result);
    }
    client_scribble(tsm_h_synch_detach(&handle));
}

static void *here(void *arg)
{
    apply((intptr_t) arg, 0);
    return NULL;
}

static void *there(void *arg)
{
    apply((intptr_t) arg, 1);
    return NULL;
}

static void *(*const bodies[])(void *) = { here, there, here };

int main(void)
{
    tsm_cc_synch_node_t *nodes[2] = { &node[3], &node[4] };

    tsm_h_synch_init(&h, cluster, nodes, 2, 2);
    client_team(client_pick(3, 2), bodies);
    assert(client_count == client_pick(6, 2));
    tsm_h_synch_destroy(&h, nodes);
    client_scribble(nodes[0]);
    client_scribble(nodes[1]);
    return 0;
}
