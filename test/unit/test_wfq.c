/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The multi-producer multi-consumer queue, with small segments so that they come and go often. */

#include "unit.h"
#include "unit_perturb.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fails when no allocation is left. */
static _Atomic long allocations_left;
static void *limited_malloc(size_t bytes);

#define TSM_WFQ_MALLOC(bytes_) limited_malloc(bytes_)
#define TSM_WFQ_FREE(p_) free(p_)
#define TSM_WFQ_CELLS 8
/* With none, whoever fails once asks for help. */
static int patience;
#define PATIENCE_DEFAULT 8
#define TSM_WFQ_PATIENCE patience
#include "queue/tsm_wfq.h"

#define PLENTY (1L << 40)

static void *limited_malloc(size_t bytes)
{
    return tsm_fetch_add(&allocations_left, -1, TSM_RELAXED) > 0 ? malloc(bytes) : NULL;
}

static int setup(void **state)
{
    (void) state;
    tsm_store(&allocations_left, PLENTY, TSM_RELAXED);
    patience = PATIENCE_DEFAULT;
    return 0;
}

static int numbers[1000];

static tsm_wfq_handle_t *attached(tsm_wfq_t *queue)
{
    tsm_wfq_handle_t *handle = tsm_wfq_attach(queue);

    if (handle == NULL)
        abort();
    return handle;
}

static void enqueue_range(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, int first, int end)
{
    for (int i = first; i < end; i++)
        assert_int_equal(tsm_wfq_enqueue(queue, handle, &numbers[i]), 0);
}

static void dequeue_range(tsm_wfq_t *queue, tsm_wfq_handle_t *handle, int first, int end)
{
    for (int i = first; i < end; i++)
        assert_ptr_equal(tsm_wfq_dequeue(queue, handle), &numbers[i]);
}

/* Segments that the queue keeps behind the last index. */
static size_t reserve(const tsm_wfq_t *queue)
{
    return (size_t) (queue->margin / TSM_WFQ_CELLS);
}

static void test_order_and_empty(void **state)
{
    tsm_wfq_t queue;

    (void) state;
    assert_int_equal(tsm_wfq_init(&queue, 1, 1000), 0);
    tsm_wfq_handle_t *handle = attached(&queue);
    for (int n = 0; n <= 100; n++) {
        assert_null(tsm_wfq_dequeue(&queue, handle));
        assert_null(tsm_wfq_dequeue(&queue, handle));
        enqueue_range(&queue, handle, 0, n);
        dequeue_range(&queue, handle, 0, n);
    }
    /* never empty, through many segments */
    enqueue_range(&queue, handle, 0, 5);
    for (int i = 5; i < 1000; i++) {
        enqueue_range(&queue, handle, i, i + 1);
        dequeue_range(&queue, handle, i - 5, i - 4);
    }
    assert_true(tsm_load(&queue.segments, TSM_RELAXED) <= reserve(&queue) + 3 + TSM_WFQ_POOL);
    dequeue_range(&queue, handle, 995, 1000);
    assert_null(tsm_wfq_dequeue(&queue, handle));
    tsm_wfq_detach(handle);
    tsm_wfq_destroy(&queue);
}

static void test_items_left_behind(void **state)
{
    tsm_wfq_t queue;

    (void) state;
    assert_int_equal(tsm_wfq_init(&queue, 1, 100), 0);
    tsm_wfq_handle_t *handle = attached(&queue);
    enqueue_range(&queue, handle, 0, 60);
    dequeue_range(&queue, handle, 0, 30);
    tsm_wfq_detach(handle);
    tsm_wfq_destroy(&queue);            /* the address sanitizer looks for leaks */
}

static void test_handles(void **state)
{
    tsm_wfq_handle_t *handle[3];
    tsm_wfq_t queue;

    (void) state;
    assert_int_equal(tsm_wfq_init(&queue, 3, 2), 0);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 3; i++)
            assert_non_null(handle[i] = tsm_wfq_attach(&queue));
        assert_null(tsm_wfq_attach(&queue));
        tsm_wfq_detach(handle[round % 3]);
        assert_ptr_equal(tsm_wfq_attach(&queue), handle[round % 3]);
        for (int i = 0; i < 3; i++) {
            enqueue_range(&queue, handle[i], i, i + 1);
            dequeue_range(&queue, handle[(i + 1) % 3], i, i + 1);
        }
        for (int i = 0; i < 3; i++)
            tsm_wfq_detach(handle[i]);
    }
    tsm_wfq_destroy(&queue);
}

static void test_cap(void **state)
{
    (void) state;
    for (int cap = 2; cap < 10; cap++) {
        const int full = cap * TSM_WFQ_CELLS;
        tsm_wfq_t queue;
        assert_int_equal(tsm_wfq_init(&queue, 2, (size_t) cap), 0);
        tsm_wfq_handle_t *handle = attached(&queue);
        for (int round = 0; round < 5; round++) {
            int n = 0;
            while (tsm_wfq_enqueue(&queue, handle, &numbers[n]) == 0)
                n++;
            /* the first segment may have been used in part */
            assert_in_range(n, full - TSM_WFQ_CELLS, full);
            for (int i = 0; i < 3; i++)
                assert_int_equal(tsm_wfq_enqueue(&queue, handle, &numbers[n]), ENOMEM);
            assert_int_equal(tsm_load(&queue.segments, TSM_RELAXED),
                             (size_t) cap + reserve(&queue));
            dequeue_range(&queue, handle, 0, n);
            assert_null(tsm_wfq_dequeue(&queue, handle));
        }
        tsm_wfq_detach(handle);
        tsm_wfq_destroy(&queue);
    }
}

static void test_no_memory(void **state)
{
    tsm_wfq_t queue;

    (void) state;
    assert_int_equal(tsm_wfq_init(&queue, 0, 2), EINVAL);
    assert_int_equal(tsm_wfq_init(&queue, 1, 1), EINVAL);
    assert_int_equal(tsm_wfq_init(&queue, SIZE_MAX / 2, 2), ENOMEM);
    assert_int_equal(tsm_wfq_init(&queue, 1, 100), 0);
    const long needed = 2 + (long) reserve(&queue);     /* handles, a segment, the reserve */
    tsm_wfq_destroy(&queue);
    for (long allowed = 0; allowed < needed; allowed++) {
        tsm_store(&allocations_left, allowed, TSM_RELAXED);
        assert_int_equal(tsm_wfq_init(&queue, 1, 2), ENOMEM);
    }
    tsm_store(&allocations_left, needed + 1, TSM_RELAXED);
    assert_int_equal(tsm_wfq_init(&queue, 1, 100), 0);
    tsm_wfq_handle_t *handle = attached(&queue);
    enqueue_range(&queue, handle, 0, 2 * TSM_WFQ_CELLS);
    assert_int_equal(tsm_wfq_enqueue(&queue, handle, &numbers[0]), ENOMEM);
    dequeue_range(&queue, handle, 0, 3);
    assert_int_equal(tsm_wfq_enqueue(&queue, handle, &numbers[0]), ENOMEM);
    tsm_store(&allocations_left, 1, TSM_RELAXED);
    enqueue_range(&queue, handle, 2 * TSM_WFQ_CELLS, 3 * TSM_WFQ_CELLS);
    dequeue_range(&queue, handle, 3, 3 * TSM_WFQ_CELLS);
    assert_null(tsm_wfq_dequeue(&queue, handle));
    tsm_wfq_detach(handle);
    tsm_wfq_destroy(&queue);
}

/* A thread that is held between any two of its steps, played by hand with its own handle; so is one
 * that spoils what the held one wants. */
typedef struct staged {
    tsm_wfq_t queue;
    tsm_wfq_handle_t *held;
    tsm_wfq_handle_t *other;
    tsm_wfq_handle_t *late;
} staged_t;

static void stage(staged_t *staged, size_t cap)
{
    assert_int_equal(tsm_wfq_init(&staged->queue, 3, cap), 0);
    staged->held = attached(&staged->queue);
    staged->other = attached(&staged->queue);
    staged->late = attached(&staged->queue);
}

static void unstage(staged_t *staged)
{
    assert_null(tsm_wfq_dequeue(&staged->queue, staged->other));
    tsm_wfq_detach(staged->held);
    tsm_wfq_detach(staged->other);
    tsm_wfq_detach(staged->late);
    tsm_wfq_destroy(&staged->queue);
}

/* Between its index and its item: the others go on, and it has to try again. */
static void test_held_enqueuer(void **state)
{
    (void) state;
    for (int before = 0; before < TSM_WFQ_CELLS; before++) {
        staged_t staged;
        tsm_wfq_cell_t *cell;
        uint64_t index;

        stage(&staged, 100);
        enqueue_range(&staged.queue, staged.other, 0, before);
        assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.held), 0);
        index = tsm_wfq_index_(&staged.queue, staged.held);
        assert_int_equal(index, before);
        enqueue_range(&staged.queue, staged.other, before, 300);
        dequeue_range(&staged.queue, staged.other, 0, 300);
        assert_null(tsm_wfq_dequeue(&staged.queue, staged.other));
        /* its segment is still there, though all the others have left it */
        cell = tsm_wfq_cell_(&staged.held->tail, index);
        assert_ptr_equal(tsm_load(&cell->item, TSM_RELAXED), &staged.queue);
        assert_int_equal(tsm_wfq_enq_slow_(&staged.queue, staged.held, &numbers[0], index), 0);
        tsm_wfq_end_(staged.held);
        dequeue_range(&staged.queue, staged.other, 0, 1);
        enqueue_range(&staged.queue, staged.held, 0, 1);
        dequeue_range(&staged.queue, staged.other, 0, 1);
        unstage(&staged);
    }
}

/* The held thread asks for help to enqueue item; its cell has been spoiled. Returns its index. */
static uint64_t ask_to_enqueue(staged_t *staged, int *item)
{
    uint64_t index;

    assert_int_equal(tsm_wfq_enq_begin_(&staged->queue, staged->held), 0);
    index = tsm_wfq_index_(&staged->queue, staged->held);
    enqueue_range(&staged->queue, staged->other, 0, 1);
    dequeue_range(&staged->queue, staged->other, 0, 1);
    tsm_wfq_enq_ask_(staged->held, item, index);
    return index;
}

static int is_pending(staged_t *staged)
{
    return (tsm_load(&staged->held->enq_state, TSM_RELAXED) |
            tsm_load(&staged->held->deq_state, TSM_RELAXED)) & TSM_WFQ_PENDING;
}

/* After its request: dequeuers find cells for it, which others were late for. */
static void test_helped_enqueuer(void **state)
{
    (void) state;
    for (int withdraws = 0; withdraws < 2; withdraws++) {
        staged_t staged;
        uint64_t index;
        void *item;

        stage(&staged, 100);
        index = ask_to_enqueue(&staged, &numbers[500]);
        assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.late), 0);
        for (int i = 0; i < 3; i++)
            tsm_wfq_index_(&staged.queue, staged.late);
        enqueue_range(&staged.queue, staged.other, 1, 2);
        assert_true(is_pending(&staged));
        item = tsm_wfq_dequeue(&staged.queue, staged.other);
        assert_ptr_equal(item, &numbers[500]);
        assert_false(is_pending(&staged));
        dequeue_range(&staged.queue, staged.other, 1, 2);
        tsm_wfq_end_(staged.late);
        if (withdraws)
            assert_int_equal(tsm_wfq_enq_withdraw_(staged.held, index), 0);
        tsm_wfq_enq_finish_(&staged.queue, staged.held, &numbers[500]);
        tsm_wfq_end_(staged.held);
        enqueue_range(&staged.queue, staged.held, 0, 300);
        dequeue_range(&staged.queue, staged.held, 0, 300);
        unstage(&staged);
    }
}

/* A dequeuer whose cell goes to another request stays with its peer until that one is served, or is
 * done in another way. */
static void test_owed_help(void **state)
{
    (void) state;
    for (int done = 0; done < 2; done++) {
        staged_t staged;
        tsm_wfq_cell_t *cell[2];
        uint64_t id, i[2], asked, enq;

        stage(&staged, 100);
        id = ask_to_enqueue(&staged, &numbers[500]);
        asked = tsm_load(&staged.held->enq_state, TSM_RELAXED);
        assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.late), 0);
        for (int k = 0; k < 2; k++) {
            i[k] = tsm_wfq_index_(&staged.queue, staged.late);
            cell[k] = tsm_wfq_cell_(&staged.late->tail, i[k]);
            assert_ptr_equal(tsm_wfq_spoil_(&staged.queue, cell[k]), &staged.queue);
        }
        staged.other->enq_peer = 0;
        enq = tsm_wfq_name_(&staged.queue, staged.late, id);
        tsm_store(&cell[0]->enq, enq, TSM_RELAXED);
        assert_int_equal(tsm_wfq_offer_(&staged.queue, staged.other, cell[0], i[0]), enq);
        assert_int_equal(staged.other->enq_owed, asked);
        assert_int_equal(staged.other->enq_peer, 0);
        if (done)
            assert_int_equal(tsm_wfq_enq_withdraw_(staged.held, id), 1);
        enq = done ? TSM_WFQ_CLOSED : tsm_wfq_name_(&staged.queue, staged.held, id);
        assert_int_equal(tsm_wfq_offer_(&staged.queue, staged.other, cell[1], i[1]), enq);
        assert_int_equal(staged.other->enq_owed, 0);
        assert_int_not_equal(staged.other->enq_peer, 0);
        tsm_wfq_end_(staged.late);
        if (!done) {
            assert_ptr_equal(tsm_wfq_dequeue(&staged.queue, staged.other), &numbers[500]);
            tsm_wfq_enq_finish_(&staged.queue, staged.held, &numbers[500]);
        }
        tsm_wfq_end_(staged.held);
        unstage(&staged);
    }
}

/* Help in a cell behind the tail, which two dequeuers for one item have come to. */
static void test_helped_behind_tail(void **state)
{
    staged_t staged;
    uint64_t i = 0;
    void *item = NULL;

    (void) state;
    stage(&staged, 100);
    ask_to_enqueue(&staged, &numbers[500]);
    tsm_wfq_begin_(&staged.queue, staged.other, &staged.other->head);
    for (int n = 0; n < 3 && item == NULL; n++) {
        i = tsm_fetch_add(&staged.queue.head, 1, TSM_SEQ_CST);
        assert_true(i >= tsm_load(&staged.queue.tail, TSM_RELAXED));
        item = tsm_wfq_visit_(&staged.queue, staged.other,
                              tsm_wfq_cell_(&staged.other->head, i), i);
    }
    tsm_wfq_end_(staged.other);
    assert_ptr_equal(item, &numbers[500]);
    assert_int_equal(tsm_load(&staged.queue.tail, TSM_RELAXED), i + 1);
    tsm_wfq_enq_finish_(&staged.queue, staged.held, &numbers[500]);
    tsm_wfq_end_(staged.held);
    enqueue_range(&staged.queue, staged.held, 0, 300);
    dequeue_range(&staged.queue, staged.held, 0, 300);
    unstage(&staged);
}

/* After a request that does not fit any more: it is undone, and nobody helps it later. */
static void test_withdrawn(void **state)
{
    staged_t staged;
    uint64_t index;
    int n = 0;

    (void) state;
    stage(&staged, 2);
    assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.held), 0);
    index = tsm_wfq_index_(&staged.queue, staged.held);
    while (tsm_wfq_enqueue(&staged.queue, staged.other, &numbers[n]) == 0)
        n++;
    while (tsm_wfq_make_room_(&staged.queue, staged.held))
        index = tsm_wfq_index_(&staged.queue, staged.held);
    assert_int_equal(tsm_wfq_enq_slow_(&staged.queue, staged.held, &numbers[500], index), ENOMEM);
    tsm_wfq_end_(staged.held);
    dequeue_range(&staged.queue, staged.late, 0, n);
    assert_null(tsm_wfq_dequeue(&staged.queue, staged.late));
    for (int i = 0; i < 300; i++) {
        enqueue_range(&staged.queue, staged.held, i, i + 1);
        dequeue_range(&staged.queue, staged.late, i, i + 1);
    }
    unstage(&staged);
}

/* Between its index and its item: only that item waits for it. */
static void test_held_dequeuer(void **state)
{
    staged_t staged;
    tsm_wfq_cell_t *cell;
    uint64_t index;

    (void) state;
    stage(&staged, 100);
    enqueue_range(&staged.queue, staged.other, 0, 300);
    dequeue_range(&staged.queue, staged.other, 0, 20);
    tsm_wfq_begin_(&staged.queue, staged.held, &staged.held->head);
    index = tsm_fetch_add(&staged.queue.head, 1, TSM_SEQ_CST);
    dequeue_range(&staged.queue, staged.other, 21, 300);
    assert_null(tsm_wfq_dequeue(&staged.queue, staged.other));
    cell = tsm_wfq_cell_(&staged.held->head, index);
    assert_ptr_equal(tsm_wfq_visit_(&staged.queue, staged.held, cell, index), &numbers[20]);
    tsm_wfq_end_(staged.held);
    unstage(&staged);
}

/* After its request, with so many items behind it: who dequeues serves it; it may have moved on by
 * several segments since. */
static void test_helped_dequeuer(void **state)
{
    (void) state;
    for (int items = 1; items < 40; items += items < 6 ? 1 : 11) {
        staged_t staged;
        uint64_t index;
        int *item, got = 0;

        stage(&staged, 100);
        assert_int_equal(tsm_wfq_enq_begin_(&staged.queue, staged.late), 0);
        tsm_wfq_index_(&staged.queue, staged.late);
        enqueue_range(&staged.queue, staged.other, 0, items);
        tsm_wfq_begin_(&staged.queue, staged.held, &staged.held->head);
        index = tsm_fetch_add(&staged.queue.head, 1, TSM_SEQ_CST);
        assert_null(tsm_wfq_visit_(&staged.queue, staged.held,
                                   tsm_wfq_cell_(&staged.held->head, index), index));
        tsm_wfq_end_(staged.late);
        tsm_wfq_deq_ask_(staged.held, index);
        for (int last = -1; (item = tsm_wfq_dequeue(&staged.queue, staged.other)) != NULL; got++) {
            assert_true(item - numbers > last && item - numbers <= last + 2);
            last = (int) (item - numbers);
        }
        tsm_wfq_hunt_(&staged.queue, staged.held, staged.held, index, staged.held->head.seg);
        item = tsm_wfq_deq_finish_(&staged.queue, staged.held);
        if (item != NULL)
            assert_int_equal(got, items - 1);
        else
            assert_int_equal(got, items);
        /* the first dequeues help each peer once */
        assert_true(item != NULL || items < 3);
        tsm_wfq_end_(staged.held);
        enqueue_range(&staged.queue, staged.held, 0, 300);
        dequeue_range(&staged.queue, staged.held, 0, 300);
        unstage(&staged);
    }
}

/* Anywhere in a call: no segment from its guard on is freed, so the cap is reached; the others
 * get an answer, and can go on when it does. */
static void test_held_guard(void **state)
{
    staged_t staged;
    int n = 0;

    (void) state;
    stage(&staged, 5);
    tsm_wfq_begin_(&staged.queue, staged.held, &staged.held->head);
    while (tsm_wfq_enqueue(&staged.queue, staged.other, &numbers[n]) == 0) {
        dequeue_range(&staged.queue, staged.other, n, n + 1);
        n++;
    }
    assert_int_equal(n, 5 * TSM_WFQ_CELLS);
    assert_null(tsm_wfq_dequeue(&staged.queue, staged.other));
    tsm_wfq_end_(staged.held);
    for (int i = 0; i < 300; i++) {
        enqueue_range(&staged.queue, staged.other, i, i + 1);
        dequeue_range(&staged.queue, staged.other, i, i + 1);
    }
    unstage(&staged);
}

/* Between appending a segment and telling so; and a cleaner anywhere: the others go on. */
static void test_held_appender(void **state)
{
    staged_t staged;
    tsm_wfq_segment_t *last, *next;
    uint64_t room;

    (void) state;
    stage(&staged, 100);
    tsm_wfq_begin_(&staged.queue, staged.held, &staged.held->tail);
    last = tsm_load(&staged.queue.last, TSM_RELAXED);
    room = tsm_load(&staged.queue.room, TSM_RELAXED);
    next = tsm_wfq_get_(&staged.queue);
    tsm_wfq_fill_(next, last->id + 1);
    tsm_store(&last->next, next, TSM_SEQ_CST);
    tsm_store(&staged.queue.cleaning, 1, TSM_RELAXED);
    enqueue_range(&staged.queue, staged.other, 0, 300);
    dequeue_range(&staged.queue, staged.other, 0, 300);
    assert_false(tsm_cas(&staged.queue.room, &room, room + 1, TSM_SEQ_CST, TSM_SEQ_CST));
    assert_ptr_not_equal(tsm_load(&staged.queue.last, TSM_RELAXED), last);
    tsm_store(&staged.queue.cleaning, 0, TSM_RELAXED);
    tsm_wfq_end_(staged.held);
    for (int i = 0; i < 300; i++) {
        enqueue_range(&staged.queue, staged.held, i, i + 1);
        dequeue_range(&staged.queue, staged.held, i, i + 1);
    }
    assert_true(tsm_load(&staged.queue.segments, TSM_RELAXED) <=
                reserve(&staged.queue) + 3 + TSM_WFQ_POOL);
    unstage(&staged);
}

/* Traffic: every item is taken once, and each consumer sees each producer's in order. */
typedef struct item {
    int producer;               /* plain: enqueue must publish them */
    long number;
    TSM_ATOMIC(int) taken;
} item_t;

typedef struct traffic {
    tsm_wfq_t queue[2];
    int producers;
    long each;
    TSM_ATOMIC(long) left;
    TSM_ATOMIC(long) broken;
    item_t *item;
} traffic_t;

static traffic_t traffic;

static void broken_if(int condition)
{
    if (condition)
        tsm_fetch_add(&traffic.broken, 1, TSM_RELAXED);
}

static void produce(int id)
{
    tsm_wfq_t *queue = &traffic.queue[0];
    tsm_wfq_handle_t *handle = attached(queue);

    for (long i = 0; i < traffic.each; i++) {
        item_t *item = &traffic.item[id * traffic.each + i];
        item->producer = id;
        item->number = i;
        int rc;
        while ((rc = tsm_wfq_enqueue(queue, handle, item)) == ENOMEM)
            sched_yield();
        broken_if(rc != 0);
    }
    tsm_wfq_detach(handle);
}

static void consume(tsm_wfq_t *queue)
{
    tsm_wfq_handle_t *handle = attached(queue);
    long next[UNIT_TEAM_MAX] = { 0 };

    while (tsm_load(&traffic.left, TSM_RELAXED) > 0) {
        item_t *item = tsm_wfq_dequeue(queue, handle);
        if (item == NULL) {
            sched_yield();
            continue;
        }
        broken_if(item->number < next[item->producer]);
        next[item->producer] = item->number + 1;
        broken_if(tsm_fetch_add(&item->taken, 1, TSM_RELAXED) != 0);
        tsm_fetch_add(&traffic.left, -1, TSM_RELAXED);
    }
    tsm_wfq_detach(handle);
}

static void traffic_body(int id, void *arg)
{
    (void) arg;
    if (id < traffic.producers)
        produce(id);
    else
        consume(&traffic.queue[0]);
}

static void run_once(unit_body_t body, int n, int producers, long total, size_t cap)
{
    memset(&traffic, 0, sizeof(traffic));
    for (int q = 0; q < 2; q++)
        assert_int_equal(tsm_wfq_init(&traffic.queue[q], (size_t) n, cap), 0);
    traffic.producers = producers;
    traffic.each = unit_scaled(total) / producers + 1;
    tsm_store(&traffic.left, traffic.each * producers, TSM_RELAXED);
    traffic.item = calloc((size_t) (traffic.each * producers), sizeof(item_t));
    assert_non_null(traffic.item);
    unit_team(n, body, NULL);
    assert_int_equal(tsm_load(&traffic.broken, TSM_RELAXED), 0);
    assert_int_equal(tsm_load(&traffic.left, TSM_RELAXED), 0);
    for (long i = 0; i < traffic.each * producers; i++)
        assert_int_equal(tsm_load(&traffic.item[i].taken, TSM_RELAXED), 1);
    for (int q = 0; q < 2; q++) {
        assert_true(tsm_load(&traffic.queue[q].segments, TSM_RELAXED) <=
                    cap + reserve(&traffic.queue[q]));
        tsm_wfq_destroy(&traffic.queue[q]);
    }
    free(traffic.item);
}

/* At full speed, and with many interruptions; with patience, and always asking for help. */
static void run(unit_body_t body, int n, int producers, long total, size_t cap)
{
    run_once(body, n, producers, total, cap);
    unit_perturb_one_in = 20;
    run_once(body, n, producers, total / 8, cap);
    patience = 0;
    run_once(body, n, producers, total / 8, cap);
    unit_perturb_one_in = 5;
    run_once(body, n, producers, total / 16, cap);
    unit_perturb_one_in = 0;
    run_once(body, n, producers, total, cap);
    patience = PATIENCE_DEFAULT;
}

static void test_traffic(void **state)
{
    static const int team[][2] = {
        { 1, 1 }, { 2, 1 }, { 1, 2 }, { 4, 4 }, { 1, 63 }, { 63, 1 }, { 32, 32 }
    };

    (void) state;
    for (size_t t = 0; t < sizeof(team) / sizeof(team[0]); t++) {
        int n = team[t][0] + team[t][1];
        run(traffic_body, n, team[t][0], n < 8 ? 80000 : 40000, 1 << 20);
        run(traffic_body, n, team[t][0], n < 8 ? 40000 : 20000, 2);
        run(traffic_body, n, team[t][0], n < 8 ? 40000 : 20000, 7);
    }
}

/* Producers fill one queue, movers take everything to another one, consumers empty that. With more
 * than one mover the order is gone, so there is one. */
static void two_queues_body(int id, void *arg)
{
    (void) arg;
    if (id < traffic.producers) {
        produce(id);
    } else if (id > traffic.producers) {
        consume(&traffic.queue[1]);
    } else {
        tsm_wfq_handle_t *from = attached(&traffic.queue[0]), *to = attached(&traffic.queue[1]);
        for (long i = 0; i < traffic.producers * traffic.each;) {
            void *item = tsm_wfq_dequeue(&traffic.queue[0], from);
            while (item != NULL && tsm_wfq_enqueue(&traffic.queue[1], to, item) == ENOMEM)
                sched_yield();
            i += (item != NULL);
            if (item == NULL)
                sched_yield();
        }
        tsm_wfq_detach(from);
        tsm_wfq_detach(to);
    }
}

static void test_two_queues(void **state)
{
    (void) state;
    run(two_queues_body, 3, 1, 100000, 4);
    run(two_queues_body, 8, 4, 100000, 1000);
}

/* Every thread enqueues one and dequeues one, with a handle for just that; the queue never holds
 * more than the threads have put in, and there is always one for each. */
static void pair_body(int id, void *arg)
{
    tsm_wfq_t *queue = &traffic.queue[0];

    (void) arg;
    for (long i = 0; i < traffic.each; i++) {
        tsm_wfq_handle_t *handle = attached(queue);
        item_t *item = &traffic.item[id * traffic.each + i];
        item->producer = id;
        item->number = i;
        while (tsm_wfq_enqueue(queue, handle, item) == ENOMEM)
            sched_yield();
        tsm_wfq_detach(handle);

        handle = attached(queue);
        item = tsm_wfq_dequeue(queue, handle);
        if (item != NULL && tsm_fetch_add(&item->taken, 1, TSM_RELAXED) == 0)
            tsm_fetch_add(&traffic.left, -1, TSM_RELAXED);
        else
            broken_if(1);       /* ours is in, or as many have been taken as were in */
        tsm_wfq_detach(handle);
    }
}

static void test_pairs(void **state)
{
    (void) state;
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
        int n = unit_team_sizes[s];
        run(pair_body, n, n, n < 8 ? 200000 : 100000, 1000);
        run(pair_body, n, n, n < 8 ? 100000 : 50000, 16);
    }
}

/* Threads come and go; the queue outlives them. Each batch leaves it empty. */
static void test_come_and_go(void **state)
{
    const long batches = unit_scaled(200);
    const int n = 16;

    (void) state;
    memset(&traffic, 0, sizeof(traffic));
    traffic.each = 20;
    traffic.item = calloc((size_t) (n * traffic.each), sizeof(item_t));
    assert_non_null(traffic.item);
    assert_int_equal(tsm_wfq_init(&traffic.queue[0], (size_t) n, 20), 0);
    for (long b = 0; b < batches; b++) {
        unit_perturb_one_in = b % 4 < 2 ? 50 : 5;
        patience = b % 2 ? 0 : PATIENCE_DEFAULT;
        memset(traffic.item, 0, (size_t) (n * traffic.each) * sizeof(item_t));
        unit_team(n, pair_body, NULL);
        for (long i = 0; i < n * traffic.each; i++)
            assert_int_equal(tsm_load(&traffic.item[i].taken, TSM_RELAXED), 1);
    }
    unit_perturb_one_in = 0;
    assert_int_equal(tsm_load(&traffic.broken, TSM_RELAXED), 0);
    tsm_wfq_destroy(&traffic.queue[0]);
    free(traffic.item);
}

/* "Empty" is a lie if more items were in for sure when the call began than calls to dequeue,
 * besides our own, had begun when it ended. */
typedef struct watch {
    tsm_wfq_t queue;
    TSM_ATOMIC(long) enqueued;
    TSM_ATOMIC(long) dequeuing;
    TSM_ATOMIC(long) lies;
    TSM_ATOMIC(long) left;
    long each;
} watch_t;

#define WATCH_PRODUCERS 2

static void watch_body(int id, void *arg)
{
    watch_t *watch = arg;
    tsm_wfq_handle_t *handle = attached(&watch->queue);

    for (long i = 0; id < WATCH_PRODUCERS && i < watch->each; i++) {
        if (tsm_wfq_enqueue(&watch->queue, handle, &numbers[0]) != 0)
            tsm_fetch_add(&watch->lies, 1, TSM_RELAXED);
        tsm_fetch_add(&watch->enqueued, 1, TSM_SEQ_CST);
        if (i % 4 == 0)
            sched_yield();
    }
    for (long turn = 0; id >= WATCH_PRODUCERS && tsm_load(&watch->left, TSM_RELAXED) > 0; turn++) {
        long enqueued = tsm_load(&watch->enqueued, TSM_SEQ_CST);
        tsm_fetch_add(&watch->dequeuing, 1, TSM_SEQ_CST);
        if (tsm_wfq_dequeue(&watch->queue, handle) != NULL) {
            tsm_fetch_add(&watch->left, -1, TSM_RELAXED);
        } else if (tsm_fetch_add(&watch->dequeuing, -1, TSM_SEQ_CST) - 1 < enqueued) {
            tsm_fetch_add(&watch->lies, 1, TSM_RELAXED);
        }
        if (turn % 16 == 0)
            sched_yield();
    }
    tsm_wfq_detach(handle);
}

static void test_empty_is_true(void **state)
{
    static watch_t watch;

    (void) state;
    for (int consumers = 1; consumers <= 6; consumers++) {
        memset(&watch, 0, sizeof(watch));
        assert_int_equal(tsm_wfq_init(&watch.queue, 8, 1 << 20), 0);
        watch.each = unit_scaled(8000);
        unit_perturb_one_in = consumers % 2 ? 20 : 0;
        patience = consumers % 3 ? 0 : PATIENCE_DEFAULT;
        tsm_store(&watch.left, WATCH_PRODUCERS * watch.each, TSM_RELAXED);
        unit_team(WATCH_PRODUCERS + consumers, watch_body, &watch);
        unit_perturb_one_in = 0;
        assert_int_equal(tsm_load(&watch.lies, TSM_RELAXED), 0);
        tsm_wfq_destroy(&watch.queue);
    }
}

static void dies(void (*misuse)(void))
{
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);       /* cmocka and the sanitizers catch it */
        close(STDERR_FILENO);
        misuse();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static staged_t misused;

static void handle_in_use(void)
{
    stage(&misused, 2);
    tsm_wfq_begin_(&misused.queue, misused.held, &misused.held->head);
    tsm_wfq_enqueue(&misused.queue, misused.held, &numbers[0]);
}

static void detached_twice(void)
{
    stage(&misused, 2);
    tsm_wfq_detach(misused.held);
    tsm_wfq_detach(misused.held);
}

static void destroyed_in_use(void)
{
    stage(&misused, 2);
    tsm_wfq_destroy(&misused.queue);
}

static void no_item(void)
{
    stage(&misused, 2);
    tsm_wfq_enqueue(&misused.queue, misused.held, NULL);
}

static void test_misuse(void **state)
{
    (void) state;
    dies(handle_in_use);
    dies(detached_twice);
    dies(destroyed_in_use);
    dies(no_item);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_misuse, setup),
        cmocka_unit_test_setup(test_order_and_empty, setup),
        cmocka_unit_test_setup(test_items_left_behind, setup),
        cmocka_unit_test_setup(test_handles, setup),
        cmocka_unit_test_setup(test_cap, setup),
        cmocka_unit_test_setup(test_no_memory, setup),
        cmocka_unit_test_setup(test_held_enqueuer, setup),
        cmocka_unit_test_setup(test_helped_enqueuer, setup),
        cmocka_unit_test_setup(test_owed_help, setup),
        cmocka_unit_test_setup(test_helped_behind_tail, setup),
        cmocka_unit_test_setup(test_withdrawn, setup),
        cmocka_unit_test_setup(test_held_dequeuer, setup),
        cmocka_unit_test_setup(test_helped_dequeuer, setup),
        cmocka_unit_test_setup(test_held_guard, setup),
        cmocka_unit_test_setup(test_held_appender, setup),
        cmocka_unit_test_setup(test_traffic, setup),
        cmocka_unit_test_setup(test_two_queues, setup),
        cmocka_unit_test_setup(test_pairs, setup),
        cmocka_unit_test_setup(test_come_and_go, setup),
        cmocka_unit_test_setup(test_empty_is_true, setup),
    };
    return cmocka_run_group_tests_name("wfq", tests, NULL, NULL);
}
