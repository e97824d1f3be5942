/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The SWP queue. */

#include "unit.h"

#include <sched.h>
#include <string.h>

#include "queue/tsm_swp.h"

static void test_order_and_reuse(void **state)
{
    tsm_swp_node_t node[5];
    tsm_swp_t queue;

    (void) state;
    tsm_swp_init(&queue);
    for (int round = 0; round < 100; round++) {
        int n = 1 + round % 5;
        assert_true(tsm_swp_is_empty(&queue));
        assert_null(tsm_swp_pop(&queue));
        assert_null(tsm_swp_tail_snapshot(&queue));
        for (int i = 0; i < n; i++) {
            tsm_swp_push(&queue, &node[i]);
            assert_false(tsm_swp_is_empty(&queue));
            assert_ptr_equal(tsm_swp_tail_snapshot(&queue), &node[i]);
        }
        for (int i = 0; i < n; i++) {
            assert_false(tsm_swp_is_empty(&queue));
            assert_ptr_equal(tsm_swp_pop(&queue), &node[i]);
            memset(&node[i], 0xa5, sizeof(node[i]));    /* it is ours again */
        }
    }
    assert_true(tsm_swp_is_empty(&queue));
}

/* The queue is never empty while each popped node is pushed again at once. */
static void test_rotation(void **state)
{
    tsm_swp_node_t node[3];
    tsm_swp_t queue;

    (void) state;
    for (int n = 1; n <= 3; n++) {
        tsm_swp_init(&queue);
        for (int i = 0; i < n; i++)
            tsm_swp_push(&queue, &node[i]);
        for (int i = 0; i < 300; i++) {
            tsm_swp_node_t *popped = tsm_swp_pop(&queue);
            assert_ptr_equal(popped, &node[i % n]);
            tsm_swp_push(&queue, popped);
            assert_ptr_equal(tsm_swp_tail_snapshot(&queue), popped);
        }
    }
}

static void stuck(tsm_swp_t *queue, tsm_swp_node_t *newest)
{
    for (int i = 0; i < 3; i++) {
        assert_null(tsm_swp_pop(queue));
        assert_false(tsm_swp_is_empty(queue));
        assert_ptr_equal(tsm_swp_tail_snapshot(queue), newest);
    }
}

/* before, behind: complete nodes on either side of the one without a link. */
static void window(int before, int behind)
{
    tsm_swp_node_t node[8], *pred;
    tsm_swp_t queue;
    int n = 0, popped = 0;

    tsm_swp_init(&queue);
    for (int i = 0; i < before; i++)
        tsm_swp_push(&queue, &node[n++]);
    pred = tsm_swp_enter_(&queue, &node[n++]);
    for (int i = 0; i < behind; i++)
        tsm_swp_push(&queue, &node[n++]);
    /* pop returns all but the last of the nodes before */
    for (; popped < before - 1; popped++)
        assert_ptr_equal(tsm_swp_pop(&queue), &node[popped]);
    stuck(&queue, &node[n - 1]);

    tsm_swp_link_(pred, &node[before]);
    for (; popped < n; popped++) {
        assert_false(tsm_swp_is_empty(&queue));
        assert_ptr_equal(tsm_swp_pop(&queue), &node[popped]);
    }
    assert_null(tsm_swp_pop(&queue));
    assert_true(tsm_swp_is_empty(&queue));
}

static void test_window(void **state)
{
    (void) state;
    for (int before = 0; before < 4; before++) {
        for (int behind = 0; behind < 4; behind++)
            window(before, behind);
    }
}

/* What was pushed before the snapshot is drained, what is pushed while draining stays. */
static void test_snapshot_bounds_a_drain(void **state)
{
    tsm_swp_node_t node[6], *last, *popped;
    tsm_swp_t queue;
    int count = 0;

    (void) state;
    tsm_swp_init(&queue);
    for (int i = 0; i < 3; i++)
        tsm_swp_push(&queue, &node[i]);
    last = tsm_swp_tail_snapshot(&queue);
    do {
        tsm_swp_push(&queue, &node[3 + count]);
        popped = tsm_swp_pop(&queue);
        assert_ptr_equal(popped, &node[count++]);
    } while (popped != last);
    assert_int_equal(count, 3);
    assert_false(tsm_swp_is_empty(&queue));
}

/* Items that go round: producer -> queue -> consumer -> back to the same producer at once. */
#define ITEMS 4

typedef struct item {
    tsm_swp_node_t node;        /* first, so that a node is its item */
    TSM_ATOMIC(int) out;
    int producer;
    long number;                /* plain: the push must publish it */
} item_t;

typedef struct traffic {
    tsm_swp_t queue;
    int producers;
    long each;
    long next[UNIT_TEAM_MAX];   /* consumer's: the number expected from each producer */
    long broken;
    item_t item[UNIT_TEAM_MAX][ITEMS];
} traffic_t;

static traffic_t traffic;

static void produce(int producer)
{
    for (long i = 0; i < traffic.each; i++) {
        item_t *item = &traffic.item[producer][i % ITEMS];
        while (tsm_load(&item->out, TSM_ACQUIRE))
            sched_yield();
        tsm_store(&item->out, 1, TSM_RELAXED);
        item->producer = producer;
        item->number = i;
        tsm_swp_push(&traffic.queue, &item->node);
    }
}

static void consume(void)
{
    for (long left = traffic.producers * traffic.each; left > 0;) {
        item_t *item = (item_t *) tsm_swp_pop(&traffic.queue);
        if (item == NULL) {
            sched_yield();
            continue;
        }
        if (item->number != traffic.next[item->producer]++)
            traffic.broken++;
        tsm_store(&item->out, 0, TSM_RELEASE);
        left--;
    }
}

static void traffic_body(int id, void *arg)
{
    (void) arg;
    if (id == traffic.producers)
        consume();
    else
        produce(id);
}

static void test_traffic(void **state)
{
    (void) state;
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
        int n = unit_team_sizes[s] < UNIT_TEAM_MAX ? unit_team_sizes[s] : UNIT_TEAM_MAX - 1;
        memset(&traffic, 0, sizeof(traffic));
        tsm_swp_init(&traffic.queue);
        traffic.producers = n;
        traffic.each = unit_scaled(200000) / n;
        unit_team(n + 1, traffic_body, NULL);
        assert_int_equal(traffic.broken, 0);
        for (int p = 0; p < n; p++)
            assert_int_equal(traffic.next[p], traffic.each);
        assert_true(tsm_swp_is_empty(&traffic.queue));
    }
}

/* An observer that is neither producer nor consumer. Pushes are counted when complete, pops when
 * begun, so "empty" is wrong if more were pushed before the check than pops had begun after it. */
typedef struct watch {
    tsm_swp_t queue;
    TSM_ATOMIC(long) pushed;
    TSM_ATOMIC(long) popping;
    TSM_ATOMIC(int) done;
    long rounds;
    long lies;
    item_t item[2][ITEMS];
} watch_t;

#define WATCH_PRODUCERS 2

static void watch_produce(watch_t *watch, int id)
{
    for (long i = 0; i < watch->rounds; i++) {
        item_t *item = &watch->item[id][i % ITEMS];
        while (tsm_load(&item->out, TSM_ACQUIRE))
            sched_yield();
        tsm_store(&item->out, 1, TSM_RELAXED);
        tsm_swp_push(&watch->queue, &item->node);
        tsm_fetch_add(&watch->pushed, 1, TSM_SEQ_CST);
    }
}

static void watch_consume(watch_t *watch)
{
    long left = WATCH_PRODUCERS * watch->rounds;

    for (long turn = 0; left > 0; turn++) {
        tsm_fetch_add(&watch->popping, 1, TSM_SEQ_CST);
        item_t *item = (item_t *) tsm_swp_pop(&watch->queue);
        if (item != NULL) {
            tsm_store(&item->out, 0, TSM_RELEASE);
            left--;
        } else {
            tsm_fetch_add(&watch->popping, -1, TSM_SEQ_CST);
        }
        if (item == NULL || turn % 8 == 0)
            sched_yield();      /* let a state between two pops be seen */
    }
    tsm_store(&watch->done, 1, TSM_RELEASE);
}

static void watch_body(int id, void *arg)
{
    watch_t *watch = arg;

    if (id < WATCH_PRODUCERS) {
        watch_produce(watch, id);
    } else if (id == WATCH_PRODUCERS) {
        watch_consume(watch);
    } else {
        for (long look = 1; !tsm_load(&watch->done, TSM_ACQUIRE); look++) {
            long pushed = tsm_load(&watch->pushed, TSM_SEQ_CST);
            int empty = tsm_swp_is_empty(&watch->queue);
            if (empty && pushed > tsm_load(&watch->popping, TSM_SEQ_CST))
                watch->lies++;
            if (look % 64 == 0)
                sched_yield();  /* on a busy machine the others need the processor */
        }
    }
}

static void test_empty_is_true_for_an_observer(void **state)
{
    static watch_t watch;

    (void) state;
    memset(&watch, 0, sizeof(watch));
    tsm_swp_init(&watch.queue);
    watch.rounds = unit_scaled(40000);
    unit_team(WATCH_PRODUCERS + 2, watch_body, &watch);
    assert_int_equal(watch.lies, 0);
    assert_true(tsm_swp_is_empty(&watch.queue));
}

/* The pairing of tsm_swp.h: at least one of the two sees the other. */
typedef struct pairing {
    tsm_swp_t queue;
    tsm_swp_node_t node;
    TSM_ATOMIC(int) x;
    TSM_ATOMIC(long) arrived;
    long rounds;
    int saw_x, saw_empty;
    long missed;
} pairing_t;

static void pairing_meet(pairing_t *pairing, long target)
{
    tsm_fetch_add(&pairing->arrived, 1, TSM_ACQ_REL);
    for (int i = 0; tsm_load(&pairing->arrived, TSM_ACQUIRE) < target; i++) {
        if (i >= 1000)
            sched_yield();
    }
}

static void pairing_body(int id, void *arg)
{
    pairing_t *pairing = arg;

    for (long i = 0; i < pairing->rounds; i++) {
        pairing_meet(pairing, 4 * i + 2);
        if (id == 0) {
            tsm_swp_push(&pairing->queue, &pairing->node);
            pairing->saw_x = tsm_load(&pairing->x, TSM_SEQ_CST);
        } else {
            tsm_store(&pairing->x, 1, TSM_SEQ_CST);
            pairing->saw_empty = tsm_swp_is_empty(&pairing->queue);
        }
        pairing_meet(pairing, 4 * i + 4);
        if (id == 1) {
            if (!pairing->saw_x && pairing->saw_empty)
                pairing->missed++;
            if (tsm_swp_pop(&pairing->queue) != &pairing->node)
                pairing->missed++;
            tsm_store(&pairing->x, 0, TSM_RELAXED);
        }
    }
}

static void test_push_pairs_with_is_empty(void **state)
{
    static pairing_t pairing;

    (void) state;
    tsm_swp_init(&pairing.queue);
    pairing.rounds = unit_scaled(5000);
    unit_team(2, pairing_body, &pairing);
    assert_int_equal(pairing.missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_reuse),
        cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_snapshot_bounds_a_drain),
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_empty_is_true_for_an_observer),
        cmocka_unit_test(test_push_pairs_with_is_empty),
    };
    return cmocka_run_group_tests_name("swp", tests, NULL, NULL);
}
