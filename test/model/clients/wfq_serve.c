/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Late help for a request to enqueue of the multi-producer multi-consumer queue: as soon as the
 * helper has chosen cell 1 for it, its owner may put the item there and make the next request. The
 * helper must not put the item of that one into cell 1. */

#define TSM_WFQ_CELLS 2
#define TSM_WFQ_MARGIN(handles_) 4
#define TSM_WFQ_STRIDE(handles_) 2
#include "client_wfq.h"

static tsm_wfq_t queue;
static tsm_wfq_handle_t *asker, *visitor;
static tsm_wfq_cell_t *cell;
static int item[2];

static void *serves(void *arg)
{
    (void) arg;
    void *found = tsm_wfq_serve_(&queue, cell, 1, tsm_wfq_name_(&queue, asker, 0));
    assert(found == &item[0]);
    return NULL;
}

static void *asks(void *arg)
{
    (void) arg;
    while (tsm_load(&asker->enq_state, TSM_SEQ_CST) & TSM_WFQ_PENDING)
        sched_yield();
    tsm_wfq_enq_finish_(&queue, asker, &item[0]);
    int rc = tsm_wfq_enq_slow_(&queue, asker, &item[1], tsm_wfq_index_(&queue, asker));
    assert(rc == 0);
    return NULL;
}

static void *(*const bodies[])(void *) = { serves, asks };

int main(void)
{
    int rc = tsm_wfq_init(&queue, 2, 4);

    assert(rc == 0);
    asker = tsm_wfq_attach(&queue);
    visitor = tsm_wfq_attach(&queue);
    rc = tsm_wfq_enq_begin_(&queue, asker);
    assert(rc == 0);
    tsm_wfq_enq_ask_(asker, &item[0], tsm_wfq_index_(&queue, asker));
    tsm_wfq_index_(&queue, asker);
    tsm_wfq_begin_(&queue, visitor, &visitor->head);
    cell = tsm_wfq_cell_(&visitor->head, 1);
    tsm_wfq_spoil_(&queue, cell);
    tsm_wfq_offer_(&queue, visitor, cell, 1);
    client_team(2, bodies);
    assert(tsm_load(&cell->item, TSM_RELAXED) == (void *) &item[0]);
    tsm_wfq_end_(visitor);
    tsm_wfq_end_(asker);
    tsm_wfq_detach(visitor);
    tsm_wfq_detach(asker);
    tsm_wfq_destroy(&queue);
    return 0;
}
