/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts (src/ch4/section/section.c): a thread pushes, tries the lock and goes; the holder
 * looks at the queue after its release. No item is forgotten, also if the holder looks while the push
 * is half done. */

#include "client.h"
#include "queue/tsm_second_look.h"
#include "queue/tsm_swp.h"

static tsm_swp_t queue;
static tsm_swp_node_t item[2];
static tsm_second_look_t look;
static TSM_ATOMIC(int) lock;
static int taken;

static int take(void)
{
    int n = 0;

    while (tsm_swp_pop(&queue) != NULL)
        n++;
    taken += n;
    return n;
}

static int take_or_ask(void)
{
    int n = take();

    if (n == 0) {
        tsm_second_look_ask(&look);
        return take();
    }
    tsm_second_look_settle(&look);
    return n;
}

static int try(void)
{
    int seen = tsm_load(&lock, TSM_SEQ_CST);

    return seen == 0 && tsm_cas(&lock, &seen, 1, TSM_ACQUIRE, TSM_RELAXED);
}

static void release(void)
{
    tsm_swap(&lock, 0, TSM_SEQ_CST);
}

static void help(void)
{
    while (!tsm_swp_is_empty(&queue) && try()) {
        int n = take_or_ask();

        release();
        if (n == 0 && !tsm_second_look_is_due(&look))
            break;
    }
}

static void *posts(void *arg)
{
    tsm_swp_push(&queue, &item[(intptr_t) arg]);
    tsm_second_look_tell(&look);
    help();
    return NULL;
}

static void *holds(void *arg)
{
    (void) arg;
    if (try()) {
        client_critical();
        release();
        help();
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { posts, posts, holds };

int main(void)
{
    tsm_swp_init(&queue);
    client_team(3, bodies);
    assert(taken == 2);
    return 0;
}
