/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CLIENT_LOOK_SWP_H_INCLUDED
#define CLIENT_LOOK_SWP_H_INCLUDED

/* client_look.h with SWP, and main, which runs LOOK_BODIES; the first LOOK_ITEMS are threads that post,
 * each one item. LOOK_FEW: so many threads if the checker enumerates. LOOK_INIT(): makes the lock. */

#include "queue/tsm_swp.h"
#include "tsm_wait.h"
#include "client_look.h"

static tsm_swp_t queue;
static tsm_swp_node_t item[LOOK_ITEMS];

static void push(int i)
{
    tsm_swp_push_before_tell(&queue, &item[i]);
}

static int pop(void)
{
    return tsm_swp_pop(&queue) != NULL;
}

static int has_posted(void)
{
    return !tsm_swp_is_empty(&queue);
}

static void take_all(void)
{
    tsm_swp_node_t *last = tsm_swp_tail_snapshot(&queue), *node = NULL;

    while (last != NULL && node != last) {
        tsm_wait_until((node = tsm_swp_pop(&queue)) != NULL, TSM_WAIT_POLL);
        taken++;
    }
}

static void *(*const bodies[])(void *) = { LOOK_BODIES };

int main(void)
{
    LOOK_INIT();
    tsm_swp_init(&queue);
    tsm_store(&look, TSM_SECOND_LOOK_NONE, TSM_RELAXED);
    client_team(client_pick((int) (sizeof(bodies) / sizeof(bodies[0])), LOOK_FEW), bodies);
    assert(taken == LOOK_ITEMS);
    return 0;
}

#endif /* CLIENT_LOOK_SWP_H_INCLUDED */
