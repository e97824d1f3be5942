/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The user-space condition: three threads, each waits for what another one of them, or the server's
 * polls, completes. Waiters are overwritten as soon as a wait has returned. */

#include "client.h"
#include "tsm_usc.h"

static tsm_usc_t usc;
static TSM_ATOMIC(tsm_usc_waiter_t *) pending[3];
static int data[3];

/* Complete one waiter that has been handed over; the data belongs to it. */
static int complete_one(int i)
{
    tsm_usc_waiter_t *waiter = tsm_swap(&pending[i], NULL, TSM_ACQUIRE);

    if (!waiter)
        return 0;
    data[i] = 1;
    tsm_usc_signal(waiter);
    return 1;
}

static int poll_all(void *arg)
{
    int i = (int) (intptr_t) arg;

    return complete_one((i + 1) % 3) || complete_one((i + 2) % 3) || complete_one(i);
}

static void *waits(void *arg)
{
    int me = (int) (intptr_t) arg;
    tsm_usc_waiter_t waiter;

    tsm_usc_waiter_init(&waiter);
    tsm_store(&pending[me], &waiter, TSM_RELEASE);
    if (me == 2)
        complete_one(0);
    tsm_usc_wait(&usc, &waiter, poll_all, arg);
    assert(data[me] == 1);
    client_scribble(&waiter);
    return NULL;
}

int main(void)
{
    int rc = tsm_usc_init(&usc);

    assert(rc == 0);
    client_team(3, (void *(*const[])(void *)) { waits, waits, waits });
    tsm_usc_destroy(&usc);
    return 0;
}
