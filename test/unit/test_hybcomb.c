/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* HYBCOMB. */

#include "unit_aborts.h"
#include "unit_fault.h"

#include <sched.h>
#include <string.h>

#include "combine/tsm_hybcomb.h"

/* Two plain counters that only mutual exclusion keeps equal, and marks of the numbers given out. */
typedef struct work {
    tsm_hybcomb_t comb;
    tsm_hybcomb_member_t member[UNIT_TEAM_MAX];
    long first, second, broken;
    TSM_ATOMIC(long) wrong;             /* seen by a caller */
    uint32_t max_ops;
    long rounds;
    int held;                           /* the held thread, before which atomic access; -1: none */
    long step;
    unsigned char *given;
} work_t;

static work_t work;

static _Thread_local long ran_here;     /* operations that this thread has executed */

typedef struct request {
    long number;                        /* plain: the operation writes it, the caller reads it */
} request_t;

static uint64_t bump(void *arg)
{
    request_t *request = arg;

    ran_here++;
    if (work.first != work.second)
        work.broken++;
    request->number = work.first++;
    if (work.first % 64 == 0)
        sched_yield();                  /* yield inside an operation, too */
    work.second++;
    return ~(uint64_t) request->number;
}

static void work_init(uint32_t members, uint32_t max_ops, long rounds)
{
    free(work.given);
    memset(&work, 0, sizeof(work));
    tsm_hybcomb_init(&work.comb, work.member, members, max_ops);
    work.max_ops = max_ops;
    work.rounds = rounds;
    work.held = -1;
}

static void work_check(long expected)
{
    assert_int_equal(work.broken, 0);
    assert_int_equal(tsm_load(&work.wrong, TSM_RELAXED), 0);
    assert_int_equal(work.first, expected);
    assert_int_equal(work.second, expected);
    assert_int_equal(tsm_ids_taken(&work.comb.ids, 0), 0);
}

static void wrong_if(int condition)
{
    if (condition)
        tsm_fetch_add(&work.wrong, 1, TSM_RELAXED);
}

/* Each number is given out once, and in a growing order to each thread; no thread combines more than
 * its bound. */
static void apply_body(int id, void *arg)
{
    tsm_hybcomb_member_t *member = tsm_hybcomb_register(&work.comb);
    long last = -1;

    (void) arg;
    if (id == work.held)
        unit_hold_in = work.step;
    for (long i = 0; i < work.rounds; i++) {
        request_t request = { -1 };
        ran_here = 0;
        uint64_t result = tsm_hybcomb_apply(&work.comb, member, bump, &request);
        wrong_if(result != ~(uint64_t) request.number || request.number <= last);
        wrong_if(ran_here > (long) work.max_ops + 1);
        last = request.number;
        if (work.given != NULL)
            work.given[last]++;
    }
    tsm_hybcomb_unregister(&work.comb, member);
}

static void team(int n, uint32_t max_ops, long rounds)
{
    work_init((uint32_t) n, max_ops, rounds);
    work.given = calloc((size_t) (n * rounds), 1);
    assert_non_null(work.given);
    unit_team(n, apply_body, NULL);
    work_check(n * rounds);
    for (long i = 0; i < n * rounds; i++)
        assert_int_equal(work.given[i], 1);
}

static void test_no_loss_no_double(void **state)
{
    static const uint32_t max_ops[] = { 1, 3, TSM_HYBCOMB_MAX_OPS };

    (void) state;
    for (size_t m = 0; m < 3; m++) {
        for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
            int n = unit_team_sizes[s];
            team(n, max_ops[m], unit_scaled(n < 8 ? 30000 : 8000) / n);
        }
    }
}

static void test_come_and_go(void **state)
{
    const long batches = unit_scaled(150);
    const int n = 16;

    (void) state;
    work_init((uint32_t) n, 3, 5);
    for (long b = 0; b < batches; b++)
        unit_team(n, apply_body, NULL);
    work_check(batches * n * work.rounds);
}

static void test_held_thread(void **state)
{
    const int n = 4;

    (void) state;
    for (uint32_t max_ops = 1; max_ops <= 8; max_ops += 7) {
        for (long step = 1; step <= 50; step++) {
            work_init((uint32_t) n, max_ops, 20);
            work.held = 1;
            work.step = step;
            unit_team(n, apply_body, NULL);
            work_check(n * work.rounds);
        }
    }
}

/* A thread that does what the test sets. */
typedef struct actor {
    pthread_t thread;
    tsm_hybcomb_member_t *member;
    tsm_delegate_fn_t fn;
    request_t request;
    TSM_ATOMIC(int) done;
} actor_t;

static TSM_ATOMIC(int) inside, let_go;

/* An operation that lasts until the test ends it. */
static uint64_t stay(void *arg)
{
    tsm_store(&inside, 1, TSM_RELEASE);
    while (!tsm_load(&let_go, TSM_ACQUIRE))
        sched_yield();
    return bump(arg);
}

static void *actor_main(void *arg)
{
    actor_t *actor = arg;

    actor->member = tsm_hybcomb_register(&work.comb);
    tsm_hybcomb_apply(&work.comb, actor->member, actor->fn, &actor->request);
    tsm_store(&actor->done, 1, TSM_RELEASE);
    tsm_hybcomb_unregister(&work.comb, actor->member);
    return NULL;
}

static void actor_start(actor_t *actor, tsm_delegate_fn_t fn)
{
    memset(actor, 0, sizeof(*actor));
    actor->fn = fn;
    assert_int_equal(pthread_create(&actor->thread, NULL, actor_main, actor), 0);
}

static void actors_join(actor_t *actor, int n)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_join(actor[i].thread, NULL), 0);
}

/* Wait until a combiner is inside its operation. */
static void actor_stays(actor_t *actor)
{
    tsm_store(&inside, 0, TSM_RELAXED);
    tsm_store(&let_go, 0, TSM_RELAXED);
    actor_start(actor, stay);
    while (!tsm_load(&inside, TSM_ACQUIRE))
        sched_yield();
}

/* Held between its place and its message: the combiner waits for it, and only for it. */
static void test_place_without_message(void **state)
{
    tsm_hybcomb_member_t *mine;
    request_t request = { -1 };
    actor_t actor;

    (void) state;
    work_init(4, 8, 1);
    mine = tsm_hybcomb_register(&work.comb);
    actor_stays(&actor);
    tsm_hybcomb_node_t *last = tsm_load(&work.comb.last, TSM_RELAXED);
    assert_int_equal(tsm_hybcomb_place_(&work.comb, last), 1);
    tsm_store(&let_go, 1, TSM_RELEASE);
    unit_sleep_ms(5);
    assert_int_equal(tsm_load(&actor.done, TSM_ACQUIRE), 0);
    assert_int_equal(tsm_hybcomb_ask_(last, mine, bump, &request), ~(uint64_t) 1);
    actors_join(&actor, 1);
    tsm_hybcomb_unregister(&work.comb, mine);
    work_check(2);
}

/* Held between registration and its turn: it gets operations meanwhile and executes them. */
static void test_registered_early(void **state)
{
    tsm_hybcomb_member_t *mine;
    tsm_hybcomb_node_t *node, *prev;
    actor_t actor[3];

    (void) state;
    work_init(4, 8, 1);
    mine = tsm_hybcomb_register(&work.comb);
    node = mine->node;
    prev = tsm_hybcomb_open_(&work.comb, mine);
    for (int i = 0; i < 3; i++)
        actor_start(&actor[i], bump);
    while (tsm_load(&node->n_ops, TSM_RELAXED) < 3)
        sched_yield();
    assert_int_equal(tsm_load(&prev->done, TSM_ACQUIRE), TSM_HYBCOMB_DONE);
    tsm_hybcomb_combine(&work.comb, mine);
    mine->node = prev;
    tsm_wake_word(&node->done, TSM_HYBCOMB_DONE, TSM_HYBCOMB_PARKED);
    actors_join(actor, 3);
    tsm_hybcomb_unregister(&work.comb, mine);
    work_check(3);
}

typedef struct late {
    tsm_hybcomb_node_t *node;
    tsm_hybcomb_member_t *member;
    request_t request;
    uint64_t result;
} late_t;

static void *late_main(void *arg)
{
    late_t *late = arg;

    late->result = tsm_hybcomb_ask_(late->node, late->member, bump, &late->request);
    return NULL;
}

/* A thread read `last` long ago. Another member has that node now and is opening it, but has not
 * registered: the thread gets a place there and is served. */
static void test_place_before_registration(void **state)
{
    tsm_hybcomb_member_t *member[2];
    request_t request = { -1 };
    tsm_hybcomb_node_t *prev;
    pthread_t thread;
    late_t late;

    (void) state;
    work_init(3, 8, 1);
    late.member = tsm_hybcomb_register(&work.comb);
    for (int i = 0; i < 2; i++)
        member[i] = tsm_hybcomb_register(&work.comb);
    tsm_hybcomb_apply(&work.comb, member[0], bump, &request);
    late.node = tsm_load(&work.comb.last, TSM_RELAXED);
    tsm_hybcomb_apply(&work.comb, member[1], bump, &request);
    assert_ptr_equal(member[1]->node, late.node);
    assert_int_equal(tsm_hybcomb_place_(&work.comb, late.node), 0);

    /* tsm_hybcomb_open_, step by step */
    tsm_store(&late.node->done, TSM_HYBCOMB_WAITING, TSM_RELAXED);
    late.node->owner = member[1];
    tsm_store(&late.node->n_ops, 0, TSM_RELEASE);
    assert_int_equal(tsm_hybcomb_place_(&work.comb, late.node), 1);
    assert_int_equal(pthread_create(&thread, NULL, late_main, &late), 0);
    prev = tsm_swap(&work.comb.last, late.node, TSM_ACQ_REL);
    assert_int_equal(tsm_load(&prev->done, TSM_ACQUIRE), TSM_HYBCOMB_DONE);
    tsm_hybcomb_combine(&work.comb, member[1]);
    member[1]->node = prev;
    tsm_wake_word(&late.node->done, TSM_HYBCOMB_DONE, TSM_HYBCOMB_PARKED);

    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(late.result, ~(uint64_t) 2);
    for (int i = 0; i < 2; i++)
        tsm_hybcomb_unregister(&work.comb, member[i]);
    tsm_hybcomb_unregister(&work.comb, late.member);
    work_check(3);
}

/* While a combiner is stuck and others wait, a member leaves and another one gets its id. */
static void test_leaving_while_others_wait(void **state)
{
    tsm_hybcomb_member_t *leaver;
    actor_t actor[4];

    (void) state;
    for (uint32_t max_ops = 1; max_ops <= 8; max_ops += 7) {
        work_init(6, max_ops, 1);
        leaver = tsm_hybcomb_register(&work.comb);
        tsm_hybcomb_apply(&work.comb, leaver, bump, &actor[0].request);
        actor_stays(&actor[0]);
        for (int i = 1; i < 3; i++)
            actor_start(&actor[i], bump);
        tsm_hybcomb_unregister(&work.comb, leaver);
        actor_start(&actor[3], bump);
        unit_sleep_ms(2);
        tsm_store(&let_go, 1, TSM_RELEASE);
        actors_join(actor, 4);
        work_check(5);
    }
}

/* More operations at once than the combiner's mailbox has room for. */
static void test_full_mailbox(void **state)
{
    enum { N = 3 * TSM_HYBCOMB_SLOTS };
    static actor_t actor[N];

    (void) state;
    work_init(N, N, 1);
    actor_stays(&actor[0]);
    tsm_hybcomb_node_t *last = tsm_load(&work.comb.last, TSM_RELAXED);
    for (int i = 1; i < N; i++)
        actor_start(&actor[i], bump);
    while (tsm_load(&last->n_ops, TSM_RELAXED) < N - 1)
        sched_yield();
    tsm_store(&let_go, 1, TSM_RELEASE);
    actors_join(actor, N);
    work_check(N);
}

static void too_many(void *arg)
{
    (void) arg;
    for (int i = 0; i < 5; i++)
        tsm_hybcomb_register(&work.comb);
}

static uint64_t nested(void *arg)
{
    return tsm_hybcomb_apply(&work.comb, arg, nested, arg);
}

static void apply_nested(void *arg)
{
    tsm_hybcomb_member_t *member = tsm_hybcomb_register(&work.comb);

    (void) arg;
    tsm_hybcomb_apply(&work.comb, member, nested, member);
}

static void unregister_twice(void *arg)
{
    tsm_hybcomb_member_t *member = tsm_hybcomb_register(&work.comb);

    (void) arg;
    tsm_hybcomb_unregister(&work.comb, member);
    tsm_hybcomb_unregister(&work.comb, member);
}

static uint64_t leave(void *arg)
{
    tsm_hybcomb_unregister(&work.comb, arg);
    return 0;
}

static void unregister_inside(void *arg)
{
    tsm_hybcomb_member_t *member = tsm_hybcomb_register(&work.comb);

    (void) arg;
    tsm_hybcomb_apply(&work.comb, member, leave, member);
}

static void no_ops(void *arg)
{
    (void) arg;
    tsm_hybcomb_init(&work.comb, work.member, 4, 0);
}

static void no_members(void *arg)
{
    (void) arg;
    tsm_hybcomb_init(&work.comb, work.member, 0, 4);
}

static void test_misuse(void **state)
{
    (void) state;
    work_init(4, 8, 1);
    unit_aborts(too_many, NULL);
    unit_aborts(apply_nested, NULL);
    unit_aborts(unregister_twice, NULL);
    unit_aborts(unregister_inside, NULL);
    unit_aborts(no_ops, NULL);
    unit_aborts(no_members, NULL);
}

/* All ids of a set that does not fill its last word, and again after they were given back. */
static void test_ids(void **state)
{
    tsm_ids_t ids;

    (void) state;
    tsm_ids_init(&ids, 100);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 100; i++)
            assert_int_equal(tsm_ids_take(&ids), i);
        assert_int_equal(tsm_ids_take(&ids), -1);
        tsm_ids_give(&ids, 70);
        assert_int_equal(tsm_ids_take(&ids), 70);
        assert_int_equal(tsm_ids_take(&ids), -1);
        for (uint32_t i = 0; i < 100; i++)
            tsm_ids_give(&ids, i);
        assert_int_equal(tsm_ids_taken(&ids, 0) | tsm_ids_taken(&ids, 1), 0);
    }
    tsm_ids_init(&ids, TSM_IDS_MAX);
    for (int i = 0; i < TSM_IDS_MAX; i++)
        assert_int_equal(tsm_ids_take(&ids), i);
    assert_int_equal(tsm_ids_take(&ids), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_place_without_message),
        cmocka_unit_test(test_registered_early),
        cmocka_unit_test(test_place_before_registration),
        cmocka_unit_test(test_leaving_while_others_wait),
        cmocka_unit_test(test_full_mailbox),
        cmocka_unit_test(test_no_loss_no_double),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_held_thread),
        cmocka_unit_test(test_misuse),
    };
    int failed = cmocka_run_group_tests_name("hybcomb", tests, NULL, NULL);

    free(work.given);
    return failed;
}
