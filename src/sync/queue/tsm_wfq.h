/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       a multi-producer multi-consumer FIFO queue on fetch-and-add, unbounded up to a cap
 *             that the caller sets, with reclamation. Wait-free: who fails on the fast path
 *             publishes a request, and others complete it.
 * Source:     Yang and Mellor-Crummey, "A Wait-free Queue as Fast as Fetch-and-Add", PPoPP 2016.
 *             Changed: (a) A cell names the request that may fill it by handle and index, not by
 *             its address alone: the authors' code has open reports of hangs, and of helpers that
 *             take one request of a thread for its next (chaoran/fast-wait-free-queue, issues 10,
 *             11 and 14). (b) Handles are an array and are reused; it is the ring of peers. (c)
 *             Dequeue looks for emptiness before it takes an index, so that it needs no memory,
 *             and a request finds the queue empty before it touches a cell behind the tail. (d)
 *             There is a cap, and an enqueue request can be withdrawn. (e) The cleaner follows the
 *             indexes and not the threads, and keeps off what they publish.
 * Reserve:    cells are ready for `margin` indexes behind the tail, so that only enqueuers need
 *             memory, and only before they take an index. Who got one less than margin before the
 *             end of the room takes no further one before there is room again, or before the room
 *             has grown by a stride since. The margin is for what happens meanwhile. Let n be the
 *             number of handles, and look from the last time when the tail was outside the margin.
 *             Since then each handle has taken one index freely, and one for each stride; each may
 *             have had one request that a dequeuer completed behind the tail, at most n behind it,
 *             for each of those and for one before. A stride is n(n+1), what n handles use so, and
 *             pays for itself; the rest is n(1+n) + n*n, and the head may be n further.
 * Invariants: (1) A cell goes from empty to an item (its enqueuer), or from empty to spoiled (a
 *             dequeuer, or a helper of one) and maybe then to an item (the request in `enq`, if it
 *             chose this cell). Nobody leaves a spoiled cell before `enq` is decided and the
 *             request there has this cell or is done elsewhere: after that the cell is final. (2)
 *             An item belongs to the first one in its cell's `deq`. (3) A request is done by one
 *             CAS of its state, which holds an index; indexes of a handle's requests only grow, so
 *             that no state and no name in an `enq` comes twice. Names in `deq` do, but the head
 *             passes the cell of a request before its owner returns, and so no later request of
 *             that handle looks there. (4) All cells below `head` have been given to a dequeuer,
 *             or visited for a request that found nothing there; an item is in only after `tail`
 *             has passed its cell. head <= tail + n. (5) All cells below `room` exist; `last` is
 *             never behind it. (6) No call that begins needs a segment below `floor`; `first` is
 *             not below it. A handle's guard is IDLE, or an id such that the thread touches no
 *             segment below it. A thread sets its guard before it looks at the floor, the cleaner
 *             sets the floor before it looks at the guards: so either the thread sees that its
 *             place is gone, or the cleaner sees the guard. A helper of a dequeuer lowers its
 *             guard, see tsm_wfq_clean_ and tsm_wfq_deq_help_.
 * Progress:   enqueue and dequeue are wait-free apart from malloc and free. A request to enqueue
 *             is offered cells by dequeuers in turn, until all of them help it; a request to
 *             dequeue is worked on by those whose dequeues have succeeded, in turn. Besides, a
 *             thread walks over segments that its handle has not been in since its last call, and
 *             the one that cleans over those that are garbage: bounded by their number, which is
 *             at most the cap. Making room takes at most a stride of appends, whoever does them.
 *             Enqueue answers ENOMEM when the cap is reached or malloc fails, and then has changed
 *             nothing that others see of the queue; dequeue, attach and detach need no memory. A
 *             thread that is held inside a call keeps the segments from its guard on alive, so the
 *             others get ENOMEM at the cap, but are never blocked and still can dequeue.
 *             Reclamation runs in one thread at a time and others pass by, so ENOMEM may also come
 *             while it is under way, and while another thread has just taken a segment that it
 *             will not need.
 *
 *   release                               acquire
 *   cell's item: CAS of enqueue, store    spoil, serve, finish: loads and CAS of item (what it
 *     of commit and finish                  points to)
 *   commit of the owner, then ask: store  serve: load of enq_item, then commit: load of item (not
 *     of enq_item                           spoiled any more, if enq_item is a later one)
 *   cell's enq: CAS                       visit, offer: load and CAS of enq (the request is out)
 *   cell's deq: CAS                       scan, settle: load and CAS of deq (a later look at tail
 *                                           is not older than what the taker knew: "empty")
 *   ask: store of deq_id (all earlier     help, hunt: load of deq_id
 *     requests are done), of deq_seg      help: load of deq_seg, and then of deq_id
 *   append: CAS of the link               cell_, lift: load of the link (first contents)
 *   end of a call: store of IDLE          cleaner: load of the guards (the thread is done with what
 *                                           lies below)
 *   cleaner: store of `cleaning`          cleaner: swap of `cleaning` (oldest, first)
 *   put in the pool: CAS of its place     get from the pool: swap of its place (all uses are over)
 *   detach: store of `used`               attach: CAS of `used` (the handle's own fields)
 *   head, tail, room, last, first, floor, guards that go up at begin or down for a helper, and
 *   states of requests are seq_cst. "Empty" compares two indexes, and both the guard protocols are
 *   a store on one side and a load on the other: they need one order of all these accesses. So does
 *   `used`, for the argument at tsm_wfq_attach.
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

/* Tries of the fast path after the first one in vain. */
#ifndef TSM_WFQ_PATIENCE
#define TSM_WFQ_PATIENCE 8
#endif

/* Cells that are kept ready behind the last index, and cells that must have been added before a
 * thread that found fewer takes a further index; see "Reserve" above. A model checker, whose runs
 * are short, may do with less. */
#ifndef TSM_WFQ_MARGIN
#define TSM_WFQ_MARGIN(handles_) (2 * ((handles_) + 2) * ((handles_) + 2))
#define TSM_WFQ_STRIDE(handles_) ((handles_) * ((handles_) + 1))
#endif
/* With more handles the reserve alone would be more than a machine has. */
#define TSM_WFQ_HANDLES_MAX 32768

/* Free segments kept for the next append. */
#define TSM_WFQ_POOL 4
/* Pauses that a dequeuer grants an enqueuer before it spoils the cell. */
#ifndef TSM_WFQ_PAUSES
#define TSM_WFQ_PAUSES 32
#endif
/* A guard that guards nothing. */
#define TSM_WFQ_IDLE UINT64_MAX

/* Cell: values of `enq` and `deq` besides those that name a request. */
#define TSM_WFQ_NOBODY 0        /* both: not decided yet */
#define TSM_WFQ_CLOSED 1        /* enq: no request gets the cell; deq: a fast dequeuer has it */
#define TSM_WFQ_NAMES 2         /* the least name of a request */

/* Request: the low bits of its state; above them is an index. */
#define TSM_WFQ_PENDING 1
#define TSM_WFQ_EMPTY 2         /* of a dequeue, done: there was no item */
#define TSM_WFQ_NOWHERE (UINT64_MAX << 1)       /* of an enqueue, done: withdrawn */

typedef struct tsm_wfq_cell {
    TSM_ATOMIC(void *) item;            /* NULL, the item, or the queue's address: spoiled */
    TSM_ATOMIC(uint64_t) enq;           /* the enqueue request that may fill a spoiled cell */
    TSM_ATOMIC(uint64_t) deq;           /* who has the item: the name is the handle's alone */
} tsm_wfq_cell_t;

typedef struct tsm_wfq_segment {
    TSM_ATOMIC(struct tsm_wfq_segment *) next;
    uint64_t id;                        /* its first index, divided by TSM_WFQ_CELLS */
    tsm_wfq_cell_t cell[TSM_WFQ_CELLS];
} tsm_wfq_segment_t;

/* A segment and its id, which one can ask for when the segment may be gone. */
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
    TSM_ATOMIC(uint64_t) enq_state;     /* pending, above the index got in vain; or the cell's */
    TSM_ATOMIC(void *) enq_item;
    TSM_ATOMIC(uint64_t) deq_state;     /* the index of the candidate, or of the answer */
    TSM_ATOMIC(uint64_t) deq_id;        /* the index got in vain */
    TSM_ATOMIC(tsm_wfq_segment_t *) deq_seg;    /* its segment */
    char pad1[TSM_CACHELINE];
    /* the thread's own */
    tsm_wfq_place_t head, tail;         /* not behind any index that the thread will get */
    uint64_t needs;                     /* no index before there is that much room */
    size_t enq_peer, deq_peer;          /* whom to help next */
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

/* Prepare a segment that nobody else knows. */
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

/* The first segment and the reserve behind it. Returns 0 or ENOMEM, then nothing is left. */
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

/* Cells rounded up to whole segments. */
static inline uint64_t tsm_wfq_whole_(uint64_t cells)
{
    return (cells + TSM_WFQ_CELLS - 1) / TSM_WFQ_CELLS * TSM_WFQ_CELLS;
}

/* The numbers that follow from the caller's. */
static inline void tsm_wfq_size_(tsm_wfq_t *queue, size_t handles_max, size_t segments_max)
{
    uint64_t reserve;

    queue->handles_max = handles_max;
    queue->margin = tsm_wfq_whole_(TSM_WFQ_MARGIN((uint64_t) handles_max));
    queue->stride = tsm_wfq_whole_(TSM_WFQ_STRIDE((uint64_t) handles_max));
    reserve = queue->margin / TSM_WFQ_CELLS;
    queue->segments_max = segments_max < SIZE_MAX - reserve ? segments_max + reserve : SIZE_MAX;
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

/* Give all memory back; items still inside are forgotten. No handle may be attached. One thread,
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
    /* it may be gone, but nobody needs it any more */
    tsm_store(&handle->guard, floor, TSM_SEQ_CST);
    place->seg = tsm_load(&queue->first, TSM_SEQ_CST);
    place->id = place->seg->id;
}

static inline void tsm_wfq_end_(tsm_wfq_handle_t *handle)
{
    tsm_store(&handle->guard, TSM_WFQ_IDLE, TSM_RELEASE);
}

/* The least id that somebody may touch, or limit. */
static inline uint64_t tsm_wfq_guarded_(tsm_wfq_t *queue, uint64_t limit)
{
    for (size_t i = 0; i < queue->handles_max; i++) {
        uint64_t guard = tsm_load(&queue->handles[i].guard, TSM_SEQ_CST);
        if (guard < limit)
            limit = guard;
    }
    return limit;
}

/* Move the floor to where the indexes are; the cleaner. Returns it. */
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
    /* in this order: who has seen the floor finds a first segment that is not below it */
    tsm_store(&queue->first, seg, TSM_SEQ_CST);
    tsm_store(&queue->floor, floor, TSM_SEQ_CST);
    return floor;
}

/* Free what nobody can reach any more, unless somebody else is at it. */
static inline void tsm_wfq_clean_(tsm_wfq_t *queue)
{
    uint64_t limit;

    if (tsm_swap(&queue->cleaning, 1, TSM_ACQUIRE))
        return;
    limit = tsm_wfq_lift_(queue);
    /* twice: a helper that we missed in the first round lowered its guard while the thread that
     * it helps was guarding; if that one was gone when we came to it, we meet the helper now */
    limit = tsm_wfq_guarded_(queue, limit);
    limit = tsm_wfq_guarded_(queue, limit);
    while (queue->oldest->id < limit) {
        tsm_wfq_segment_t *seg = queue->oldest;
        queue->oldest = tsm_load(&seg->next, TSM_RELAXED);
        tsm_wfq_put_(queue, seg);
    }
    tsm_store(&queue->cleaning, 0, TSM_RELEASE);
}

/* The cell with index i, which has one; place goes along. */
static inline tsm_wfq_cell_t *tsm_wfq_cell_(tsm_wfq_place_t *place, uint64_t i)
{
    const uint64_t id = i / TSM_WFQ_CELLS;

    while (place->id < id) {
        place->seg = tsm_load(&place->seg->next, TSM_ACQUIRE);
        place->id++;
    }
    return &place->seg->cell[i % TSM_WFQ_CELLS];
}

/* Move head, tail or room up to `to`; each failure brings it nearer. */
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

/* Append seg, or another thread's append comes in between: either way there is more room. Returns
 * whether seg is in the list. In a call, whose guard is below the room and so not above `last`. */
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
    /* after that: no index, and so no floor, is ever behind the segment that `last` leads to */
    tsm_wfq_raise_(&queue->room, (id + 1) * TSM_WFQ_CELLS);
    return done;
}

/* Make room for one more index, in a call. Returns 0 if that takes memory that is not there. */
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

/* An index for an enqueuer that has room. */
static inline uint64_t tsm_wfq_index_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    uint64_t i = tsm_fetch_add(&queue->tail, 1, TSM_SEQ_CST);
    uint64_t room = tsm_load(&queue->room, TSM_SEQ_CST);

    assert(i < room);
    handle->needs = i + 1 + queue->margin < room ? 0 : room + queue->stride;
    return i;
}

/* The name of the request that was made with index id, for `enq` of a cell. */
static inline uint64_t tsm_wfq_name_(tsm_wfq_t *queue, const tsm_wfq_handle_t *handle, uint64_t id)
{
    return id * queue->handles_max + (uint64_t) (handle - queue->handles) + TSM_WFQ_NAMES;
}

/* Put the item of a request that has got cell i there, if a dequeuer has spoiled it. We looked at
 * the request's state before we read its item. The owner fills the cell, too, and only then puts
 * another item there: so if ours is that one, the cell is not spoiled any more. */
static inline void tsm_wfq_commit_(tsm_wfq_t *queue, tsm_wfq_cell_t *cell, uint64_t i, void *item)
{
    tsm_wfq_raise_(&queue->tail, i + 1);        /* or a dequeuer says that nothing is there */
    if (tsm_load(&cell->item, TSM_ACQUIRE) == (void *) queue)
        tsm_store(&cell->item, item, TSM_RELEASE);
}

/* Complete the request `name` with the spoiled cell i, unless it has another one. Returns what the
 * cell will hold for ever, NULL for nothing. */
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
 * peer, and stay with it until its request is done. Returns what the cell's enq is for ever. */
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

/* What the cell holds after its enqueuer has had some time; the queue's address if it is too late
 * for that enqueuer now. */
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

/* What cell i holds for ever; NULL for nothing. A spoiled one helps an enqueuer. */
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

/* One try; 1 if item is in, 0 if a dequeuer has spoiled the cell with the index that *i now is. */
static inline int tsm_wfq_enq_fast_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, void *item,
                                    uint64_t *i)
{
    void *expected = NULL;

    *i = tsm_wfq_index_(queue, handle);
    return tsm_cas(&tsm_wfq_cell_(&handle->tail, *i)->item, &expected, item, TSM_RELEASE,
                   TSM_RELAXED);
}

/* Let others help to enqueue item; index id was got in vain. */
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

/* There is no memory for one more index: 1 if our request with index id is undone, 0 if somebody
 * has found a cell for it. */
static inline int tsm_wfq_enq_withdraw_(tsm_wfq_handle_t *handle, uint64_t id)
{
    uint64_t state = id << 1 | TSM_WFQ_PENDING;

    return tsm_cas(&handle->enq_state, &state, TSM_WFQ_NOWHERE, TSM_SEQ_CST, TSM_RELAXED);
}

/* Our request has a cell: the item is in when this returns. */
static inline void tsm_wfq_enq_finish_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, void *item)
{
    uint64_t i = tsm_load(&handle->enq_state, TSM_SEQ_CST) >> 1;

    tsm_wfq_raise_(&queue->tail, i + 1);
    tsm_store(&tsm_wfq_cell_(&handle->tail, i)->item, item, TSM_RELEASE);
}

/* Enqueue with help; index id was got in vain. Returns 0 or ENOMEM. */
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

/* Begin a call that may take an index. Returns 0, or ENOMEM, then the call has not begun. */
static inline int tsm_wfq_enq_begin_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle)
{
    tsm_wfq_begin_(queue, handle, &handle->tail);
    if (tsm_wfq_make_room_(queue, handle))
        return 0;
    /* our own guard is in the way, too */
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

/* Has every index that an enqueuer got been given to a dequeuer? head is read first: it only grows,
 * so that was true at the moment when tail was read. */
static inline int tsm_wfq_is_drained_(tsm_wfq_t *queue)
{
    uint64_t head = tsm_load(&queue->head, TSM_SEQ_CST);

    return head >= tsm_load(&queue->tail, TSM_SEQ_CST);
}

/* One try; 1 if *item is the answer, 0 if the index that *i now is was in vain. */
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

/* What one thread knows of a dequeue request that it works on. */
typedef struct tsm_wfq_hunt {
    tsm_wfq_handle_t *peer;             /* whose request */
    uint64_t id;                        /* which one */
    uint64_t prior;                     /* its state when we last began to look for a candidate */
    uint64_t state;                     /* its state when we last looked */
    uint64_t i;                         /* the last index that we have looked at */
    uint64_t found;                     /* an item that nobody had taken, or 0 */
    tsm_wfq_place_t scan, settle;
} tsm_wfq_hunt_t;

/* Look for an item that nobody has taken, until somebody has put forward one or has finished. */
static inline void tsm_wfq_hunt_scan_(tsm_wfq_t *queue, tsm_wfq_handle_t *handle,
                                      tsm_wfq_hunt_t *hunt)
{
    while (hunt->found == 0 && hunt->state == hunt->prior) {
        const uint64_t i = hunt->i + 1;
        uint64_t state = hunt->prior;
        if (tsm_load(&queue->tail, TSM_SEQ_CST) <= i) {
            /* cell i may not have memory, and may be an enqueuer's later: hands off */
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

/* All helpers try to get the candidate for the request. Returns whether it is the request's. */
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

/* Work on peer's request that was made with index id in seg until it is done. */
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

/* Let others help to dequeue; index id was got in vain. */
static inline void tsm_wfq_deq_ask_(tsm_wfq_handle_t *handle, uint64_t id)
{
    tsm_store(&handle->deq_id, id, TSM_RELEASE);
    tsm_store(&handle->deq_seg, handle->head.seg, TSM_RELEASE);
    tsm_store(&handle->deq_state, id << 2 | TSM_WFQ_PENDING, TSM_SEQ_CST);
}

/* The answer to our request, which is done. The head must have passed the cell before we make
 * another one: names in `deq` do not tell our requests apart. */
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

/* At the end of a dequeue: work on the request of the peer whose turn it is, if it has one. */
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

/* The oldest item, or NULL if the queue is empty. Never blocks. The handle's thread. */
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

#endif /* TSM_WFQ_H_INCLUDED */
