/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Guards of the multi-producer multi-consumer queue, from one situation: a dequeuer waits for help
 * with a request in a segment that all the others have left, since the enqueuer of cell 0 never
 * arrived; a helper is about to go back there, and a cleaner about to free what no thread guards. The
 * helper has the first handle and the asker the last one, so that the cleaner may miss the helper
 * before it lowers its guard and the asker after it has left. */

#include "client_wfq.h"

/* A long way between the two handles, so that much can happen while a cleaner is on it. */
#define HANDLES 8

static tsm_wfq_t queue;
static tsm_wfq_handle_t *handle[HANDLES];
#define helper handle[0]
#define other handle[1]
#define asker handle[HANDLES - 1]
static int item[2];

static void *helps(void *arg)
{
    (void) arg;
    tsm_wfq_deq_help_(&queue, helper);
    tsm_wfq_end_(helper);
    return NULL;
}

static void *asks(void *arg)
{
    (void) arg;
    void *got = client_answer(&queue, asker, 0);
    assert(got == &item[1]);
    return NULL;
}

static void *cleans(void *arg)
{
    (void) arg;
    tsm_wfq_clean_(&queue);
    return NULL;
}

static void *(*const bodies[])(void *) = { helps, asks, cleans };

int main(void)
{
    int rc = tsm_wfq_init(&queue, HANDLES, 4);

    assert(rc == 0);
    for (int i = 0; i < HANDLES; i++)
        handle[i] = tsm_wfq_attach(&queue);
    tsm_fetch_add(&queue.tail, 1, TSM_SEQ_CST);
    client_ask(&queue, asker, 0);
    for (int i = 0; i < 2; i++) {
        rc = tsm_wfq_enqueue(&queue, other, &item[i]);
        assert(rc == 0);
    }
    void *got = tsm_wfq_dequeue(&queue, other);
    assert(got == &item[0]);
    tsm_wfq_begin_(&queue, helper, &helper->head);
    helper->deq_peer = HANDLES - 1;
    client_team(3, bodies);
    for (int i = 0; i < HANDLES; i++)
        tsm_wfq_detach(handle[i]);
    tsm_wfq_destroy(&queue);
    return 0;
}
