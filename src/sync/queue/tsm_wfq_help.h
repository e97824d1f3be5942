/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * How threads of tsm_wfq.h help each other's requests. A dequeuer that spoils a cell offers it to a
 * request to enqueue. A dequeuer that has got an item helps a request to dequeue.
 *
 * Source:     Yang and Mellor-Crummey, "A Wait-free Queue as Fast as Fetch-and-Add", PPoPP 2016;
 *             the changes are listed in tsm_wfq.h.
 * Threads:    as tsm_wfq.h.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_WFQ_HELP_H_INCLUDED
#define TSM_WFQ_HELP_H_INCLUDED

#include <stddef.h>
#include <stdint.h>

#include "tsm_wfq_segment.h"

/* Pauses for which a dequeuer waits for an enqueuer before it spoils the cell. */
#ifndef TSM_WFQ_PAUSES
#define TSM_WFQ_PAUSES 32
#endif

/* Request: the low bits of its state; above them is an index. */
#define TSM_WFQ_PENDING 1
#define TSM_WFQ_EMPTY 2         /* of a dequeue, done: there was no item */
#define TSM_WFQ_NOWHERE (UINT64_MAX << 1)       /* of an enqueue, done: withdrawn */

/* The name of the request that was made with index id, for `enq` of a cell. */
static inline uint64_t tsm_wfq_name_(tsm_wfq_t *queue, const tsm_wfq_handle_t *handle, uint64_t id)
{
    return id * queue->handles_max + (uint64_t) (handle - queue->handles) + TSM_WFQ_NAMES;
}

/* Put the item of the request that has got cell i into the cell, if it is still spoiled. We loaded
 * the request's state before its item. The owner also fills the cell, before it stores its next item
 * in the request: so if ours is that next item, the cell is no longer spoiled. */
static inline void tsm_wfq_commit_(tsm_wfq_t *queue, tsm_wfq_cell_t *cell, uint64_t i, void *item)
{
    tsm_wfq_raise_(&queue->tail, i + 1);        /* or a dequeuer finds the queue empty */
    if (tsm_load(&cell->item, TSM_ACQUIRE) == (void *) queue)
        tsm_store(&cell->item, item, TSM_RELEASE);
}

/* Complete the request `name` with the spoiled cell i, unless it has another cell. Returns the
 * cell's final item, or NULL for none. */
static inline void *tsm_wfq_serve_(tsm_wfq_t *queue, tsm_wfq_cell_t *cell, uint64_t i,
                                   uint64_t name)
{
    tsm_wfq_handle_t *peer = &queue->handles[(name - TSM_WFQ_NAMES) % queue->handles_max];
    uint64_t id = (name - TSM_WFQ_NAMES) / queue->handles_max;
    uint64_t state = id << 1 | TSM_WFQ_PENDING;
    void *item;

    if (tsm_cas(&peer->enq_state, &state, i << 1, TSM_SEQ_CST, TSM_SEQ_CST) || state == i << 1)
        tsm_wfq_commit_(queue, cell, i, tsm_load(&peer->enq_item, TSM_ACQUIRE));
    item = tsm_load(&cell->item, TSM_ACQUIRE);
    return item == (void *) queue ? NULL : item;
}

static inline size_t tsm_wfq_next_(const tsm_wfq_t *queue, size_t slot)
{
    return slot + 1 < queue->handles_max ? slot + 1 : 0;
}

/* Offer the spoiled cell i to the peer whose turn it is. If another request is faster we owe the
 * peer, and stay with it until its request is done. Returns the cell's final enq. */
static inline uint64_t tsm_wfq_offer_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                      tsm_wfq_cell_t *cell, uint64_t i)
{
    tsm_wfq_handle_t *peer = &queue->handles[handle->enq_peer];
    uint64_t state = tsm_load(&peer->enq_state, TSM_SEQ_CST);
    uint64_t enq = TSM_WFQ_NOBODY, name = TSM_WFQ_CLOSED;

    if (handle->enq_owed != 0 && handle->enq_owed != state) {
        handle->enq_peer = tsm_wfq_next_(queue, handle->enq_peer);
        peer = &queue->handles[handle->enq_peer];
        state = tsm_load(&peer->enq_state, TSM_SEQ_CST);
    }
    handle->enq_owed = 0;
    if ((state & TSM_WFQ_PENDING) && state >> 1 <= i)
        name = tsm_wfq_name_(queue, peer, state >> 1);
    if (tsm_cas(&cell->enq, &enq, name, TSM_ACQ_REL, TSM_ACQUIRE))
        enq = name;
    else if (name != TSM_WFQ_CLOSED && enq != name)
        handle->enq_owed = state;
    if (handle->enq_owed == 0)
        handle->enq_peer = tsm_wfq_next_(queue, handle->enq_peer);
    return enq;
}

/* Wait for the cell's enqueuer for a while, then spoil the cell. Returns the item, or the queue's
 * address if the cell is spoiled. */
static inline void *tsm_wfq_spoil_(tsm_wfq_t *queue, tsm_wfq_cell_t *cell)
{
    void *item = tsm_load(&cell->item, TSM_ACQUIRE);

    for (int n = 0; item == NULL && n < TSM_WFQ_PAUSES; n++) {
        tsm_cpu_pause();
        item = tsm_load(&cell->item, TSM_ACQUIRE);
    }
    if (item == NULL &&
        tsm_cas(&cell->item, &item, (void *) queue, TSM_ACQ_REL, TSM_ACQUIRE))
        item = queue;
    return item;
}

/* Returns the final item of cell i, or NULL for none. If the cell is spoiled, helps an enqueuer. */
static inline void *tsm_wfq_visit_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                   tsm_wfq_cell_t *cell, uint64_t i)
{
    void *item = tsm_wfq_spoil_(queue, cell);
    uint64_t enq;

    if (item != (void *) queue)
        return item;
    enq = tsm_load(&cell->enq, TSM_ACQUIRE);
    if (enq == TSM_WFQ_NOBODY)
        enq = tsm_wfq_offer_(queue, handle, cell, i);
    return enq == TSM_WFQ_CLOSED ? NULL : tsm_wfq_serve_(queue, cell, i, enq);
}

/* What one thread knows of a dequeue request that it helps. */
typedef struct tsm_wfq_hunt {
    tsm_wfq_handle_t *peer;             /* whose request */
    uint64_t id;                        /* which one */
    uint64_t prior;                     /* its state when we last began to look for a candidate */
    uint64_t state;                     /* its state when we last looked */
    uint64_t i;                         /* the last index that we have looked at */
    uint64_t found;                     /* an item that no thread had taken, or 0 */
    tsm_wfq_place_t scan, settle;
} tsm_wfq_hunt_t;

/* Look for an item that no thread has taken, until we have one or the request has changed. */
static inline void tsm_wfq_hunt_scan_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                      tsm_wfq_hunt_t *hunt)
{
    while (hunt->found == 0 && hunt->state == hunt->prior) {
        const uint64_t i = hunt->i + 1;
        uint64_t state = hunt->prior;
        if (tsm_load(&queue->tail, TSM_SEQ_CST) <= i) {
            /* do not touch cell i: it may have no memory, and may go to an enqueuer later */
            tsm_cas(&hunt->peer->deq_state, &state, i << 2 | TSM_WFQ_EMPTY, TSM_SEQ_CST,
                    TSM_RELAXED);
        } else {
            tsm_wfq_cell_t *cell = tsm_wfq_cell_(&hunt->scan, i);
            hunt->i = i;
            if (tsm_wfq_visit_(queue, handle, cell, i) != NULL &&
                tsm_load(&cell->deq, TSM_ACQUIRE) == TSM_WFQ_NOBODY)
                hunt->found = i;
        }
        hunt->state = tsm_load(&hunt->peer->deq_state, TSM_SEQ_CST);
    }
}

/* Try to get the candidate for the request, as all helpers do. Returns 1 if the request has it. */
static inline int tsm_wfq_hunt_settle_(tsm_wfq_t *queue, tsm_wfq_hunt_t *hunt)
{
    const uint64_t name = (uint64_t) (hunt->peer - queue->handles) + TSM_WFQ_NAMES;
    const uint64_t i = hunt->state >> 2;
    tsm_wfq_cell_t *cell = tsm_wfq_cell_(&hunt->settle, i);
    uint64_t deq = TSM_WFQ_NOBODY, state = hunt->state;

    if (!tsm_cas(&cell->deq, &deq, name, TSM_ACQ_REL, TSM_ACQUIRE) && deq != name)
        return 0;
    tsm_cas(&hunt->peer->deq_state, &state, i << 2, TSM_SEQ_CST, TSM_RELAXED);
    return 1;
}

/* Help peer's request that was made with index id in seg until it is done. */
static inline void tsm_wfq_hunt_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                 tsm_wfq_handle_t *peer, uint64_t id, tsm_wfq_segment_t *seg)
{
    const tsm_wfq_place_t place = { seg, id / TSM_WFQ_CELLS };
    tsm_wfq_hunt_t hunt = { .peer = peer, .id = id, .prior = id << 2 | TSM_WFQ_PENDING, .i = id,
                            .scan = place, .settle = place };

    hunt.state = tsm_load(&peer->deq_state, TSM_SEQ_CST);
    for (;;) {
        uint64_t expected = hunt.prior;
        tsm_wfq_hunt_scan_(queue, handle, &hunt);
        if (hunt.found != 0) {
            tsm_cas(&peer->deq_state, &expected, hunt.found << 2 | TSM_WFQ_PENDING, TSM_SEQ_CST,
                    TSM_RELAXED);
            hunt.state = tsm_load(&peer->deq_state, TSM_SEQ_CST);
        }
        if (!(hunt.state & TSM_WFQ_PENDING) || tsm_load(&peer->deq_id, TSM_ACQUIRE) != id ||
            tsm_wfq_hunt_settle_(queue, &hunt))
            return;
        hunt.prior = hunt.state;
        if (hunt.state >> 2 >= hunt.i) {
            hunt.i = hunt.state >> 2;
            hunt.found = 0;
        }
    }
}

/* At the end of a dequeue: help the request of the peer whose turn it is, if it has one. */
static inline void tsm_wfq_deq_help_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    tsm_wfq_handle_t *peer = &queue->handles[handle->deq_peer];
    tsm_wfq_segment_t *seg;
    uint64_t id;

    handle->deq_peer = tsm_wfq_next_(queue, handle->deq_peer);
    if (!(tsm_load(&peer->deq_state, TSM_ACQUIRE) & TSM_WFQ_PENDING))
        return;
    id = tsm_load(&peer->deq_id, TSM_ACQUIRE);
    if (id / TSM_WFQ_CELLS < tsm_load(&handle->guard, TSM_RELAXED))
        tsm_store(&handle->guard, id / TSM_WFQ_CELLS, TSM_SEQ_CST);
    /* still pending: until now the peer's own guard has kept the segments from id on, from now on
     * ours does */
    if (!(tsm_load(&peer->deq_state, TSM_SEQ_CST) & TSM_WFQ_PENDING))
        return;
    seg = tsm_load(&peer->deq_seg, TSM_ACQUIRE);
    /* the same id before the state and after seg: all three belong together */
    if (tsm_load(&peer->deq_id, TSM_ACQUIRE) == id)
        tsm_wfq_hunt_(queue, handle, peer, id, seg);
}

/*
 * Invariants: (1) to (3) of tsm_wfq.h.
 * Progress:   a visit to a cell is wait-free. A hunt ends when its request is done, which its owner
 *             and each helper bring nearer with every cell that they look at.
 *
 *   release                               acquire
 *   cell's item: store of commit          spoil, serve: load and CAS of item (what it points to)
 *   owner, ask: store of enq_item         serve: load of enq_item, then commit: load of item (not
 *                                           spoiled any more, if enq_item is a later one)
 *   cell's enq: CAS                       visit, offer: load and CAS of enq (the request is out)
 *   cell's deq: CAS                       scan, settle: load and CAS of deq (a later load of tail
 *                                           is not older than the taker's: "empty")
 *   owner, ask: store of deq_id (all      help, hunt: load of deq_id
 *     earlier requests are done), of      help: load of deq_seg, and then of deq_id
 *     deq_seg
 *   states of requests are seq_cst, as is the guard that a helper lowers: see tsm_wfq_segment.h.
 */

#endif /* TSM_WFQ_HELP_H_INCLUDED */
