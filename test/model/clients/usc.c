/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The user-space condition: three threads, each waits for what another one of them, or the server's
 * polls, completes. Thread 2 completes the operation of thread 0 and delays the wake until its own
 * wait is over, while thread 0 may have been elected. Waiters and links are overwritten as soon as
 * they are settled. */

#include "client.h"
#include "tsm_usc.h"

#define THREADS 3

static tsm_usc_t usc;
static tsm_usc_slot_t slot[THREADS];
static TSM_ATOMIC(int) claimed[THREADS], done[THREADS];
static int data[THREADS];

/* Complete an operation unless another thread has; the waiter to wake, or NULL. */
static tsm_usc_waiter_t *complete(int i)
{
    if (tsm_load(&claimed[i], TSM_RELAXED) || tsm_swap(&claimed[i], 1, TSM_RELAXED))
        return NULL;
    data[i] = 1;
    tsm_store(&done[i], 1, TSM_SEQ_CST);
    return tsm_usc_notify(&slot[i]);
}

static int is_done(int i)
{
    return tsm_load(&done[i], TSM_SEQ_CST);
}

static void poll_all(int me)
{
    for (int i = 1; i <= THREADS; i++) {
        tsm_usc_waiter_t *waiter = complete((me + i) % THREADS);
        if (waiter)
            tsm_usc_wake(waiter);
    }
}

typedef struct member {
    int me;
    tsm_usc_waiter_t waiter;
    tsm_usc_link_t link;
} member_t;

static int enlist(void *arg)
{
    member_t *m = arg;

    tsm_usc_register(&slot[m->me], &m->waiter);
    return is_done(m->me);
}

static void delist(void *arg)
{
    member_t *m = arg;

    tsm_usc_unregister(&slot[m->me], &m->waiter);
}

static void wait_for(member_t *m)
{
    tsm_usc_t *set = &usc;
    tsm_usc_wait_t wait = { &m->waiter, 1, &set, &m->link, enlist, delist, m, TSM_WAIT_PARK };
    int serves = 0;

    while (!is_done(m->me)) {
        if (serves)
            poll_all(m->me);
        else
            serves = tsm_usc_sleep_or_serve(&wait);
    }
    if (serves)
        tsm_usc_leave(&usc, &m->link);
}

static void *waits(void *arg)
{
    member_t m = { (int) (intptr_t) arg, TSM_USC_WAITER_INITIALIZER, TSM_USC_LINK_INITIALIZER };
    tsm_usc_waiter_t *owed = m.me == 2 ? complete(0) : NULL;

    wait_for(&m);
    assert(data[m.me] == 1);
    if (owed)
        tsm_usc_wake(owed);
    tsm_usc_settle(&m.waiter);
    client_scribble(&m.waiter);
    client_scribble(&m.link);
    return NULL;
}

int main(void)
{
    int rc = tsm_usc_init(&usc);

    assert(rc == 0);
    client_team(THREADS, (void *(*const[])(void *)) { waits, waits, waits });
    tsm_usc_destroy(&usc);
    return 0;
}
