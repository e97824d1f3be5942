/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* DSM-Synch: two threads hand over operations, one acquires, too; each thread executes at most two
 * operations in a row. Nodes are overwritten as soon as a call has returned; the result of an
 * operation is read by the thread that asked for it. */

#include "client.h"
#include "combine/tsm_dsm_synch.h"

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
    applies_once();
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
    applies_once();
    return NULL;
}

int main(void)
{
    tsm_dsm_synch_init(&dsm, 2);
    client_team(3, (void *(*const[])(void *)) { applies, applies, acquires });
    assert(client_count == 6);
    return 0;
}
