/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* DSM-Synch: the combiner takes the last node out of the queue, while another thread appends itself
 * behind that node or, a moment later, behind the combiner's. The owner of a node that was taken out
 * spoils it. Enumerated: three threads with one operation each; else one of them hands over a second
 * one with the same node. */

#include "client.h"
#include "combine/tsm_dsm_synch.h"

CLIENT_SYMMETRIC;

static tsm_dsm_synch_t dsm;

static void operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
}

/* The parts of apply; the combiner does its own operation last, which gives the others time. */
static void *combines(void *arg)
{
    tsm_dsm_synch_node_t node;
    int result = 0;

    (void) arg;
    tsm_dsm_synch_node_init(&node);
    if (tsm_dsm_synch_begin(&dsm, &node, operation, &result)) {
        tsm_dsm_synch_combine(&dsm, &node);
        operation(&result);
        tsm_dsm_synch_release(&dsm, &node);
    }
    assert(result == 1);
    client_scribble(&node);
    return NULL;
}

static void *applies(void *arg)
{
    tsm_dsm_synch_node_t node;
    int result = 0;

    (void) arg;
    for (int i = 0; i < client_pick(2, 1); i++) {
        tsm_dsm_synch_node_init(&node);
        tsm_dsm_synch_apply(&dsm, &node, operation, &result);
        assert(result == i + 1);
        client_scribble(&node);
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { combines, combines, applies };

int main(void)
{
    tsm_dsm_synch_init(&dsm, 8);
    client_team(3, bodies);
    assert(client_count == client_pick(4, 3));
    return 0;
}
