/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Help for a dequeuer of the multi-producer multi-consumer queue that asks twice, since the
 * enqueuers of cell 0 and of some from 3 on never arrive: those make the second search long. It has
 * asked for the first time when the helper starts, which may take one request for the other, and
 * would then go where segments have been freed. */

#include "client_wfq.h"

#include <sched.h>

#define MISSING 6

static tsm_wfq_t queue;
static tsm_wfq_handle_t *helper, *asker;
static int item[3];
static TSM_ATOMIC(int) again;           /* orders nothing */

static void *helps(void *arg)
{
    (void) arg;
    while (!tsm_load(&again, TSM_RELAXED))
        sched_yield();
    tsm_wfq_deq_help_(&queue, helper);
    tsm_wfq_end_(helper);
    return NULL;
}

static void *asks(void *arg)
{
    (void) arg;
    void *got = client_answer(&queue, asker, 0);
    assert(got == &item[1]);
    tsm_wfq_clean_(&queue);
    tsm_store(&again, 1, TSM_RELAXED);
    got = tsm_wfq_dequeue(&queue, asker);
    assert(got == &item[2]);
    return NULL;
}

static void put(int *p)
{
    int rc = tsm_wfq_enqueue(&queue, helper, p);
    assert(rc == 0);
}

static void *(*const bodies[])(void *) = { helps, asks };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 2, 16);

    assert(rc == 0);
    helper = tsm_wfq_attach(&queue);
    asker = tsm_wfq_attach(&queue);
    helper->deq_peer = 0;               /* itself, until it may help */
    tsm_fetch_add(&queue.tail, 1, TSM_SEQ_CST);
    client_ask(&queue, asker, 0);
    put(&item[0]);
    put(&item[1]);
    tsm_fetch_add(&queue.tail, MISSING, TSM_SEQ_CST);
    put(&item[2]);
    void *got = tsm_wfq_dequeue(&queue, helper);
    assert(got == &item[0]);
    tsm_wfq_begin_(&queue, helper, &helper->head);
    helper->deq_peer = 1;
    client_team(2, bodies);
    tsm_wfq_detach(asker);
    tsm_wfq_detach(helper);
    tsm_wfq_destroy(&queue);
    return 0;
}
