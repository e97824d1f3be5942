/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* SWP queue: what is_empty promises. A producer pushes and checks whether the door is closed; the
 * other thread closes it and checks whether the queue is empty: one of the two must notice. A thread
 * that finds the queue empty knows that the last pop, and all before it, is over. */

#include "client.h"
#include "queue/tsm_swp.h"

static tsm_swp_t queue;
static tsm_swp_node_t early, late;
static TSM_ATOMIC(int) closed;
static int popped;
static int missed, found_empty;

static void *produces(void *arg)
{
    (void) arg;
    tsm_swp_push(&queue, &late);
    missed = !tsm_load(&closed, TSM_SEQ_CST);
    return NULL;
}

static void *consumes(void *arg)
{
    (void) arg;
    popped = 1;
    assert(tsm_swp_pop(&queue) != NULL || !tsm_swp_is_empty(&queue));
    return NULL;
}

static void *closes(void *arg)
{
    (void) arg;
    tsm_store(&closed, 1, TSM_SEQ_CST);
    found_empty = tsm_swp_is_empty(&queue);
    if (found_empty)
        assert(popped == 1);
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, consumes, closes };

int main(void)
{
    tsm_swp_init(&queue);
    tsm_swp_push(&queue, &early);
    client_team(3, bodies);
    assert(!(missed && found_empty));
    return 0;
}
