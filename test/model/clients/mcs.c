/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* MCS lock: two threads acquire, one tries. Each overwrites its node as soon as it has released. */

#include "client.h"
#include "lock/tsm_mcs.h"

static tsm_mcs_t lock = TSM_MCS_INITIALIZER;
static tsm_mcs_node_t last;
static int won;

static void *acquires(void *arg)
{
    tsm_mcs_node_t node;

    (void) arg;
    for (int i = 0; i < 2; i++) {
        tsm_mcs_acquire(&lock, &node);
        client_critical();
        tsm_mcs_release(&lock, &node);
        client_scribble(&node);
    }
    return NULL;
}

static void *tries(void *arg)
{
    tsm_mcs_node_t node;

    (void) arg;
    for (int i = 0; i < 2; i++) {
        if (tsm_mcs_try(&lock, &node)) {
            client_critical();
            won++;
            tsm_mcs_release(&lock, &node);
        }
        client_scribble(&node);
    }
    return NULL;
}

int main(void)
{
    static void *(*const bodies[])(void *) = { acquires, acquires, tries };

    client_team(3, bodies);
    assert(client_count == 4 + won);
    assert(tsm_mcs_try(&lock, &last));
    return 0;
}
