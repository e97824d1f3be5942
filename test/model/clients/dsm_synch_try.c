/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* DSM-Synch: two threads try; one that fails hands over an operation, or gives up. Enumerated: one
 * tries and gives up, one tries and hands over. */

#include "client.h"
#include "combine/tsm_dsm_synch.h"

static tsm_dsm_synch_t dsm;
static int given_up[3];

static void operation(void *arg)
{
    client_critical();
    ++*(int *) arg;
}

/* 1 if the operation was executed under the lock. */
static int tries(tsm_dsm_synch_node_t *node, int *result)
{
    if (!tsm_dsm_synch_try(&dsm, node))
        return 0;
    operation(result);
    tsm_dsm_synch_combine(&dsm, node);
    tsm_dsm_synch_release(&dsm, node);
    return 1;
}

static void *gives_up(void *arg)
{
    tsm_dsm_synch_node_t node;
    int result = 0;

    tsm_dsm_synch_node_init(&node);
    given_up[(intptr_t) arg] = !tries(&node, &result);
    client_scribble(&node);
    return NULL;
}

static void *hands_over(void *arg)
{
    tsm_dsm_synch_node_t node;
    int result = 0;

    (void) arg;
    tsm_dsm_synch_node_init(&node);
    if (!tries(&node, &result))
        tsm_dsm_synch_apply(&dsm, &node, operation, &result);
    assert(result == 1);
    client_scribble(&node);
    return NULL;
}

static void *(*const bodies[])(void *) = { gives_up, hands_over, hands_over };

int main(void)
{
    int n = client_pick(3, 2);

    tsm_dsm_synch_init(&dsm, 2);
    client_team(n, bodies);
    assert(client_count == n - given_up[0]);
    return 0;
}
