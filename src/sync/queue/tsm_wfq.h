/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * A multi-producer multi-consumer FIFO queue on fetch-and-add, unbounded up to a cap that the
 * caller sets, with reclamation. It is wait-free: a thread that fails on the fast path publishes a
 * request, and other threads complete it.
 *
 * Source:     Yang and Mellor-Crummey, "A Wait-free Queue as Fast as Fetch-and-Add", PPoPP 2016.
 *             Changed: (a) A cell names the request that may fill it by handle and index, not by
 *             its address alone: the authors' code has open reports of hangs, and of helpers that
 *             take one request of a thread for its next (chaoran/fast-wait-free-queue, issues 10,
 *             11 and 14). (b) Handles are an array, which is also the ring of peers, and are
 *             reused. (c) Dequeue checks for emptiness before it takes an index, so that it needs
 *             no memory, and a request finds the queue empty before it touches a cell behind the
 *             tail. (d) There is a cap, and an enqueue request can be withdrawn. (e) The cleaner
 *             follows the indexes and not the threads, and spares the segments that threads guard.
 *             Helping is in tsm_wfq_help.h, the cells are in tsm_wfq_segment.h.
 * Limits:     indexes are never used again. A request is named index * handles_max + slot + 2 in 64
 *             bits, so no index may reach 2^64 / handles_max, nor 2^62, above which the state of a
 *             dequeue has no bits: with 64 handles 2^58, with TSM_WFQ_HANDLES_MAX, which init
 *             enforces, 2^49; at 10^8 indexes in a second 91 years and 65 days. A failed try takes
 *             an index, too. Nothing checks this limit: beyond it, a name may belong to another
 *             request or to none, and items are lost. Make a new queue in time.
 *
 *   release                               acquire
 *   cell's item: CAS of enqueue, store    tsm_wfq_help.h, finish of a dequeue: loads and CAS of
 *     of finish                             item (what it points to)
 *   cell's enq: CAS of seek               tsm_wfq_help.h: loads and CAS of enq (the request is out)
 *   cell's deq: CAS                       tsm_wfq_help.h: loads and CAS of deq
 *   ask: stores of enq_item, deq_id,      tsm_wfq_help.h: loads of them
 *     deq_seg
 *   detach: store of `used`               attach: CAS of `used` (the handle's own fields)
 *   head, tail, room and states of requests are seq_cst: "empty" compares two indexes. So is
 *   `used`, for the argument at tsm_wfq_attach.
 *
 * Threads:    as many at once as the queue has handles; each attaches one, and they may come and
 *             go. Any number of queues. Items are pointers, neither NULL nor the queue's address.
 *             FIFO: linearizable; so one consumer sees the items of one producer in their order.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_WFQ_H_INCLUDED
#define TSM_WFQ_H_INCLUDED

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "tsm_wfq_help.h"
#include "tsm_wfq_segment.h"

/* Further tries of the fast path after the first one has failed. */
#ifndef TSM_WFQ_PATIENCE
#define TSM_WFQ_PATIENCE 8
#endif

static inline void tsm_wfq_init_handle_(tsm_wfq_t *queue, size_t slot)
{
    tsm_wfq_handle_t *handle = &queue->handles[slot];

    tsm_store(&handle->guard, TSM_WFQ_IDLE, TSM_RELAXED);
    tsm_store(&handle->used, 0, TSM_RELAXED);
    tsm_store(&handle->enq_state, TSM_WFQ_NOWHERE, TSM_RELAXED);
    tsm_store(&handle->enq_item, NULL, TSM_RELAXED);
    tsm_store(&handle->deq_state, 0, TSM_RELAXED);
    tsm_store(&handle->deq_id, 0, TSM_RELAXED);
    tsm_store(&handle->deq_seg, NULL, TSM_RELAXED);
    handle->head = handle->tail = (tsm_wfq_place_t) { queue->oldest, 0 };
    handle->needs = 0;
    handle->enq_peer = handle->deq_peer = (slot + 1) % queue->handles_max;
    handle->enq_owed = 0;
}

/* Make an empty queue for up to handles_max threads at a time, at least 1, and segments_max
 * segments, at least 2, of TSM_WFQ_CELLS cells, besides the reserve. Returns 0, EINVAL, or ENOMEM,
 * which leaves nothing to destroy. One thread, before any use. */
static inline int tsm_wfq_init(tsm_wfq_t *queue, size_t handles_max, size_t segments_max)
{
    if (handles_max < 1 || segments_max < 2)
        return EINVAL;
    if (handles_max > TSM_WFQ_HANDLES_MAX)
        return ENOMEM;
    tsm_wfq_size_(queue, handles_max, segments_max);
    tsm_store(&queue->segments, 0, TSM_RELAXED);
    for (int i = 0; i < TSM_WFQ_POOL; i++)
        tsm_store(&queue->pool[i], NULL, TSM_RELAXED);
    queue->handles = TSM_WFQ_MALLOC(handles_max * sizeof(tsm_wfq_handle_t));
    if (queue->handles == NULL)
        return ENOMEM;
    if (tsm_wfq_lay_out_(queue) != 0) {
        TSM_WFQ_FREE(queue->handles);
        return ENOMEM;
    }

    for (size_t i = 0; i < handles_max; i++)
        tsm_wfq_init_handle_(queue, i);
    tsm_store(&queue->cleaning, 0, TSM_RELAXED);
    tsm_store(&queue->floor, 0, TSM_RELAXED);
    tsm_store(&queue->head, 0, TSM_RELAXED);
    tsm_store(&queue->tail, 0, TSM_RELAXED);
    return 0;
}

/* Free all memory; items still in the queue are lost. No handle may be attached. One thread,
 * synchronized with all the others. */
static inline void tsm_wfq_destroy(tsm_wfq_t *queue)
{
    for (size_t i = 0; i < queue->handles_max; i++)
        assert(!tsm_load(&queue->handles[i].used, TSM_RELAXED) && "tsm_wfq_destroy: in use");
    tsm_wfq_free_(queue->oldest);
    for (int i = 0; i < TSM_WFQ_POOL; i++)
        TSM_WFQ_FREE(tsm_load(&queue->pool[i], TSM_RELAXED));
    TSM_WFQ_FREE(queue->handles);
}

/* Returns a handle for the calling thread, or NULL if handles_max are attached, and only then: a
 * thread that looks at handle i has found all handles before it attached. Any thread; bounded. */
static inline tsm_wfq_handle_t *tsm_wfq_attach(tsm_wfq_t *queue)
{
    for (size_t i = 0; i < queue->handles_max; i++) {
        uint32_t expected = 0;
        if (tsm_cas(&queue->handles[i].used, &expected, 1, TSM_SEQ_CST, TSM_SEQ_CST))
            return &queue->handles[i];
    }
    return NULL;
}

/* Give the handle back. */
static inline void tsm_wfq_detach(tsm_wfq_handle_t *handle)
{
    assert(tsm_load(&handle->used, TSM_RELAXED) &&
           tsm_load(&handle->guard, TSM_RELAXED) == TSM_WFQ_IDLE && "tsm_wfq_detach: not attached");
    tsm_store(&handle->used, 0, TSM_SEQ_CST);
}

/* Try once. Returns 1 if item is in, 0 if a dequeuer has spoiled the cell with the index *i. */
static inline int tsm_wfq_enq_fast_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, void *item,
                                    uint64_t *i)
{
    void *expected = NULL;

    *i = tsm_wfq_index_(queue, handle);
    return tsm_cas(&tsm_wfq_cell_(&handle->tail, *i)->item, &expected, item, TSM_RELEASE,
                   TSM_RELAXED);
}

/* Ask other threads to help to enqueue item, after the try with index id failed. */
static inline void tsm_wfq_enq_ask_(tsm_wfq_handle_t *handle, void *item, uint64_t id)
{
    tsm_store(&handle->enq_item, item, TSM_RELEASE);
    tsm_store(&handle->enq_state, id << 1 | TSM_WFQ_PENDING, TSM_SEQ_CST);
}

/* Try one more cell for our request with index id. */
static inline void tsm_wfq_enq_seek_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                     tsm_wfq_place_t *place, uint64_t id)
{
    uint64_t i = tsm_wfq_index_(queue, handle);
    tsm_wfq_cell_t *cell = tsm_wfq_cell_(place, i);
    uint64_t enq = TSM_WFQ_NOBODY, state = id << 1 | TSM_WFQ_PENDING;

    if (tsm_cas(&cell->enq, &enq, tsm_wfq_name_(queue, handle, id), TSM_ACQ_REL, TSM_RELAXED) &&
        tsm_load(&cell->item, TSM_RELAXED) == NULL)
        tsm_cas(&handle->enq_state, &state, i << 1, TSM_SEQ_CST, TSM_RELAXED);
}

/* Withdraw our request with index id, for want of memory. Returns 0 if another thread has found a
 * cell for it, else 1. */
static inline int tsm_wfq_enq_withdraw_(tsm_wfq_handle_t *handle, uint64_t id)
{
    uint64_t state = id << 1 | TSM_WFQ_PENDING;

    return tsm_cas(&handle->enq_state, &state, TSM_WFQ_NOWHERE, TSM_SEQ_CST, TSM_RELAXED);
}

/* Put the item into the cell that our request has got. */
static inline void tsm_wfq_enq_finish_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, void *item)
{
    uint64_t i = tsm_load(&handle->enq_state, TSM_SEQ_CST) >> 1;

    tsm_wfq_raise_(&queue->tail, i + 1);
    tsm_store(&tsm_wfq_cell_(&handle->tail, i)->item, item, TSM_RELEASE);
}

/* Enqueue with help, after the try with index id failed. Returns 0 or ENOMEM. */
static inline int tsm_wfq_enq_slow_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, void *item,
                                    uint64_t id)
{
    tsm_wfq_place_t place = handle->tail;       /* the final cell may be before the last we try */

    tsm_wfq_enq_ask_(handle, item, id);
    do {
        if (tsm_wfq_make_room_(queue, handle))
            tsm_wfq_enq_seek_(queue, handle, &place, id);
        else if (tsm_wfq_enq_withdraw_(handle, id))
            return ENOMEM;
    } while (tsm_load(&handle->enq_state, TSM_SEQ_CST) & TSM_WFQ_PENDING);
    tsm_wfq_enq_finish_(queue, handle, item);
    return 0;
}

/* Begin a call that may take an index. Returns 0, or ENOMEM if the call has not begun. */
static inline int tsm_wfq_enq_begin_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    tsm_wfq_begin_(queue, handle, &handle->tail);
    if (tsm_wfq_make_room_(queue, handle))
        return 0;
    /* our own guard keeps segments, too */
    tsm_wfq_end_(handle);
    tsm_wfq_clean_(queue);
    tsm_wfq_begin_(queue, handle, &handle->tail);
    if (tsm_wfq_make_room_(queue, handle))
        return 0;
    tsm_wfq_end_(handle);
    return ENOMEM;
}

/* Append item, which is neither NULL nor the queue's address. Returns 0, or ENOMEM if the queue
 * cannot grow, which leaves it as it was. Never blocks. The handle's thread. */
static inline int tsm_wfq_enqueue(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, void *item)
{
    uint64_t id = 0;
    int in, rc = 0;

    assert(item != NULL && item != (void *) queue);
    if (tsm_wfq_enq_begin_(queue, handle) != 0)
        return ENOMEM;
    in = tsm_wfq_enq_fast_(queue, handle, item, &id);
    for (int n = 0; !in && n < TSM_WFQ_PATIENCE && tsm_wfq_has_room_(queue, handle); n++)
        in = tsm_wfq_enq_fast_(queue, handle, item, &id);
    if (!in)
        rc = tsm_wfq_enq_slow_(queue, handle, item, id);
    tsm_wfq_end_(handle);
    return rc;
}

/* 1 if dequeuers have taken every index that enqueuers took. head is loaded first: it only grows, so
 * a 1 was true when tail was loaded. */
static inline int tsm_wfq_is_drained_(const tsm_wfq_t *queue)
{
    uint64_t head = tsm_load(&queue->head, TSM_SEQ_CST);

    return head >= tsm_load(&queue->tail, TSM_SEQ_CST);
}

/* 1 if the queue is empty, else 0. Any thread, without a handle; out of date on return. After a write
 * of X, seq_cst, it finds every item whose enqueuer does not then read the new X. */
static inline int tsm_wfq_is_empty(const tsm_wfq_t *queue)
{
    return tsm_wfq_is_drained_(queue);
}

/* At least as many items as the queue has now. Any thread, without a handle. */
static inline uint64_t tsm_wfq_length(const tsm_wfq_t *queue)
{
    uint64_t head = tsm_load(&queue->head, TSM_SEQ_CST);
    uint64_t tail = tsm_load(&queue->tail, TSM_SEQ_CST);

    return tail > head ? tail - head : 0;
}

/* Try once. Returns 1 if *item is the result, 0 if the try with index *i failed. */
static inline int tsm_wfq_deq_fast_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, void **item,
                                    uint64_t *i)
{
    uint64_t deq = TSM_WFQ_NOBODY;
    tsm_wfq_cell_t *cell;

    *item = NULL;
    if (tsm_wfq_is_drained_(queue))
        return 1;
    *i = tsm_fetch_add(&queue->head, 1, TSM_SEQ_CST);
    cell = tsm_wfq_cell_(&handle->head, *i);
    *item = tsm_wfq_visit_(queue, handle, cell, *i);
    if (*item == NULL)
        return tsm_load(&queue->tail, TSM_SEQ_CST) <= *i;
    return tsm_cas(&cell->deq, &deq, TSM_WFQ_CLOSED, TSM_ACQ_REL, TSM_ACQUIRE);
}

/* Ask other threads to help to dequeue, after the try with index id failed. */
static inline void tsm_wfq_deq_ask_(tsm_wfq_handle_t *handle, uint64_t id)
{
    tsm_store(&handle->deq_id, id, TSM_RELEASE);
    tsm_store(&handle->deq_seg, handle->head.seg, TSM_RELEASE);
    tsm_store(&handle->deq_state, id << 2 | TSM_WFQ_PENDING, TSM_SEQ_CST);
}

/* Returns the result of our request, which is done. First the head must pass all cells that the
 * request looked at: names in `deq` do not distinguish our requests, and the next one's state must
 * not equal that of a candidate of this one, or a late helper would complete it. */
static inline void *tsm_wfq_deq_finish_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    uint64_t state = tsm_load(&handle->deq_state, TSM_SEQ_CST);
    uint64_t i = state >> 2;

    if (state & TSM_WFQ_EMPTY) {
        tsm_wfq_raise_(&queue->head, i);
        return NULL;
    }
    tsm_wfq_raise_(&queue->head, i + 1);
    return tsm_load(&tsm_wfq_cell_(&handle->head, i)->item, TSM_ACQUIRE);
}

static inline void *tsm_wfq_deq_slow_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, uint64_t id)
{
    tsm_wfq_deq_ask_(handle, id);
    tsm_wfq_hunt_(queue, handle, handle, id, handle->head.seg);
    return tsm_wfq_deq_finish_(queue, handle);
}

/* Removes and returns the oldest item, or NULL if the queue is empty. Never blocks. The handle's
 * thread. */
static inline void *tsm_wfq_dequeue(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    void *item = NULL;
    uint64_t i = 0, before;
    int done;

    if (tsm_wfq_is_drained_(queue))
        return NULL;
    tsm_wfq_begin_(queue, handle, &handle->head);
    before = handle->head.id;
    done = tsm_wfq_deq_fast_(queue, handle, &item, &i);
    for (int n = 0; !done && n < TSM_WFQ_PATIENCE; n++)
        done = tsm_wfq_deq_fast_(queue, handle, &item, &i);
    if (!done)
        item = tsm_wfq_deq_slow_(queue, handle, i);
    if (item != NULL)
        tsm_wfq_deq_help_(queue, handle);
    tsm_wfq_end_(handle);
    if (handle->head.id != before)
        tsm_wfq_clean_(queue);
    return item;
}

/*
 * Invariants: (1) A cell goes from empty to an item (its enqueuer), or from empty to spoiled (a
 *             dequeuer, or a helper of one) and maybe then to an item (the request in `enq`, if it
 *             chose this cell). No thread leaves a spoiled cell before `enq` is decided and the
 *             request there has this cell or is done elsewhere: after that the cell is final. (2)
 *             An item belongs to the first dequeuer named in its cell's `deq`. (3) One CAS of its
 *             state, which holds an index, completes a request; indexes of a handle's requests only
 *             grow, so no name in an `enq` repeats. Nor does a state, since the head passes all the
 *             candidates of a request to dequeue, also of one that found the queue empty, before
 *             its owner returns. Names in `deq` repeat, but for the same reason no later request of
 *             that handle looks at those cells. (4) Each cell below `head` has been given to a
 *             dequeuer, or visited for a request that found nothing there; an item is in only after
 *             `tail` has passed its cell. head <= tail + n.
 *             Where cells are and how long they stay: tsm_wfq_segment.h.
 * Progress:   enqueue and dequeue are wait-free apart from malloc and free. A request to enqueue
 *             gets offers of cells from dequeuers in turn, until all of them help it; threads whose
 *             dequeues have succeeded help a request to dequeue, in turn. Enqueue returns ENOMEM
 *             when the cap is reached or malloc fails, and has then changed nothing that other
 *             threads see of the queue; dequeue, attach and detach need no memory. A thread that is
 *             held inside a call keeps the segments from its guard on alive, so the other threads
 *             get ENOMEM at the cap, but are never blocked and can still dequeue. Enqueue may also
 *             return ENOMEM while another thread reclaims segments, or has just taken a segment
 *             that it will not need.
 */

#endif /* TSM_WFQ_H_INCLUDED */
