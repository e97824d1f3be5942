/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* DSM-Synch: two threads acquire and release, one hands over operations; enumerated: one and
 * one. */

#include "client.h"
#include "combine/tsm_dsm_synch.h"

CLIENT_SYMMETRIC;

static tsm_dsm_synch_t dsm;

static void operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
}

static void *applies(void *arg)
{
    tsm_dsm_synch_node_t node;
    int result = 0;

    (void) arg;
    tsm_dsm_synch_node_init(&node);
    for (int i = 0; i < 2; i++)
        tsm_dsm_synch_apply(&dsm, &node, operation, &result);
    assert(result == 2);
    client_scribble(&node);
    return NULL;
}

static void *acquires(void *arg)
{
    tsm_dsm_synch_node_t node;

    (void) arg;
    tsm_dsm_synch_node_init(&node);
    tsm_dsm_synch_acquire(&dsm, &node);
    client_critical();
    tsm_dsm_synch_release(&dsm, &node);
    client_scribble(&node);
    return NULL;
}

static void *(*const bodies[])(void *) = { acquires, applies, acquires };

int main(void)
{
    tsm_dsm_synch_init(&dsm, 1);
    client_team(client_pick(3, 2), bodies);
    assert(client_count == client_pick(4, 3));
    return 0;
}
