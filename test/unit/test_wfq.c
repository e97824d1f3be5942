/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The multi-producer multi-consumer queue: order, memory and its end, traffic between threads. */

#include "unit_aborts.h"
#include "unit_perturb.h"
#include "unit_wfq.h"

#include <sched.h>
#include <string.h>

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

/* Threads start and end; the queue outlives them. Each batch leaves it empty. */
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

/* "Empty" is wrong if more items were certainly in when the call began than other calls to dequeue had
 * begun when it ended. */
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

static tsm_wfq_t misused;

static tsm_wfq_handle_t *misuse(void)
{
    assert_int_equal(tsm_wfq_init(&misused, 3, 2), 0);
    return attached(&misused);
}

static void handle_in_use(void *arg)
{
    tsm_wfq_handle_t *handle = misuse();

    (void) arg;
    tsm_wfq_begin_(&misused, handle, &handle->head);
    tsm_wfq_enqueue(&misused, handle, &numbers[0]);
}

static void detached_twice(void *arg)
{
    tsm_wfq_handle_t *handle = misuse();

    (void) arg;
    tsm_wfq_detach(handle);
    tsm_wfq_detach(handle);
}

static void destroyed_in_use(void *arg)
{
    (void) arg;
    misuse();
    tsm_wfq_destroy(&misused);
}

static void no_item(void *arg)
{
    (void) arg;
    tsm_wfq_enqueue(&misused, misuse(), NULL);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(handle_in_use, NULL);
    unit_aborts(detached_twice, NULL);
    unit_aborts(destroyed_in_use, NULL);
    unit_aborts(no_item, NULL);
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
        cmocka_unit_test_setup(test_traffic, setup),
        cmocka_unit_test_setup(test_two_queues, setup),
        cmocka_unit_test_setup(test_pairs, setup),
        cmocka_unit_test_setup(test_come_and_go, setup),
        cmocka_unit_test_setup(test_empty_is_true, setup),
    };
    return cmocka_run_group_tests_name("wfq", tests, NULL, NULL);
}
