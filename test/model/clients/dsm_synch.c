/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* DSM-Synch: two threads hand over operations, one acquires, too; each thread executes at most two
 * operations in a row. Nodes are overwritten as soon as a call has returned; the result of an
 * operation is read by the thread that asked for it. Enumerated: one operation or acquisition of
 * each. */

#include "client.h"
#include "combine/tsm_dsm_synch.h"

CLIENT_SYMMETRIC;

static tsm_dsm_synch_t dsm;

static void operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
}

static void applies_once(void)
{
    tsm_dsm_synch_node_t node;
    int result = 1;

    tsm_dsm_synch_node_init(&node);
    tsm_dsm_synch_apply(&dsm, &node, operation, &result);
    assert(result == 2);
    client_scribble(&node);
}

static void *applies(void *arg)
{
    (void) arg;
    for (int i = 0; i < client_pick(2, 1); i++)
        applies_once();
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
    if (!model_enumerates)
        applies_once();
    return NULL;
}

static void *(*const bodies[])(void *) = { applies, applies, acquires };

int main(void)
{
    tsm_dsm_synch_init(&dsm, 2);
    client_team(3, bodies);
    assert(client_count == client_pick(6, 3));
    return 0;
}
