/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Help for a dequeuer of the multi-producer multi-consumer queue that asks twice: the enqueuers of
 * cell 0 and later of cell 1 never arrive, and there is nothing behind them. A helper that took the
 * index of the first request and the segment of the second one would go one cell too far, behind the
 * tail, which no thread may touch. */

#define TSM_WFQ_MARGIN(handles_) 2
#define TSM_WFQ_STRIDE(handles_) 2
#include "client_wfq.h"

#define HELPERS 3

static tsm_wfq_t queue;
static tsm_wfq_handle_t *asker, *helper[HELPERS];

static void *helps(void *arg)
{
    tsm_wfq_deq_help_(&queue, helper[(intptr_t) arg]);
    return NULL;
}

/* Get an index whose enqueuer never arrives, and ask for help. */
static void ask(uint64_t i)
{
    tsm_fetch_add(&queue.tail, 1, TSM_SEQ_CST);
    client_ask(&queue, asker, i);
}

static void *asks(void *arg)
{
    (void) arg;
    void *got = client_answer(&queue, asker, 0);
    assert(got == NULL);
    ask(1);
    got = client_answer(&queue, asker, 1);
    assert(got == NULL);
    return NULL;
}

static void *(*const bodies[])(void *) = { helps, helps, helps, asks };

int main(void)
{
    int rc = tsm_wfq_init(&queue, HELPERS + 1, 2);

    assert(rc == 0);
    asker = tsm_wfq_attach(&queue);
    ask(0);
    for (int i = 0; i < HELPERS; i++) {
        helper[i] = tsm_wfq_attach(&queue);
        helper[i]->deq_peer = 0;
        tsm_wfq_begin_(&queue, helper[i], &helper[i]->head);
    }
    client_team(HELPERS + 1, bodies);
    assert(tsm_load(&tsm_wfq_cell_(&helper[0]->head, 2)->item, TSM_RELAXED) == NULL);
    for (int i = 0; i < HELPERS; i++) {
        tsm_wfq_end_(helper[i]);
        tsm_wfq_detach(helper[i]);
    }
    tsm_wfq_detach(asker);
    tsm_wfq_destroy(&queue);
    return 0;
}
