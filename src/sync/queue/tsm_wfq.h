/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       a multi-producer multi-consumer FIFO queue on fetch-and-add, unbounded up to a cap
 *             that the caller sets, with reclamation. It is the fast path of the wait-free queue
 *             that it is named after; its slow path is replaced by something simpler that is
 *             lock-free.
 * Source:     Yang and Mellor-Crummey, "A Wait-free Queue as Fast as Fetch-and-Add", PPoPP 2016:
 *             a list of segments as an endless array, one fetch-and-add for each operation, cells
 *             that a dequeuer spoils for a late enqueuer, memory kept alive by what each thread
 *             publishes. From Morrison and Afek, "Fast Concurrent Queues for x86 Processors",
 *             PPoPP 2013: indexes that belong to a segment, and a full segment being followed by
 *             a new one that holds the item already. That ends the race between one enqueuer and
 *             many dequeuers, for which the first paper has its slow path.
 *             That slow path is left out: the authors' code has open reports of hangs, and of
 *             helpers that take one request of a thread for its next (chaoran/fast-wait-free-queue,
 *             issues 10, 11 and 14), and it needs segments in the middle of an operation that
 *             others help already, which a cap would have to undo.
 * Invariants: (1) A cell goes from empty to an item (its enqueuer) to taken (its dequeuer), or
 *             from empty to taken; each index of a segment is given to one enqueuer and one
 *             dequeuer. (2) A segment gets a successor only when all its indexes have been given
 *             to enqueuers, and the head leaves it only when all have been given to dequeuers.
 *             (3) Ids of segments go up by one along the list; oldest <= head <= tail. (4)
 *             head_id, the number of finished moves of the head, is not above the id of the head.
 *             A handle's guard is IDLE, or an id such that the thread touches no segment below
 *             it. (5) The cleaner frees segments below head_id and below all guards. A thread
 *             sets its guard before it loads head or tail, a cleaner loads head_id before the
 *             guards: so either the thread gets a segment that the head has not left, as far as
 *             this cleaner knows, or the cleaner sees the guard.
 * Progress:   lock-free, not wait-free: a thread goes round its loop only when another thread has
 *             got a cell or appended a segment, and a segment's worth of spoiled cells makes one
 *             enqueue succeed. With one producer, enqueue is wait-free apart from malloc: a
 *             segment's worth of steps at most, however many consumers. Enqueue answers ENOMEM
 *             when the cap is reached or malloc fails, and then has changed nothing; dequeue and
 *             detach need no memory and cannot fail so. A thread that is held inside a call keeps
 *             the segments from its guard on alive, so the others get ENOMEM at the cap, but are
 *             never blocked and still can dequeue. Reclamation runs in one thread at a time and
 *             others pass by, so ENOMEM may also come while it is under way.
 *
 *   release                               acquire
 *   enqueue: CAS of the cell, or of the   dequeue: swap of the cell, or load of head after the link
 *     link with cell 0 filled               (what the item points to)
 *   append: CAS of the link, of tail      all: loads of link, tail, head (first contents)
 *   advance: addition to head_id          begin: load of head_id (head is then at least there);
 *                                           cleaner: load of head_id (the links up to the head)
 *   end of a call: store of IDLE; clean:  cleaner: load of the guards (the thread is done with what
 *     store of a higher guard               lies below)
 *   cleaner: store of `cleaning`          cleaner: swap of `cleaning` (oldest)
 *   put in the pool: CAS of its place     get from the pool: swap of its place (all uses are over)
 *   detach: store of `used`               attach: CAS of `used`
 *   Indexes, links, head, tail, head_id and the guard at begin are seq_cst. "Empty" compares two
 *   indexes and looks at a link, the guard protocol is a store on one side and a load on the other:
 *   both need one order of all these accesses. So does `used`, for the argument at
 *   tsm_wfq_attach. Cells carry data only and have acquire and release.
 *
 * Threads:    as many at once as the queue has handles; each attaches one, and they may come and
 *             go. Any number of queues. Items are pointers, neither NULL nor the queue's address.
 *             FIFO: linearizable; so one consumer sees the items of one producer in their order.
 */

#ifndef TSM_WFQ_H_INCLUDED
#define TSM_WFQ_H_INCLUDED

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"

/* Cells of a segment. */
#ifndef TSM_WFQ_CELLS
#define TSM_WFQ_CELLS 512
#endif
_Static_assert(TSM_WFQ_CELLS > 0, "a segment holds something");

/* Where segments and handles come from. */
#ifndef TSM_WFQ_MALLOC
#define TSM_WFQ_MALLOC(bytes_) malloc(bytes_)
#define TSM_WFQ_FREE(p_) free(p_)
#endif

/* Free segments kept for the next append. */
#define TSM_WFQ_POOL 4
/* Pauses that a dequeuer grants an enqueuer before it spoils the cell. */
#define TSM_WFQ_PATIENCE 32
/* A guard that guards nothing. */
#define TSM_WFQ_IDLE UINT64_MAX

typedef struct tsm_wfq_segment {
    TSM_ATOMIC(struct tsm_wfq_segment *) next;
    uint64_t id;
    char pad0[TSM_CACHELINE];
    TSM_ATOMIC(uint64_t) enq;           /* next index for an enqueuer, may run past the end */
    char pad1[TSM_CACHELINE];
    TSM_ATOMIC(uint64_t) deq;           /* the same for dequeuers */
    char pad2[TSM_CACHELINE];
    TSM_ATOMIC(void *) cell[TSM_WFQ_CELLS];
} tsm_wfq_segment_t;

/* One thread's access to one queue; in the queue's memory. */
typedef struct tsm_wfq_handle {
    TSM_ATOMIC(uint64_t) guard;
    TSM_ATOMIC(uint32_t) used;
    char pad[TSM_CACHELINE - sizeof(uint64_t) - sizeof(uint32_t)];
} tsm_wfq_handle_t;

typedef struct tsm_wfq {
    TSM_ATOMIC(tsm_wfq_segment_t *) head;
    TSM_ATOMIC(uint64_t) head_id;
    char pad0[TSM_CACHELINE];
    TSM_ATOMIC(tsm_wfq_segment_t *) tail;
    char pad1[TSM_CACHELINE];
    TSM_ATOMIC(uint32_t) cleaning;
    tsm_wfq_segment_t *oldest;          /* the cleaner's */
    TSM_ATOMIC(size_t) segments;        /* allocated, in the list or in the pool or in a call */
    TSM_ATOMIC(tsm_wfq_segment_t *) pool[TSM_WFQ_POOL];
    size_t segments_max;
    size_t handles_max;
    tsm_wfq_handle_t *handles;
} tsm_wfq_t;

/* Take a segment from the pool or from the heap; NULL at the cap or without memory. */
static inline tsm_wfq_segment_t *tsm_wfq_get_(tsm_wfq_t *queue)
{
    tsm_wfq_segment_t *seg = NULL;

    for (int i = 0; i < TSM_WFQ_POOL && seg == NULL; i++) {
        if (tsm_load(&queue->pool[i], TSM_RELAXED) != NULL)
            seg = tsm_swap(&queue->pool[i], NULL, TSM_ACQUIRE);
    }
    if (seg != NULL)
        return seg;
    if (tsm_fetch_add(&queue->segments, 1, TSM_RELAXED) < queue->segments_max)
        seg = TSM_WFQ_MALLOC(sizeof(*seg));
    if (seg == NULL)
        tsm_fetch_add(&queue->segments, (size_t) -1, TSM_RELAXED);
    return seg;
}

/* Give a segment that nobody uses to the pool or to the heap. */
static inline void tsm_wfq_put_(tsm_wfq_t *queue, tsm_wfq_segment_t *seg)
{
    for (int i = 0; i < TSM_WFQ_POOL; i++) {
        tsm_wfq_segment_t *expected = NULL;
        if (tsm_load(&queue->pool[i], TSM_RELAXED) == NULL &&
            tsm_cas(&queue->pool[i], &expected, seg, TSM_RELEASE, TSM_RELAXED))
            return;
    }
    TSM_WFQ_FREE(seg);
    tsm_fetch_add(&queue->segments, (size_t) -1, TSM_RELAXED);
}

/* Prepare a segment that nobody else knows; with an item in cell 0 unless item is NULL. */
static inline void tsm_wfq_fill_(tsm_wfq_segment_t *seg, uint64_t id, void *item)
{
    tsm_store(&seg->next, NULL, TSM_RELAXED);
    seg->id = id;
    tsm_store(&seg->enq, item != NULL, TSM_RELAXED);
    tsm_store(&seg->deq, 0, TSM_RELAXED);
    tsm_store(&seg->cell[0], item, TSM_RELAXED);
    for (size_t i = 1; i < TSM_WFQ_CELLS; i++)
        tsm_store(&seg->cell[i], NULL, TSM_RELAXED);
}

static inline int tsm_wfq_alloc_(tsm_wfq_t *queue)
{
    if (queue->handles_max > SIZE_MAX / sizeof(tsm_wfq_handle_t))
        return ENOMEM;
    queue->handles = TSM_WFQ_MALLOC(queue->handles_max * sizeof(tsm_wfq_handle_t));
    if (queue->handles == NULL)
        return ENOMEM;
    queue->oldest = tsm_wfq_get_(queue);
    if (queue->oldest == NULL) {
        TSM_WFQ_FREE(queue->handles);
        return ENOMEM;
    }
    return 0;
}

/* Make an empty queue for up to handles_max threads at a time, at least 1, and segments_max
 * segments, at least 2, of TSM_WFQ_CELLS cells. Returns 0, EINVAL, or ENOMEM, which leaves nothing
 * to destroy. One thread, before any use. */
static inline int tsm_wfq_init(tsm_wfq_t *queue, size_t handles_max, size_t segments_max)
{
    if (handles_max < 1 || segments_max < 2)
        return EINVAL;
    queue->handles_max = handles_max;
    queue->segments_max = segments_max;
    tsm_store(&queue->segments, 0, TSM_RELAXED);
    for (int i = 0; i < TSM_WFQ_POOL; i++)
        tsm_store(&queue->pool[i], NULL, TSM_RELAXED);
    if (tsm_wfq_alloc_(queue) != 0)
        return ENOMEM;

    for (size_t i = 0; i < handles_max; i++) {
        tsm_store(&queue->handles[i].guard, TSM_WFQ_IDLE, TSM_RELAXED);
        tsm_store(&queue->handles[i].used, 0, TSM_RELAXED);
    }
    tsm_wfq_fill_(queue->oldest, 0, NULL);
    tsm_store(&queue->cleaning, 0, TSM_RELAXED);
    tsm_store(&queue->head_id, 0, TSM_RELAXED);
    tsm_store(&queue->head, queue->oldest, TSM_RELAXED);
    tsm_store(&queue->tail, queue->oldest, TSM_RELAXED);
    return 0;
}

/* Give all memory back; items still inside are forgotten. No handle may be attached. One thread,
 * synchronized with all the others. */
static inline void tsm_wfq_destroy(tsm_wfq_t *queue)
{
    tsm_wfq_segment_t *seg, *next;

    for (size_t i = 0; i < queue->handles_max; i++)
        assert(!tsm_load(&queue->handles[i].used, TSM_RELAXED) && "tsm_wfq_destroy: in use");
    for (seg = queue->oldest; seg != NULL; seg = next) {
        next = tsm_load(&seg->next, TSM_RELAXED);
        TSM_WFQ_FREE(seg);
    }
    for (int i = 0; i < TSM_WFQ_POOL; i++)
        TSM_WFQ_FREE(tsm_load(&queue->pool[i], TSM_RELAXED));
    TSM_WFQ_FREE(queue->handles);
}

/* A handle for the calling thread; NULL if handles_max are attached, and only then: whoever looks
 * at place i has found each place before it with another owner. Any thread; bounded. */
static inline tsm_wfq_handle_t *tsm_wfq_attach(tsm_wfq_t *queue)
{
    for (size_t i = 0; i < queue->handles_max; i++) {
        uint32_t expected = 0;
        if (tsm_cas(&queue->handles[i].used, &expected, 1, TSM_SEQ_CST, TSM_SEQ_CST))
            return &queue->handles[i];
    }
    return NULL;
}

/* The thread needs the handle no more. */
static inline void tsm_wfq_detach(tsm_wfq_handle_t *handle)
{
    assert(tsm_load(&handle->used, TSM_RELAXED) &&
           tsm_load(&handle->guard, TSM_RELAXED) == TSM_WFQ_IDLE && "tsm_wfq_detach: not attached");
    tsm_store(&handle->used, 0, TSM_SEQ_CST);
}

/* From here on we may touch the segments that head and tail lead to. */
static inline void tsm_wfq_begin_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    assert(tsm_load(&handle->used, TSM_RELAXED) &&
           tsm_load(&handle->guard, TSM_RELAXED) == TSM_WFQ_IDLE &&
           "tsm_wfq: the handle is not attached, or in a call of another thread");
    tsm_store(&handle->guard, tsm_load(&queue->head_id, TSM_ACQUIRE), TSM_SEQ_CST);
}

static inline void tsm_wfq_end_(tsm_wfq_handle_t *handle)
{
    tsm_store(&handle->guard, TSM_WFQ_IDLE, TSM_RELEASE);
}

/* The least id that somebody may touch, if the head is at limit. */
static inline uint64_t tsm_wfq_limit_(tsm_wfq_t *queue, uint64_t limit)
{
    for (size_t i = 0; i < queue->handles_max; i++) {
        uint64_t guard = tsm_load(&queue->handles[i].guard, TSM_SEQ_CST);
        if (guard < limit)
            limit = guard;
    }
    return limit;
}

/* Free what nobody can reach any more, unless somebody else is at it. From now on the caller
 * touches no segment before `mine`, which it has been guarding. */
static inline void tsm_wfq_clean_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                  const tsm_wfq_segment_t *mine)
{
    uint64_t limit;

    tsm_store(&handle->guard, mine->id, TSM_RELEASE);
    if (tsm_swap(&queue->cleaning, 1, TSM_ACQUIRE))
        return;
    limit = tsm_wfq_limit_(queue, tsm_load(&queue->head_id, TSM_SEQ_CST));
    while (queue->oldest->id < limit) {
        tsm_wfq_segment_t *seg = queue->oldest;
        /* whoever moved the head past seg had this link, and head_id told us of the move */
        queue->oldest = tsm_load(&seg->next, TSM_RELAXED);
        tsm_wfq_put_(queue, seg);
    }
    tsm_store(&queue->cleaning, 0, TSM_RELEASE);
}

/* A segment for the append behind tail, after a look for garbage if need be. */
static inline tsm_wfq_segment_t *tsm_wfq_get_or_clean_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                                       const tsm_wfq_segment_t *tail)
{
    tsm_wfq_segment_t *seg = tsm_wfq_get_(queue);

    if (seg == NULL) {
        tsm_wfq_clean_(queue, handle, tail);
        seg = tsm_wfq_get_(queue);
    }
    return seg;
}

/* tail is full: append a segment with item, made from *spare or a new one, and move the tail.
 * Returns 0 if item is in, EAGAIN if somebody else has appended, or ENOMEM. */
static inline int tsm_wfq_append_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                  tsm_wfq_segment_t *tail, void *item, tsm_wfq_segment_t **spare)
{
    tsm_wfq_segment_t *next = tsm_load(&tail->next, TSM_SEQ_CST);
    tsm_wfq_segment_t *expected = tail;
    int rc = EAGAIN;

    if (next == NULL) {
        if (*spare == NULL)
            *spare = tsm_wfq_get_or_clean_(queue, handle, tail);
        if (*spare == NULL)
            return tsm_load(&tail->next, TSM_SEQ_CST) == NULL ? ENOMEM : EAGAIN;
        tsm_wfq_fill_(*spare, tail->id + 1, item);
        if (tsm_cas(&tail->next, &next, *spare, TSM_SEQ_CST, TSM_SEQ_CST)) {
            next = *spare;
            *spare = NULL;
            rc = 0;
        }
    }
    tsm_cas(&queue->tail, &expected, next, TSM_SEQ_CST, TSM_RELAXED);
    return rc;
}

/* 1 if item is in, 0 if a dequeuer has spoiled the cell. */
static inline int tsm_wfq_deposit_(tsm_wfq_segment_t *seg, uint64_t index, void *item)
{
    void *expected = NULL;

    return tsm_cas(&seg->cell[index], &expected, item, TSM_RELEASE, TSM_RELAXED);
}

/* Append item, which is neither NULL nor the queue's address. Returns 0, or ENOMEM if the queue
 * cannot grow, which leaves it as it was. Never blocks. The handle's thread. */
static inline int tsm_wfq_enqueue(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, void *item)
{
    tsm_wfq_segment_t *spare = NULL;
    int rc;

    assert(item != NULL && item != (void *) queue);
    tsm_wfq_begin_(queue, handle);
    do {
        tsm_wfq_segment_t *tail = tsm_load(&queue->tail, TSM_SEQ_CST);
        uint64_t index = tsm_fetch_add(&tail->enq, 1, TSM_SEQ_CST);
        if (index >= TSM_WFQ_CELLS)
            rc = tsm_wfq_append_(queue, handle, tail, item, &spare);
        else
            rc = tsm_wfq_deposit_(tail, index, item) ? 0 : EAGAIN;
    } while (rc == EAGAIN);
    tsm_wfq_end_(handle);
    if (spare != NULL)
        tsm_wfq_put_(queue, spare);
    return rc;
}

/* Has every index of seg that an enqueuer got been given to a dequeuer, and is it the last segment?
 * deq is read first: it only grows, so that was true at the moment when enq was read. */
static inline int tsm_wfq_is_drained_(tsm_wfq_segment_t *seg)
{
    uint64_t deq = tsm_load(&seg->deq, TSM_SEQ_CST);
    uint64_t enq = tsm_load(&seg->enq, TSM_SEQ_CST);

    return deq >= enq && tsm_load(&seg->next, TSM_SEQ_CST) == NULL;
}

/* Empty the cell; NULL if it was, then it is spoiled and its enqueuer tries another one. */
static inline void *tsm_wfq_take_(tsm_wfq_t *queue, tsm_wfq_segment_t *seg, uint64_t index)
{
    for (int i = 0; i < TSM_WFQ_PATIENCE; i++) {
        if (tsm_load(&seg->cell[index], TSM_RELAXED) != NULL)
            break;
        tsm_cpu_pause();
    }
    return tsm_swap(&seg->cell[index], (void *) queue, TSM_ACQUIRE);
}

/* All indexes of head are given out: move on. Returns 0 if there is no next segment. */
static inline int tsm_wfq_advance_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                   tsm_wfq_segment_t *head)
{
    tsm_wfq_segment_t *next = tsm_load(&head->next, TSM_SEQ_CST);
    tsm_wfq_segment_t *expected = head;

    if (next == NULL)
        return 0;
    /* the tail must not stay behind the head; mostly it is far away */
    if (tsm_load(&queue->tail, TSM_SEQ_CST) == head)
        tsm_cas(&queue->tail, &expected, next, TSM_SEQ_CST, TSM_SEQ_CST);
    expected = head;
    if (tsm_cas(&queue->head, &expected, next, TSM_SEQ_CST, TSM_RELAXED)) {
        tsm_fetch_add(&queue->head_id, 1, TSM_SEQ_CST);
        tsm_wfq_clean_(queue, handle, next);
    }
    return 1;
}

/* The oldest item, or NULL if the queue is empty. Never blocks. The handle's thread. */
static inline void *tsm_wfq_dequeue(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    void *item = NULL;

    tsm_wfq_begin_(queue, handle);
    for (;;) {
        tsm_wfq_segment_t *head = tsm_load(&queue->head, TSM_SEQ_CST);
        uint64_t index;
        if (tsm_wfq_is_drained_(head))
            break;
        index = tsm_fetch_add(&head->deq, 1, TSM_SEQ_CST);
        if (index < TSM_WFQ_CELLS)
            item = tsm_wfq_take_(queue, head, index);
        else if (!tsm_wfq_advance_(queue, handle, head))
            break;
        if (item != NULL)
            break;
    }
    tsm_wfq_end_(handle);
    return item;
}

#endif /* TSM_WFQ_H_INCLUDED */
