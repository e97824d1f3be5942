/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The multi-producer multi-consumer queue, made small for a checker: one cell in a segment, little
 * reserve, and no pauses, unless the client defines more; hardly any pool, so that segments are really
 * freed; and a thread that fails once asks for help. Some clients split a call, to begin in the middle
 * of it. */

#ifndef CLIENT_WFQ_H_INCLUDED
#define CLIENT_WFQ_H_INCLUDED

#ifndef TSM_WFQ_CELLS
#define TSM_WFQ_CELLS 1
#endif
#ifndef TSM_WFQ_MARGIN
#define TSM_WFQ_MARGIN(handles_) 8
#define TSM_WFQ_STRIDE(handles_) 2
#endif
#define TSM_WFQ_POOL 1
#define TSM_WFQ_PATIENCE 0
#ifndef TSM_WFQ_PAUSES
#define TSM_WFQ_PAUSES 0
#endif

#include <sched.h>

#include "client.h"
#include "queue/tsm_wfq.h"

/* Dequeue, with an own handle, until `got` of all dequeuers together is `items`. The items are marked 1
 * by their producer, come from an array in order, and each is ours alone. */
static inline void client_take_all(tsm_wfq_t *queue, TSM_ATOMIC(int) *got, int items)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(queue);
    int *last = NULL;

    while (tsm_load(got, TSM_RELAXED) < items) {
        int *p = tsm_wfq_dequeue(queue, handle);
        if (!p) {
            sched_yield();
            continue;
        }
        assert(*p == 1 && (last == NULL || p > last));
        *p = 2;
        last = p;
        tsm_fetch_add(got, 1, TSM_RELAXED);
    }
    tsm_wfq_detach(handle);
}

/* The first half of a dequeue that gets the index i, whose enqueuer never arrives: until it has asked
 * for help. */
static inline void client_ask(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, uint64_t i)
{
    tsm_wfq_begin_(queue, handle, &handle->head);
    uint64_t got = tsm_fetch_add(&queue->head, 1, TSM_SEQ_CST);
    assert(got == i);
    void *found = tsm_wfq_visit_(queue, handle, tsm_wfq_cell_(&handle->head, i), i);
    assert(found == NULL);
    tsm_wfq_deq_ask_(handle, i);
}

/* The second half. */
static inline void *client_answer(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, uint64_t i)
{
    tsm_wfq_hunt_(queue, handle, handle, i, handle->head.seg);
    void *item = tsm_wfq_deq_finish_(queue, handle);
    tsm_wfq_end_(handle);
    return item;
}

#endif /* CLIENT_WFQ_H_INCLUDED */
