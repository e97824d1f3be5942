/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* SWP queue: two producers and a consumer, which overwrites each node that it gets. The order of
 * each producer is kept, nothing is lost or doubled, a drain ends at the snapshot of the tail. */

#include "client.h"
#include "queue/tsm_swp.h"

#include <sched.h>

typedef struct item {
    tsm_swp_node_t node;        /* first, so that a node is its item */
    int producer;
    int number;
} item_t;

static tsm_swp_t queue;
static item_t item[2][2];

static void push(int producer, int number)
{
    item_t *it = &item[producer][number];

    it->producer = producer;
    it->number = number;
    tsm_swp_push(&queue, &it->node);
}

static void *produces(void *arg)
{
    push((int) (intptr_t) arg, 0);
    push((int) (intptr_t) arg, 1);
    return NULL;
}

static void *consumes(void *arg)
{
    int next[2] = { 0, 0 };

    (void) arg;
    while (next[0] + next[1] < 4) {
        tsm_swp_node_t *last = tsm_swp_tail_snapshot(&queue);
        for (tsm_swp_node_t *node = NULL; last && node != last;) {
            node = tsm_swp_pop(&queue);
            if (node) {
                item_t *it = (item_t *) node;
                assert(it->number == next[it->producer]++);
                client_scribble(it);
            } else {
                sched_yield();
            }
        }
        if (!last)
            sched_yield();
    }
    assert(tsm_swp_pop(&queue) == NULL);
    assert(tsm_swp_is_empty(&queue));
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, produces, consumes };

int main(void)
{
    tsm_swp_init(&queue);
    client_team(3, bodies);
    return 0;
}
