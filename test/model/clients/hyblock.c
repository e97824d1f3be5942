/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* HYBLOCK: two threads acquire, one tries. Each overwrites its node as soon as it has released. */

#include "client.h"
#include "lock/tsm_hyblock.h"

static tsm_hyblock_t lock = TSM_HYBLOCK_INITIALIZER;
static int won;

static void *acquires(void *arg)
{
    tsm_hyblock_node_t node;

    (void) arg;
    for (int i = 0; i < 2; i++) {
        tsm_hyblock_node_init(&node);
        tsm_hyblock_acquire(&lock, &node);
        client_critical();
        tsm_hyblock_release(&lock, &node);
        client_scribble(&node);
    }
    return NULL;
}

static void *tries(void *arg)
{
    tsm_hyblock_node_t node;

    (void) arg;
    tsm_hyblock_node_init(&node);
    for (int i = 0; i < 2; i++) {
        if (tsm_hyblock_try(&lock, &node)) {
            client_critical();
            won++;
            tsm_hyblock_release(&lock, &node);
        }
    }
    client_scribble(&node);
    return NULL;
}

int main(void)
{
    static void *(*const bodies[])(void *) = { acquires, acquires, tries };

    client_team(3, bodies);
    assert(client_count == 4 + won);
    return 0;
}
