/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* HMCS of two levels and two leaves: two threads on one leaf, one on the other, which also tries.
 * Each overwrites its node as soon as it has released. */

#include "client.h"
#include "lock/tsm_hmcs.h"

static tsm_hmcs_t lock;
static tsm_hmcs_domain_t domain[3];
static int won;

static void *acquires(void *arg)
{
    tsm_hmcs_node_t node = TSM_HMCS_NODE_INITIALIZER;

    for (int i = 0; i < 2; i++) {
        tsm_hmcs_acquire(&lock, &node, (intptr_t) arg == 2);
        client_critical();
        tsm_hmcs_release(&lock, &node);
        memset((void *) &node, 0, sizeof(node));
    }
    return NULL;
}

static void *tries(void *arg)
{
    tsm_hmcs_node_t node = TSM_HMCS_NODE_INITIALIZER;

    if (tsm_hmcs_try(&lock, &node)) {
        client_critical();
        won++;
        tsm_hmcs_release(&lock, &node);
    }
    memset((void *) &node, 0, sizeof(node));
    return acquires(arg);
}

int main(void)
{
    static void *(*const bodies[])(void *) = { acquires, acquires, tries };
    static const uint32_t widths[] = { 1, 2 };

    tsm_hmcs_init(&lock, domain, widths, 2, 1);
    client_team(3, bodies);
    assert(client_count == 6 + won);
    return 0;
}
