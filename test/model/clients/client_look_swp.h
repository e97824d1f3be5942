/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CLIENT_LOOK_SWP_H_INCLUDED
#define CLIENT_LOOK_SWP_H_INCLUDED

/* client_look.h with SWP, and main. A lock of zeros must be free. LOOK_POSTS may replace the body of
 * the threads that post. */

#ifndef LOOK_POSTS
#define LOOK_POSTS look_posts
#endif

#include "queue/tsm_swp.h"
#include "tsm_wait.h"
#include "client_look.h"

static tsm_swp_t queue;
static tsm_swp_node_t item[2];

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

static void *(*const bodies[])(void *) = { LOOK_POSTS, LOOK_POSTS, look_enters, look_tries };

int main(void)
{
    tsm_swp_init(&queue);
    tsm_store(&look, TSM_SECOND_LOOK_NONE, TSM_RELAXED);
    client_team(client_pick(4, 3), bodies);
    assert(taken == 2);
    return 0;
}

#endif /* CLIENT_LOOK_SWP_H_INCLUDED */
