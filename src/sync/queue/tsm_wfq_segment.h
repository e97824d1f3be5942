/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The cells of tsm_wfq.h: a list of segments that grows behind the tail and is freed before the
 * head, the guards that keep a segment alive, and the room that an enqueuer needs before it takes
 * an index. The types of the queue are here, too.
 *
 * Source:     Yang and Mellor-Crummey, "A Wait-free Queue as Fast as Fetch-and-Add", PPoPP 2016.
 *             Changed: the cleaner follows the indexes and not the threads, and spares the segments
 *             that threads guard; there are a cap and a reserve.
 * Threads:    as tsm_wfq.h. A function that takes a handle is called by the handle's thread.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_WFQ_SEGMENT_H_INCLUDED
#define TSM_WFQ_SEGMENT_H_INCLUDED

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../tsm_atomic.h"

/* Cells of a segment. */
#ifndef TSM_WFQ_CELLS
#define TSM_WFQ_CELLS 512
#endif
_Static_assert(TSM_WFQ_CELLS > 0, "a segment holds something");

/* Where segments and handles come from. A name in parentheses is not expanded: where MPL traces memory
 * (--enable-g=mem), malloc is a macro that stops the compiler. */
#ifndef TSM_WFQ_MALLOC
#define TSM_WFQ_MALLOC(bytes_) (malloc) (bytes_)
#define TSM_WFQ_FREE(p_) (free) (p_)
#endif

/* Cells kept ready behind the last index, and cells that must be added before a thread that found
 * fewer takes a further index; see "Reserve" at the end. A model checker, whose runs are short, may
 * use less. */
#ifndef TSM_WFQ_MARGIN
#define TSM_WFQ_MARGIN(handles_) (2 * ((handles_) + 2) * ((handles_) + 2))
#define TSM_WFQ_STRIDE(handles_) ((handles_) * ((handles_) + 1))
#endif
/* With more handles the reserve alone would exceed the memory of a machine. */
#define TSM_WFQ_HANDLES_MAX 32768

/* Free segments kept for the next append. */
#ifndef TSM_WFQ_POOL
#define TSM_WFQ_POOL 4
#endif
/* A guard that guards nothing. */
#define TSM_WFQ_IDLE UINT64_MAX

/* Cell: values of `enq` and `deq` besides those that name a request. */
#define TSM_WFQ_NOBODY 0        /* both: not decided yet */
#define TSM_WFQ_CLOSED 1        /* enq: no request gets the cell; deq: a fast dequeuer has it */
#define TSM_WFQ_NAMES 2         /* the least name of a request */

typedef struct tsm_wfq_cell {
    TSM_ATOMIC(void *) item;            /* NULL, the item, or the queue's address: spoiled */
    TSM_ATOMIC(uint64_t) enq;           /* the enqueue request that may fill a spoiled cell */
    TSM_ATOMIC(uint64_t) deq;           /* the dequeuer of the item: names the handle only */
} tsm_wfq_cell_t;

typedef struct tsm_wfq_segment {
    TSM_ATOMIC(struct tsm_wfq_segment *) next;
    uint64_t id;                        /* its first index, divided by TSM_WFQ_CELLS */
    tsm_wfq_cell_t cell[TSM_WFQ_CELLS];
} tsm_wfq_segment_t;

/* A segment and its id, which stays valid after the segment is freed. */
typedef struct tsm_wfq_place {
    tsm_wfq_segment_t *seg;
    uint64_t id;
} tsm_wfq_place_t;

/* One thread's access to one queue; in the queue's memory. */
typedef struct tsm_wfq_handle {
    TSM_ATOMIC(uint64_t) guard;
    TSM_ATOMIC(uint32_t) used;
    char pad0[TSM_CACHELINE];
    /* requests for help */
    TSM_ATOMIC(uint64_t) enq_state;     /* pending, above the index that failed; or the cell's */
    TSM_ATOMIC(void *) enq_item;
    TSM_ATOMIC(uint64_t) deq_state;     /* the index of the candidate, or of the answer */
    TSM_ATOMIC(uint64_t) deq_id;        /* the index that failed */
    TSM_ATOMIC(tsm_wfq_segment_t *) deq_seg;    /* its segment */
    char pad1[TSM_CACHELINE];
    /* the thread's own */
    tsm_wfq_place_t head, tail;         /* not behind any index that the thread will get */
    uint64_t needs;                     /* take no index before there is this much room */
    size_t enq_peer, deq_peer;          /* the peers to help next */
    uint64_t enq_owed;                  /* state of the peer when we could not help, or 0 */
    char pad2[TSM_CACHELINE];
} tsm_wfq_handle_t;

typedef struct tsm_wfq {
    TSM_ATOMIC(uint64_t) head;          /* next index for a dequeuer */
    char pad0[TSM_CACHELINE];
    TSM_ATOMIC(uint64_t) tail;          /* next index for an enqueuer */
    char pad1[TSM_CACHELINE];
    TSM_ATOMIC(uint64_t) room;          /* below this, all indexes have cells */
    TSM_ATOMIC(uint64_t) floor;         /* no new call needs a segment below this id */
    TSM_ATOMIC(tsm_wfq_segment_t *) first;      /* the segment with at least that id */
    TSM_ATOMIC(tsm_wfq_segment_t *) last;       /* of the list, or one that was */
    uint64_t margin, stride;            /* in cells, whole segments */
    size_t handles_max;
    tsm_wfq_handle_t *handles;
    char pad2[TSM_CACHELINE];
    TSM_ATOMIC(uint32_t) cleaning;
    tsm_wfq_segment_t *oldest;          /* the cleaner's */
    TSM_ATOMIC(size_t) segments;        /* allocated, in the list or in the pool or in a call */
    size_t segments_max;                /* with the reserve */
    TSM_ATOMIC(tsm_wfq_segment_t *) pool[TSM_WFQ_POOL];
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

/* Return a segment that no thread uses to the pool or to the heap. */
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

/* Prepare a segment that no other thread knows. */
static inline void tsm_wfq_fill_(tsm_wfq_segment_t *seg, uint64_t id)
{
    tsm_store(&seg->next, NULL, TSM_RELAXED);
    seg->id = id;
    for (size_t i = 0; i < TSM_WFQ_CELLS; i++) {
        tsm_store(&seg->cell[i].item, NULL, TSM_RELAXED);
        tsm_store(&seg->cell[i].enq, TSM_WFQ_NOBODY, TSM_RELAXED);
        tsm_store(&seg->cell[i].deq, TSM_WFQ_NOBODY, TSM_RELAXED);
    }
}

/* Free the list from seg on. */
static inline void tsm_wfq_free_(tsm_wfq_segment_t *seg)
{
    while (seg != NULL) {
        tsm_wfq_segment_t *next = tsm_load(&seg->next, TSM_RELAXED);
        TSM_WFQ_FREE(seg);
        seg = next;
    }
}

/* Make the first segment and the reserve behind it. Returns 0, or ENOMEM with nothing allocated. */
static inline int tsm_wfq_lay_out_(tsm_wfq_t *queue)
{
    tsm_wfq_segment_t *last = NULL;
    const uint64_t n = queue->margin / TSM_WFQ_CELLS + 1;

    queue->oldest = NULL;
    for (uint64_t id = 0; id < n; id++) {
        tsm_wfq_segment_t *seg = tsm_wfq_get_(queue);
        if (seg == NULL) {
            tsm_wfq_free_(queue->oldest);
            return ENOMEM;
        }
        tsm_wfq_fill_(seg, id);
        if (last == NULL)
            queue->oldest = seg;
        else
            tsm_store(&last->next, seg, TSM_RELAXED);
        last = seg;
    }
    tsm_store(&queue->first, queue->oldest, TSM_RELAXED);
    tsm_store(&queue->last, last, TSM_RELAXED);
    tsm_store(&queue->room, n * TSM_WFQ_CELLS, TSM_RELAXED);
    return 0;
}

/* Cells rounded up to whole segments. */
static inline uint64_t tsm_wfq_whole_(uint64_t cells)
{
    return (cells + TSM_WFQ_CELLS - 1) / TSM_WFQ_CELLS * TSM_WFQ_CELLS;
}

/* Compute the sizes from the caller's numbers. */
static inline void tsm_wfq_size_(tsm_wfq_t *queue, size_t handles_max, size_t segments_max)
{
    uint64_t reserve;

    queue->handles_max = handles_max;
    queue->margin = tsm_wfq_whole_(TSM_WFQ_MARGIN((uint64_t) handles_max));
    queue->stride = tsm_wfq_whole_(TSM_WFQ_STRIDE((uint64_t) handles_max));
    reserve = queue->margin / TSM_WFQ_CELLS;
    queue->segments_max = segments_max < SIZE_MAX - reserve ? segments_max + reserve : SIZE_MAX;
}

/* From here on we may touch the segment of `place` and those behind it. */
static inline void tsm_wfq_begin_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                  tsm_wfq_place_t *place)
{
    uint64_t floor;

    assert(tsm_load(&handle->used, TSM_RELAXED) &&
           tsm_load(&handle->guard, TSM_RELAXED) == TSM_WFQ_IDLE &&
           "tsm_wfq: the handle is not attached, or in a call of another thread");
    tsm_store(&handle->guard, place->id, TSM_SEQ_CST);
    floor = tsm_load(&queue->floor, TSM_SEQ_CST);
    if (floor <= place->id)
        return;
    /* it may be freed, and no call needs it any more */
    tsm_store(&handle->guard, floor, TSM_SEQ_CST);
    place->seg = tsm_load(&queue->first, TSM_SEQ_CST);
    place->id = place->seg->id;
}

static inline void tsm_wfq_end_(tsm_wfq_handle_t *handle)
{
    tsm_store(&handle->guard, TSM_WFQ_IDLE, TSM_RELEASE);
}

/* Returns the least id that a thread may touch, at most limit. */
static inline uint64_t tsm_wfq_guarded_(tsm_wfq_t *queue, uint64_t limit)
{
    for (size_t i = 0; i < queue->handles_max; i++) {
        uint64_t guard = tsm_load(&queue->handles[i].guard, TSM_SEQ_CST);
        if (guard < limit)
            limit = guard;
    }
    return limit;
}

/* By the cleaner: raise the floor to the lower of head and tail. Returns it. */
static inline uint64_t tsm_wfq_lift_(tsm_wfq_t *queue)
{
    uint64_t head = tsm_load(&queue->head, TSM_SEQ_CST);
    uint64_t tail = tsm_load(&queue->tail, TSM_SEQ_CST);
    uint64_t floor = (head < tail ? head : tail) / TSM_WFQ_CELLS;
    tsm_wfq_segment_t *seg = tsm_load(&queue->first, TSM_RELAXED);

    if (seg->id == floor)
        return floor;
    while (seg->id < floor)
        seg = tsm_load(&seg->next, TSM_ACQUIRE);
    /* in this order: a thread that has seen the floor finds a first segment not below it */
    tsm_store(&queue->first, seg, TSM_SEQ_CST);
    tsm_store(&queue->floor, floor, TSM_SEQ_CST);
    return floor;
}

/* Free the segments that no thread can reach any more, unless another thread does so now. */
static inline void tsm_wfq_clean_(tsm_wfq_t *queue)
{
    uint64_t limit;

    if (tsm_swap(&queue->cleaning, 1, TSM_ACQUIRE))
        return;
    limit = tsm_wfq_lift_(queue);
    /* twice: a helper that we missed in the first round lowered its guard while the thread it helps
     * still had its own; if that guard was gone when we looked, we find the helper's now */
    limit = tsm_wfq_guarded_(queue, limit);
    limit = tsm_wfq_guarded_(queue, limit);
    while (queue->oldest->id < limit) {
        tsm_wfq_segment_t *seg = queue->oldest;
        queue->oldest = tsm_load(&seg->next, TSM_RELAXED);
        tsm_wfq_put_(queue, seg);
    }
    tsm_store(&queue->cleaning, 0, TSM_RELEASE);
}

/* Returns the cell with index i, which exists, and moves place to its segment. */
static inline tsm_wfq_cell_t *tsm_wfq_cell_(tsm_wfq_place_t *place, uint64_t i)
{
    const uint64_t id = i / TSM_WFQ_CELLS;

    while (place->id < id) {
        place->seg = tsm_load(&place->seg->next, TSM_ACQUIRE);
        place->id++;
    }
    return &place->seg->cell[i % TSM_WFQ_CELLS];
}

/* Raise head, tail or room to at least `to`. Each failure brings it nearer. */
static inline void tsm_wfq_raise_(TSM_ATOMIC(uint64_t) *index, uint64_t to)
{
    uint64_t now = tsm_load(index, TSM_SEQ_CST);

    while (now < to) {
        if (tsm_cas(index, &now, to, TSM_SEQ_CST, TSM_SEQ_CST))
            return;
    }
}

/* May the thread take one more index? */
static inline int tsm_wfq_has_room_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    uint64_t room;

    if (handle->needs == 0)
        return 1;
    room = tsm_load(&queue->room, TSM_SEQ_CST);
    return room >= handle->needs || tsm_load(&queue->tail, TSM_SEQ_CST) + queue->margin < room;
}

/* Append seg, unless another thread appends first: either way there is more room. Returns 1 if seg
 * is in the list. In a call, whose guard is below the room and so not above `last`. */
static inline int tsm_wfq_append_(tsm_wfq_t *queue, tsm_wfq_segment_t *seg)
{
    tsm_wfq_segment_t *last = tsm_load(&queue->last, TSM_SEQ_CST);
    const uint64_t id = last->id + 1;
    tsm_wfq_segment_t *next = NULL;
    int done;

    tsm_wfq_fill_(seg, id);
    done = tsm_cas(&last->next, &next, seg, TSM_SEQ_CST, TSM_SEQ_CST);
    if (done)
        next = seg;
    tsm_cas(&queue->last, &last, next, TSM_SEQ_CST, TSM_RELAXED);
    /* after that: no index, and so no floor, is ever past the segment of `last` */
    tsm_wfq_raise_(&queue->room, (id + 1) * TSM_WFQ_CELLS);
    return done;
}

/* Make room for one more index, in a call. Returns 0 if there is no memory for it. */
static inline int tsm_wfq_make_room_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    tsm_wfq_segment_t *spare = NULL;
    int ok;

    while (!(ok = tsm_wfq_has_room_(queue, handle))) {
        if (spare == NULL)
            spare = tsm_wfq_get_(queue);
        if (spare == NULL)
            break;
        if (tsm_wfq_append_(queue, spare))
            spare = NULL;
    }
    if (spare != NULL)
        tsm_wfq_put_(queue, spare);
    return ok || tsm_wfq_has_room_(queue, handle);
}

/* Returns the next index to an enqueuer that has room. */
static inline uint64_t tsm_wfq_index_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    uint64_t i = tsm_fetch_add(&queue->tail, 1, TSM_SEQ_CST);
    uint64_t room = tsm_load(&queue->room, TSM_SEQ_CST);

    assert(i < room);
    handle->needs = i + 1 + queue->margin < room ? 0 : room + queue->stride;
    return i;
}

/*
 * Reserve:    cells are ready for `margin` indexes behind the tail, so that only enqueuers need
 *             memory, and only before they take an index. A thread that got an index less than
 *             margin before the end of the room takes no further one until there is room again, or
 *             until the room has grown by a stride. The margin covers what happens meanwhile. Let n
 *             be the number of handles, and start at the last time when the tail was outside the
 *             margin. Since then each handle has taken one index freely, and one for each stride.
 *             For each of those, and for one before, it may have had one request that a dequeuer
 *             completed behind the tail, at most n behind it. A stride is n(n+1), what n handles use
 *             that way, so it pays for itself; the rest is n(1+n) + n*n, and the head may be n
 *             further.
 * Invariants: (1) All cells below `room` exist; `last` is never behind it. (2) No call that begins
 *             needs a segment below `floor`; `first` is not below it. A handle's guard is IDLE, or
 *             an id such that the thread touches no segment below it. A thread sets its guard
 *             before it loads the floor, and the cleaner sets the floor before it loads the guards:
 *             so either the thread sees that its place is gone, or the cleaner sees the guard. A
 *             helper of a dequeuer lowers its guard, see tsm_wfq_clean_ and tsm_wfq_deq_help_.
 * Progress:   wait-free apart from malloc and free. A thread walks over segments that its handle
 *             has not been in since its last call, and the cleaner over those that are garbage:
 *             bounded by their number, which is at most the cap. Making room takes at most a stride
 *             of appends by all threads. One thread at a time reclaims segments; the others go on.
 *
 *   release                               acquire
 *   append: CAS of the link               cell_, lift: load of the link (first contents)
 *   end of a call: store of IDLE          cleaner: load of the guards (the thread is done with all
 *                                           segments below)
 *   cleaner: store of `cleaning`          cleaner: swap of `cleaning` (oldest, first)
 *   put in the pool: CAS of its place     get from the pool: swap of its place (all uses are over)
 *   head, tail, room, last, first, floor, and guards that go up at begin or down for a helper are
 *   seq_cst. Both the guard protocols are a store on one side and a load on the other: they need
 *   one order of all these accesses.
 */

#endif /* TSM_WFQ_SEGMENT_H_INCLUDED */
