/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The user-space condition: nobody returns before its completion, nobody sleeps through it, one
 * thread at a time polls, and no waiter is touched after its owner has gone. */

#include "unit.h"
#include "unit_aborts.h"
#include "unit_perturb.h"

#include <sched.h>
#include <string.h>

#include "tsm_usc.h"

/* A network in miniature: operations are posted, and a poll completes some of them. */
typedef struct operation {
    struct operation *next;
    tsm_usc_waiter_t waiter;
    int done;                   /* plain: completing must publish it */
} operation_t;

#define OWED_MAX 3

typedef struct network {
    tsm_usc_t usc;
    pthread_mutex_t lock;
    operation_t *posted;        /* guarded by lock */
    long turns;                 /* guarded by lock */
    TSM_ATOMIC(int) polling;
    TSM_ATOMIC(long) broken;
    TSM_ATOMIC(int) left;       /* threads that still have operations to post */
    long rounds;
    int late;                   /* polls take their time */
} network_t;

static network_t network;

static void post(operation_t *op)
{
    pthread_mutex_lock(&network.lock);
    op->next = network.posted;
    network.posted = op;
    pthread_mutex_unlock(&network.lock);
}

/* Complete up to OWED_MAX operations, or all but none now and then; wake without the lock. */
static int deliver(void)
{
    tsm_usc_waiter_t *owed[OWED_MAX];
    int count = 0, found = 0;

    pthread_mutex_lock(&network.lock);
    for (long max = network.turns++ % (OWED_MAX + 1); network.posted && found < max; found++) {
        operation_t *op = network.posted;
        network.posted = op->next;
        op->done = 1;
        if (tsm_usc_complete(&op->waiter))
            owed[count++] = &op->waiter;
    }
    pthread_mutex_unlock(&network.lock);
    for (int i = 0; i < count; i++)
        tsm_usc_wake(owed[i]);
    return found;
}

static int poll_network(void *arg)
{
    int found;

    if (arg != &network || tsm_fetch_add(&network.polling, 1, TSM_RELAXED) != 0)
        tsm_fetch_add(&network.broken, 1, TSM_RELAXED);
    found = deliver();
    if (network.late)
        sched_yield();          /* others get the chance to come and sleep */
    tsm_fetch_add(&network.polling, -1, TSM_RELAXED);
    return found;
}

/* The operation is freed as soon as the wait is over. */
static void wait_for_one(void)
{
    operation_t *op = malloc(sizeof(*op));

    if (op == NULL)
        abort();
    op->done = 0;
    tsm_usc_waiter_init(&op->waiter);
    post(op);
    tsm_usc_wait(&network.usc, &op->waiter, poll_network, &network);
    if (!op->done || !tsm_usc_is_complete(&op->waiter))
        tsm_fetch_add(&network.broken, 1, TSM_RELAXED);
    memset(op, 0xa5, sizeof(*op));
    free(op);
}

static void waiting_body(int id, void *arg)
{
    (void) id;
    (void) arg;
    for (long i = 0; i < network.rounds; i++)
        wait_for_one();
    tsm_fetch_add(&network.left, -1, TSM_ACQ_REL);
}

/* Thread 0 completes beside the server. */
static void outsider_body(int id, void *arg)
{
    if (id > 0) {
        waiting_body(id, arg);
        return;
    }
    while (tsm_load(&network.left, TSM_ACQUIRE) > 0) {
        if (!deliver())
            sched_yield();
    }
}

static void network_init(int left, long rounds, int late)
{
    memset(&network, 0, sizeof(network));
    network.late = late;
    unit_perturb_one_in = late ? 20 : 0;
    assert_int_equal(tsm_usc_init(&network.usc), 0);
    assert_int_equal(pthread_mutex_init(&network.lock, NULL), 0);
    tsm_store(&network.left, left, TSM_RELAXED);
    network.rounds = rounds;
}

static void network_check(void)
{
    unit_perturb_one_in = 0;
    assert_int_equal(tsm_load(&network.broken, TSM_RELAXED), 0);
    assert_int_equal(tsm_load(&network.left, TSM_RELAXED), 0);
    assert_null(network.posted);
    assert_null(network.usc.server);
    tsm_usc_destroy(&network.usc);
    pthread_mutex_destroy(&network.lock);
}

/* At full speed, and with many interruptions. */
static void both_ways(int n, int outsiders)
{
    for (int late = 0; late < 2; late++) {
        network_init(n - outsiders, unit_scaled(late ? 20000 : 60000) / n + 1, late);
        unit_team(n, outsiders ? outsider_body : waiting_body, NULL);
        network_check();
    }
}

static void test_server_completes(void **state)
{
    (void) state;
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++)
        both_ways(unit_team_sizes[s], 0);
}

static void test_outsider_completes(void **state)
{
    (void) state;
    for (size_t s = 1; s < UNIT_TEAM_SIZES; s++)
        both_ways(unit_team_sizes[s], 1);
}

static void test_come_and_go(void **state)
{
    const int n = 16;
    const long batches = unit_scaled(150);

    (void) state;
    network_init((int) (n * batches), 3, 1);
    for (long b = 0; b < batches; b++)
        unit_team(n, waiting_body, NULL);
    network_check();
}

static int never(void *arg)
{
    tsm_fetch_add((TSM_ATOMIC(int) *) arg, 1, TSM_RELAXED);
    return 0;
}

static void test_completed_before_the_wait(void **state)
{
    tsm_usc_waiter_t waiter;
    TSM_ATOMIC(int) polls = 0;
    tsm_usc_t usc;

    (void) state;
    assert_int_equal(tsm_usc_init(&usc), 0);
    for (int i = 0; i < 3; i++) {
        tsm_usc_waiter_init(&waiter);
        assert_false(tsm_usc_is_complete(&waiter));
        tsm_usc_signal(&waiter);
        assert_true(tsm_usc_is_complete(&waiter));
        tsm_usc_wait(&usc, &waiter, never, &polls);
    }
    assert_int_equal(polls, 0);
    tsm_usc_destroy(&usc);
}

/* Waiting threads, one step at a time. A wait that must not be over can be looked at early without
 * harm: the test then only sees less. */
#define STAGED 4

typedef struct staged {
    tsm_usc_t usc;
    tsm_usc_waiter_t waiter[STAGED];
    pthread_t thread[STAGED];
    TSM_ATOMIC(int) returned[STAGED];
    TSM_ATOMIC(int) polls[STAGED];
} staged_t;

static staged_t staged;

static void *staged_main(void *arg)
{
    int i = *(int *) arg;

    tsm_usc_wait(&staged.usc, &staged.waiter[i], never, &staged.polls[i]);
    tsm_store(&staged.returned[i], 1, TSM_RELEASE);
    return NULL;
}

static int staged_count(void)
{
    int count = 0;

    pthread_mutex_lock(&staged.usc.lock.mutex);
    for (tsm_usc_waiter_t *w = staged.usc.first; w; w = w->next)
        count++;
    pthread_mutex_unlock(&staged.usc.lock.mutex);
    return count;
}

/* Start thread i, and return when it is the server or the sleeper number `sleepers`. */
static void start(int i, int sleepers)
{
    static int ids[STAGED];

    ids[i] = i;
    tsm_usc_waiter_init(&staged.waiter[i]);
    assert_int_equal(pthread_create(&staged.thread[i], NULL, staged_main, &ids[i]), 0);
    if (sleepers == 0)
        tsm_wait_until(tsm_load(&staged.polls[i], TSM_RELAXED) > 0, TSM_WAIT_POLL);
    else
        tsm_wait_until(staged_count() == sleepers, TSM_WAIT_POLL);
}

static void look_a_while(int i)
{
    for (int k = 0; k < 50; k++) {
        assert_int_equal(tsm_load(&staged.returned[i], TSM_ACQUIRE), 0);
        usleep(200);
    }
}

static void end(int i)
{
    assert_int_equal(pthread_join(staged.thread[i], NULL), 0);
    assert_int_equal(tsm_load(&staged.returned[i], TSM_ACQUIRE), 1);
}

static void stage(void)
{
    memset(&staged, 0, sizeof(staged));
    assert_int_equal(tsm_usc_init(&staged.usc), 0);
}

/* A server and three sleepers. Exactly the thread meant goes on, and the server is replaced. */
static void test_wakes_exactly_one(void **state)
{
    (void) state;
    stage();
    for (int i = 0; i < STAGED; i++)
        start(i, i);
    tsm_usc_signal(&staged.waiter[2]);
    end(2);
    assert_int_equal(staged_count(), 2);
    look_a_while(0);
    look_a_while(1);
    look_a_while(3);
    assert_int_equal(tsm_load(&staged.polls[1], TSM_RELAXED), 0);
    assert_int_equal(tsm_load(&staged.polls[3], TSM_RELAXED), 0);

    tsm_usc_signal(&staged.waiter[0]);
    end(0);
    tsm_wait_until(tsm_load(&staged.polls[1], TSM_RELAXED) > 0, TSM_WAIT_POLL);
    assert_int_equal(staged_count(), 1);
    tsm_usc_signal(&staged.waiter[3]);
    end(3);
    look_a_while(1);
    tsm_usc_signal(&staged.waiter[1]);
    end(1);
    tsm_usc_destroy(&staged.usc);
}

/* Who completes is held between its two halves: the waiter stays, sleeper or server. */
static void test_held_between_complete_and_wake(void **state)
{
    (void) state;
    stage();
    start(0, 0);
    start(1, 1);
    assert_int_equal(tsm_usc_complete(&staged.waiter[1]), 1);
    look_a_while(1);
    tsm_usc_wake(&staged.waiter[1]);
    end(1);
    start(2, 1);
    assert_int_equal(tsm_usc_complete(&staged.waiter[0]), 1);
    /* it finds a successor already */
    tsm_wait_until(tsm_load(&staged.polls[2], TSM_RELAXED) > 0, TSM_WAIT_POLL);
    look_a_while(0);
    tsm_usc_wake(&staged.waiter[0]);
    end(0);
    tsm_usc_signal(&staged.waiter[2]);
    end(2);
    tsm_usc_destroy(&staged.usc);
}

/* The election comes first and is held before its wake, the completion comes second: it must not
 * wake, and the thread, woken, goes on without serving. */
static void test_held_election(void **state)
{
    tsm_usc_waiter_t *elected = &staged.waiter[0], server;

    (void) state;
    stage();
    tsm_usc_waiter_init(&server);
    assert_int_equal(tsm_usc_join_(&staged.usc, &server), 1);
    start(0, 1);
    start(1, 2);

    tsm_mutex_acquire(&staged.usc.lock);
    tsm_usc_remove_(&staged.usc, elected);
    assert_int_equal(tsm_usc_take_(elected, TSM_USC_ELECTED), 1);
    staged.usc.server = elected;
    tsm_mutex_release(&staged.usc.lock);
    assert_int_equal(tsm_usc_complete(elected), 0);
    look_a_while(0);
    tsm_usc_wake(elected);
    end(0);
    assert_int_equal(tsm_load(&staged.polls[0], TSM_RELAXED), 0);

    tsm_wait_until(tsm_load(&staged.polls[1], TSM_RELAXED) > 0, TSM_WAIT_POLL);
    tsm_usc_signal(&staged.waiter[1]);
    end(1);
    tsm_usc_destroy(&staged.usc);
}

/* A completed sleeper that is not awake yet is passed over in the election. */
static void test_completed_sleeper_is_not_elected(void **state)
{
    (void) state;
    stage();
    for (int i = 0; i < 3; i++)
        start(i, i);
    assert_int_equal(tsm_usc_complete(&staged.waiter[1]), 1);
    tsm_usc_signal(&staged.waiter[0]);
    end(0);
    tsm_wait_until(tsm_load(&staged.polls[2], TSM_RELAXED) > 0, TSM_WAIT_POLL);
    look_a_while(1);
    tsm_usc_wake(&staged.waiter[1]);
    end(1);
    assert_int_equal(tsm_load(&staged.polls[1], TSM_RELAXED), 0);
    tsm_usc_signal(&staged.waiter[2]);
    end(2);
    tsm_usc_destroy(&staged.usc);
}

static void completed_twice(void *arg)
{
    (void) arg;
    tsm_usc_waiter_init(&staged.waiter[0]);
    tsm_usc_signal(&staged.waiter[0]);
    tsm_usc_signal(&staged.waiter[0]);
}

static void destroyed_in_use(void *arg)
{
    (void) arg;
    stage();
    tsm_usc_waiter_init(&staged.waiter[0]);
    tsm_usc_join_(&staged.usc, &staged.waiter[0]);
    tsm_usc_destroy(&staged.usc);
}

static void waiter_in_use(void *arg)
{
    (void) arg;
    stage();
    for (int i = 0; i < 2; i++) {
        tsm_usc_waiter_init(&staged.waiter[i]);
        tsm_usc_join_(&staged.usc, &staged.waiter[i]);
    }
    tsm_usc_wait(&staged.usc, &staged.waiter[1], never, &staged.polls[1]);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(completed_twice, NULL);
    unit_aborts(destroyed_in_use, NULL);
    unit_aborts(waiter_in_use, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_completed_before_the_wait),
        cmocka_unit_test(test_wakes_exactly_one),
        cmocka_unit_test(test_held_between_complete_and_wake),
        cmocka_unit_test(test_held_election),
        cmocka_unit_test(test_completed_sleeper_is_not_elected),
        cmocka_unit_test(test_server_completes),
        cmocka_unit_test(test_outsider_completes),
        cmocka_unit_test(test_come_and_go),
    };
    return cmocka_run_group_tests_name("usc", tests, NULL, NULL);
}
