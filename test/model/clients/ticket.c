/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Ticket lock: two threads acquire, one tries. */

#include "client.h"
#include "lock/tsm_ticket.h"

static tsm_ticket_t lock = TSM_TICKET_INITIALIZER;
static int won;

static void *acquires(void *arg)
{
    (void) arg;
    for (int i = 0; i < 2; i++) {
        tsm_ticket_acquire(&lock);
        client_critical();
        tsm_ticket_release(&lock);
    }
    return NULL;
}

static void *tries(void *arg)
{
    (void) arg;
    for (int i = 0; i < 2; i++) {
        if (tsm_ticket_try(&lock)) {
            client_critical();
            won++;
            tsm_ticket_release(&lock);
        }
    }
    return NULL;
}

int main(void)
{
    static void *(*const bodies[])(void *) = { acquires, acquires, tries };

    client_team(3, bodies);
    assert(client_count == 4 + won);
    return 0;
}
