/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The gate before an MCS lock, once the threads fit on the processors again: it was closed in the
 * name of a thread that never arrives, and another one waits at the lock and does not get it. No
 * quantum ends. Each of three threads opens the gate or finds it open, and nobody closes it. */

#define CLIENT_LOAD 0
#define TSM_NOW_NS() 1

#include "client.h"
#include "lock/tsm_gate.h"

static tsm_gate_t gate = TSM_GATE_INITIALIZER;
static tsm_mcs_t lock = TSM_MCS_INITIALIZER;

static void *acquires(void *arg)
{
    tsm_mcs_node_t node;

    (void) arg;
    for (int i = 0; i < 2; i++) {
        tsm_gate_acquire(&gate, tsm_mcs_try(&lock, &node), tsm_mcs_acquire(&lock, &node));
        assert(tsm_load(&gate.favoured, TSM_RELAXED) == 0);
        client_critical();
        tsm_mcs_release(&lock, &node);
    }
    return NULL;
}

int main(void)
{
    tsm_store(&gate.favoured, 1, TSM_RELAXED);
    tsm_store(&gate.waiting, 1, TSM_RELAXED);
    client_team(3, (void *(*const[])(void *)) { acquires, acquires, acquires });
    assert(client_count == 6);
    assert(!tsm_gate_queued(&gate) && gate.favoured == 0 && gate.waiting == 1);
    client_scribble(&gate);
    client_scribble(&lock);
    return 0;
}
