/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The user-space condition: one thread waits in two sets for any of two operations, twice with the
 * same waiter, so that a late wake of the first sleep may meet the second. The servers of both sets
 * complete one operation each, one by a swap alone (notify_swap), and stay, so no election makes up
 * for a lost wake. A slot is overwritten when its completer is known to be done with it. */

#include "client.h"
#include "tsm_usc.h"

#define SETS 2
#define ALL  ((1 << SETS) - 1)

static tsm_usc_t usc[SETS];
static tsm_usc_waiter_t server[SETS];
static tsm_usc_link_t server_link[SETS];
static tsm_usc_slot_t slot[SETS];
static TSM_ATOMIC(int) done[SETS];
static int data[SETS];

static void *completes(void *arg)
{
    int i = (int) (intptr_t) arg;
    tsm_usc_waiter_t *taken;

    data[i] = 1;
    if (i == 0) {
        tsm_store(&done[i], 1, TSM_SEQ_CST);
        taken = tsm_usc_notify(&slot[i]);
    } else {
        tsm_store(&done[i], 1, TSM_RELAXED);
        taken = tsm_usc_notify_swap(&slot[i]);
    }
    if (taken)
        tsm_usc_wake(taken);
    return NULL;
}

typedef struct waiting {
    tsm_usc_waiter_t waiter;
    int mask;                           /* what it waits for */
} waiting_t;

static int enlist(void *arg)
{
    waiting_t *w = arg;
    int complete = 0;

    for (int i = 0; i < SETS; i++) {
        if (w->mask >> i & 1) {
            tsm_usc_register(&slot[i], &w->waiter);
            complete |= tsm_load(&done[i], i == 0 ? TSM_SEQ_CST : TSM_RELAXED);
        }
    }
    return complete;
}

static void delist(void *arg)
{
    waiting_t *w = arg;

    for (int i = 0; i < SETS; i++) {
        if ((w->mask >> i & 1) && tsm_usc_unregister(&slot[i], &w->waiter)) {
            assert(data[i] == 1);
            client_scribble(&slot[i]);
            w->mask &= ~(1 << i);
        }
    }
}

/* Until one of the operations is known to be over by its wake, or by a look. */
static void wait_any(waiting_t *w)
{
    tsm_usc_t *sets[SETS] = { &usc[0], &usc[1] };
    tsm_usc_link_t link[SETS] = { TSM_USC_LINK_INITIALIZER, TSM_USC_LINK_INITIALIZER };
    tsm_usc_wait_t wait = { &w->waiter, SETS, sets, link, enlist, delist, w, TSM_WAIT_PARK };
    int before = w->mask, serves;

    while (w->mask == before) {
        serves = tsm_usc_sleep_or_serve(&wait);
        assert(serves == 0);
        (void) serves;
        for (int i = 0; i < SETS; i++) {
            if ((w->mask >> i & 1) && tsm_load(&done[i], TSM_RELAXED))
                w->mask &= ~(1 << i);
        }
    }
    client_scribble(link);
}

static void *waits(void *arg)
{
    waiting_t w = { TSM_USC_WAITER_INITIALIZER, ALL };

    (void) arg;
    while (w.mask)
        wait_any(&w);
    tsm_usc_settle(&w.waiter);
    client_scribble(&w.waiter);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < SETS; i++) {
        int rc = tsm_usc_init(&usc[i]);
        assert(rc == 0);
        tsm_usc_link_init(&server_link[i]);
        rc = tsm_usc_join(&usc[i], &server_link[i], &server[i]);
        assert(rc == 1);
        (void) rc;
    }
    client_team(3, (void *(*const[])(void *)) { completes, completes, waits });
    for (int i = 0; i < SETS; i++) {
        tsm_usc_leave(&usc[i], &server_link[i]);
        tsm_usc_destroy(&usc[i]);
    }
    return 0;
}
