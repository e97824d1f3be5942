/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The gate before an MCS lock: two threads acquire, one tries, too. The load is always crowded, so
 * the gate closes as soon as two wait. */

#include "client.h"
#include "lock/tsm_gate.h"

static tsm_gate_t gate = TSM_GATE_INITIALIZER;
static tsm_mcs_t lock = TSM_MCS_INITIALIZER;
static int won;

static void *acquires(void *arg)
{
    tsm_mcs_node_t node;

    (void) arg;
    for (int i = 0; i < 3; i++) {
        tsm_gate_acquire(&gate, tsm_mcs_try(&lock, &node), tsm_mcs_acquire(&lock, &node));
        client_critical();
        tsm_mcs_release(&lock, &node);
    }
    return NULL;
}

static void *tries(void *arg)
{
    tsm_mcs_node_t node;

    if (tsm_gate_try(&gate, tsm_mcs_try(&lock, &node))) {
        client_critical();
        won++;
        tsm_mcs_release(&lock, &node);
    }
    return acquires(arg);
}

int main(void)
{
    client_team(3, (void *(*const[])(void *)) { acquires, acquires, tries });
    assert(client_count == 9 + won);
    assert(!tsm_gate_queued(&gate) && gate.waiting == 0);
    client_scribble(&gate);
    client_scribble(&lock);
    return 0;
}
