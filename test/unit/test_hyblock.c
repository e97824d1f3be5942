/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* HYBLOCK. */

#include "unit_aborts.h"
#include "unit_fault.h"

#include <sched.h>
#include <string.h>

#include "lock/tsm_hyblock.h"

/* Two plain counters that only mutual exclusion keeps equal. */
typedef struct guarded {
    tsm_hyblock_t lock;
    long first;
    long second;
    long broken;
} guarded_t;

/* Call with the lock held. */
static void guarded_bump(guarded_t *g)
{
    if (g->first != g->second)
        g->broken++;
    g->first++;
    if (g->first % 64 == 0)
        sched_yield();          /* yield inside the critical section, too */
    g->second++;
}

static void guarded_check(guarded_t *g, long expected)
{
    assert_int_equal(g->broken, 0);
    assert_int_equal(g->first, expected);
    assert_int_equal(g->second, expected);
    assert_null(tsm_load(&g->lock.last, TSM_RELAXED));
}

typedef struct work {
    guarded_t g;
    long rounds;
    int held;                   /* the held thread, before which atomic access; -1: none */
    long step;
} work_t;

static void work_init(work_t *work, long rounds)
{
    memset(work, 0, sizeof(*work));
    tsm_hyblock_init(&work->g.lock);
    work->rounds = rounds;
    work->held = -1;
}

static void acquire_body(int id, void *arg)
{
    tsm_hyblock_node_t node;
    work_t *work = arg;

    tsm_hyblock_node_init(&node);
    if (id == work->held)
        unit_hold_in = work->step;
    for (long i = 0; i < work->rounds; i++) {
        tsm_hyblock_acquire(&work->g.lock, &node);
        guarded_bump(&work->g);
        tsm_hyblock_release(&work->g.lock, &node);
    }
}

/* The node is new each time, and its memory is spoiled after use. */
static void mixed_body(int id, void *arg)
{
    tsm_hyblock_node_t node;
    work_t *work = arg;

    for (long i = 0; i < work->rounds; i++) {
        tsm_hyblock_node_init(&node);
        if ((id + i) % 2) {
            while (!tsm_hyblock_try(&work->g.lock, &node))
                sched_yield();
        } else {
            tsm_hyblock_acquire(&work->g.lock, &node);
        }
        guarded_bump(&work->g);
        tsm_hyblock_release(&work->g.lock, &node);
        memset(&node, 0xa5, sizeof(node));
    }
}

static void exclusion(unit_body_t body)
{
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
        int n = unit_team_sizes[s];
        work_t work;

        work_init(&work, unit_scaled(n < 8 ? 40000 : 10000) / n);
        unit_team(n, body, &work);
        guarded_check(&work.g, work.rounds * n);
    }
}

static void test_exclusion(void **state)
{
    (void) state;
    exclusion(acquire_body);
}

static void test_exclusion_with_try(void **state)
{
    (void) state;
    exclusion(mixed_body);
}

static void test_come_and_go(void **state)
{
    const long batches = unit_scaled(200);
    const int n = 16;
    work_t work;

    (void) state;
    work_init(&work, 5);
    for (long b = 0; b < batches; b++)
        unit_team(n, b % 2 ? acquire_body : mixed_body, &work);
    guarded_check(&work.g, batches * n * work.rounds);
}

static void test_held_thread(void **state)
{
    const int n = 4;

    (void) state;
    for (long step = 1; step <= 60; step++) {
        work_t work;

        work_init(&work, 20);
        work.held = 1;
        work.step = step;
        unit_team(n, acquire_body, &work);
        guarded_check(&work.g, work.rounds * n);
    }
}

static void test_try(void **state)
{
    tsm_hyblock_t lock = TSM_HYBLOCK_INITIALIZER;
    tsm_hyblock_node_t mine, other;

    (void) state;
    tsm_hyblock_node_init(&mine);
    tsm_hyblock_node_init(&other);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(tsm_hyblock_try(&lock, &mine), 1);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(tsm_hyblock_try(&lock, &other), 0);
        tsm_hyblock_release(&lock, &mine);
        tsm_hyblock_acquire(&lock, &other);
        assert_int_equal(tsm_hyblock_try(&lock, &mine), 0);
        tsm_hyblock_release(&lock, &other);
    }
}

#define WAITERS 8

/* The threads that got the lock, in order; written with the lock held. */
typedef struct record {
    tsm_hyblock_t lock;
    int order[WAITERS];
    int count;
} record_t;

typedef struct waiter {
    tsm_hyblock_node_t node;
    record_t *record;
    int id;
} waiter_t;

static void *waiter_main(void *arg)
{
    waiter_t *waiter = arg;

    tsm_hyblock_acquire(&waiter->record->lock, &waiter->node);
    waiter->record->order[waiter->record->count++] = waiter->id;
    tsm_hyblock_release(&waiter->record->lock, &waiter->node);
    return NULL;
}

static void waiter_start(waiter_t *waiter, pthread_t *thread, record_t *record, int id)
{
    tsm_hyblock_node_init(&waiter->node);
    waiter->record = record;
    waiter->id = id;
    assert_int_equal(pthread_create(thread, NULL, waiter_main, waiter), 0);
    while (tsm_load(&record->lock.last, TSM_RELAXED) != &waiter->node)
        sched_yield();
}

/* Let the waiters queue one by one behind us, then release; once they wait awake, once asleep. */
static void test_fifo(void **state)
{
    (void) state;
    for (int asleep = 0; asleep <= 1; asleep++) {
        record_t record = { .lock = TSM_HYBLOCK_INITIALIZER };
        waiter_t waiter[WAITERS];
        pthread_t thread[WAITERS];
        tsm_hyblock_node_t node;

        tsm_hyblock_node_init(&node);
        tsm_hyblock_acquire(&record.lock, &node);
        for (int i = 0; i < WAITERS; i++)
            waiter_start(&waiter[i], &thread[i], &record, i);
        if (asleep)
            unit_sleep_ms(20);
        tsm_hyblock_release(&record.lock, &node);
        for (int i = 0; i < WAITERS; i++)
            assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(record.count, WAITERS);
        for (int i = 0; i < WAITERS; i++)
            assert_int_equal(record.order[i], i);
    }
}

typedef struct releaser {
    tsm_hyblock_t *lock;
    tsm_hyblock_node_t *node;
    TSM_ATOMIC(int) released;
} releaser_t;

static void *releaser_main(void *arg)
{
    releaser_t *releaser = arg;

    tsm_hyblock_release(releaser->lock, releaser->node);
    tsm_store(&releaser->released, 1, TSM_RELEASE);
    return NULL;
}

/* A successor that is held between its swap and its message: release waits for it, nothing else. */
static void test_window(void **state)
{
    tsm_hyblock_t lock = TSM_HYBLOCK_INITIALIZER;
    tsm_hyblock_node_t holder, late;
    releaser_t releaser = { &lock, &holder, 0 };
    pthread_t thread;

    (void) state;
    tsm_hyblock_node_init(&holder);
    tsm_hyblock_node_init(&late);
    tsm_hyblock_acquire(&lock, &holder);

    late.lock = &lock;
    assert_ptr_equal(tsm_swap(&lock.last, &late, TSM_ACQ_REL), &holder);
    assert_int_equal(pthread_create(&thread, NULL, releaser_main, &releaser), 0);
    unit_sleep_ms(5);
    assert_int_equal(tsm_load(&releaser.released, TSM_ACQUIRE), 0);
    assert_true(tsm_mailbox_is_empty(&late.box));

    tsm_hyblock_tell_(&holder, &late);
    tsm_hyblock_wait_(&late);
    assert_int_equal(pthread_join(thread, NULL), 0);
    tsm_hyblock_release(&lock, &late);
    assert_null(tsm_load(&lock.last, TSM_RELAXED));
}

#define SEVERAL 8

typedef struct several {
    guarded_t g[SEVERAL];
    long rounds;
} several_t;

/* Ascending acquisition; release in an order that changes and is mostly not the reverse. */
static void several_body(int id, void *arg)
{
    static const int stride[] = { 1, 3, 5, 7 };
    tsm_hyblock_node_t node[SEVERAL];
    several_t *several = arg;

    for (int k = 0; k < SEVERAL; k++)
        tsm_hyblock_node_init(&node[k]);
    for (long i = 0; i < several->rounds; i++) {
        for (int k = 0; k < SEVERAL; k++) {
            tsm_hyblock_acquire(&several->g[k].lock, &node[k]);
            guarded_bump(&several->g[k]);
        }
        for (int k = 0; k < SEVERAL; k++) {
            long j = (id + i + k * stride[i % 4]) % SEVERAL;
            tsm_hyblock_release(&several->g[j].lock, &node[j]);
        }
    }
}

static void test_several_held(void **state)
{
    static several_t several;
    const int n = 3;

    (void) state;
    memset(&several, 0, sizeof(several));
    several.rounds = unit_scaled(2000);
    unit_team(n, several_body, &several);
    for (int k = 0; k < SEVERAL; k++)
        guarded_check(&several.g[k], several.rounds * n);
}

typedef struct misuse {
    tsm_hyblock_t lock, other;
    tsm_hyblock_node_t node;
} misuse_t;

static void release_free(void *arg)
{
    misuse_t *misuse = arg;

    tsm_hyblock_release(&misuse->lock, &misuse->node);
}

static void release_other(void *arg)
{
    misuse_t *misuse = arg;

    tsm_hyblock_acquire(&misuse->lock, &misuse->node);
    tsm_hyblock_release(&misuse->other, &misuse->node);
}

static void acquire_twice(void *arg)
{
    misuse_t *misuse = arg;

    tsm_hyblock_acquire(&misuse->lock, &misuse->node);
    tsm_hyblock_acquire(&misuse->other, &misuse->node);
}

static void try_twice(void *arg)
{
    misuse_t *misuse = arg;

    tsm_hyblock_acquire(&misuse->lock, &misuse->node);
    tsm_hyblock_try(&misuse->other, &misuse->node);
}

static void test_misuse(void **state)
{
    misuse_t misuse;

    (void) state;
    tsm_hyblock_init(&misuse.lock);
    tsm_hyblock_init(&misuse.other);
    tsm_hyblock_node_init(&misuse.node);
    unit_aborts(release_free, &misuse);
    unit_aborts(release_other, &misuse);
    unit_aborts(acquire_twice, &misuse);
    unit_aborts(try_twice, &misuse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_fifo),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_several_held),
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_exclusion_with_try),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_held_thread),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("hyblock", tests, NULL, NULL);
}
