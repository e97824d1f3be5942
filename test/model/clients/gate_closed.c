/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Two gates, above each other, before a ticket lock, both closed in the name of a thread that never
 * arrives: two threads of low and one of high priority get in nevertheless. */

#include "client.h"
#include "lock/tsm_gate.h"
#include "lock/tsm_ticket.h"

static tsm_gate_t high = TSM_GATE_INITIALIZER, low = TSM_GATE_INITIALIZER;
static tsm_ticket_t lock = TSM_TICKET_INITIALIZER;

static void *low_acquires(void *arg)
{
    (void) arg;
    for (int i = 0; i < 2; i++) {
        tsm_gate_acquire_below(&low, &high, tsm_ticket_try(&lock), tsm_ticket_acquire(&lock));
        client_critical();
        tsm_ticket_release(&lock);
    }
    return NULL;
}

static void *high_acquires(void *arg)
{
    (void) arg;
    for (int i = 0; i < 2; i++) {
        tsm_gate_acquire(&high, tsm_ticket_try(&lock), tsm_ticket_acquire(&lock));
        client_critical();
        tsm_ticket_release(&lock);
    }
    return NULL;
}

int main(void)
{
    tsm_store(&high.favoured, 1, TSM_RELAXED);
    tsm_store(&low.favoured, 1, TSM_RELAXED);
    client_team(3, (void *(*const[])(void *)) { low_acquires, low_acquires, high_acquires });
    assert(client_count == 6);
    client_scribble(&high);
    client_scribble(&low);
    client_scribble(&lock);
    return 0;
}
