/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* SWP queue: the same promise for the snapshot of the tail as for is_empty. A producer pushes and
 * checks whether the door is closed; the consumer closes it and takes a snapshot. Either the
 * producer notices, or its node is in what the consumer drains. */

#include "client.h"
#include "queue/tsm_swp.h"

#include <sched.h>

static tsm_swp_t queue;
static tsm_swp_node_t node;
static TSM_ATOMIC(int) closed;
static int missed, drained;

static void *produces(void *arg)
{
    (void) arg;
    tsm_swp_push(&queue, &node);
    missed = !tsm_load(&closed, TSM_SEQ_CST);
    return NULL;
}

static void *consumes(void *arg)
{
    (void) arg;
    tsm_store(&closed, 1, TSM_SEQ_CST);
    if (tsm_swp_tail_snapshot(&queue) != NULL) {
        while (tsm_swp_pop(&queue) == NULL)
            sched_yield();
        drained = 1;
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, consumes };

int main(void)
{
    tsm_swp_init(&queue);
    client_team(2, bodies);
    assert(!missed || drained);
    return 0;
}
