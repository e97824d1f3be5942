/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* SHM-SERVER. */

#include "unit_aborts.h"
#include "unit_fault.h"

#include <sched.h>
#include <string.h>

#include "combine/tsm_shm_server.h"

/* Plain counters that only the server touches while it runs. */
typedef struct work {
    tsm_shm_server_t server;
    tsm_shm_client_t client[UNIT_TEAM_MAX];
    long first, second, broken;
    TSM_ATOMIC(long) wrong;             /* seen by a caller */
    long rounds;
    uint64_t served;
    int note, seen;                     /* plain: written before the stop, read after the run */
    int held;                           /* the held thread, before which atomic access; -1: none */
    long step;
    unsigned char *given;
} work_t;

#define SERVER UNIT_TEAM_MAX            /* as `held` */

static work_t work;

/* Writes nothing that its caller reads, so it may be answered by streaming stores. */
static uint64_t bump(void *arg)
{
    tsm_shm_server_assert_mine(&work.server);
    if (work.first != work.second)
        work.broken++;
    uint64_t result = (uint64_t) work.first++ + *(const uint64_t *) arg;
    if (work.first % 64 == 0)
        sched_yield();                  /* yield inside an operation, too */
    work.second++;
    return result;
}

/* Writes to its caller's memory: for ordinary answers only. */
static uint64_t bump_there(void *arg)
{
    uint64_t *place = arg;

    *place = bump(place);
    return *place;
}

static void work_init(uint32_t clients, uint32_t backoff, int streaming, long rounds)
{
    free(work.given);
    memset(&work, 0, sizeof(work));
    tsm_shm_server_init(&work.server, work.client, clients, backoff, streaming);
    work.rounds = rounds;
    work.held = -1;
}

static void work_check(long expected)
{
    assert_int_equal(work.broken, 0);
    assert_int_equal(tsm_load(&work.wrong, TSM_RELAXED), 0);
    assert_int_equal(work.first, expected);
    assert_int_equal(work.second, expected);
    assert_int_equal(work.served, expected);
    assert_int_equal(tsm_ids_taken(&work.server.ids, 0), 0);
}

static void *server_main(void *arg)
{
    (void) arg;
    if (work.held == SERVER)
        unit_hold_in = work.step;
    work.served += tsm_shm_server_run(&work.server);
    work.seen = work.note;
    return NULL;
}

static pthread_t server_start(void)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, server_main, NULL), 0);
    return thread;
}

static void server_join(pthread_t thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* The argument is changed as soon as the answer is there: the server must have read it. */
static void client_body(int id, void *arg)
{
    tsm_shm_client_t *client = tsm_shm_server_register(&work.server);
    uint64_t next = 0;

    (void) arg;
    if (id == work.held)
        unit_hold_in = work.step;
    for (long i = 0; i < work.rounds; i++) {
        int there = !work.server.streaming && i % 2;
        uint64_t offset = (uint64_t) (1000 * i), sum = offset;
        uint64_t result = tsm_shm_server_call(&work.server, client, there ? bump_there : bump,
                                              &sum);
        if (sum != (there ? result : offset) || result < offset || result - offset < next)
            tsm_fetch_add(&work.wrong, 1, TSM_RELAXED);
        next = result - offset + 1;
        if (work.given != NULL)
            work.given[next - 1]++;
    }
    tsm_shm_server_unregister(&work.server, client);
}

static void team(int n)
{
    pthread_t server = server_start();

    unit_team(n, client_body, NULL);
    tsm_shm_server_stop(&work.server);
    server_join(server);
    work_check(n * work.rounds);
}

static void test_no_loss_no_double(void **state)
{
    static const uint32_t backoff[] = { 0, 50 };

    (void) state;
    for (int m = 0; m < 4; m++) {
        for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
            int n = unit_team_sizes[s];
            long rounds = unit_scaled(n < 8 ? 10000 : 2000) / n;
            work_init((uint32_t) n, backoff[m % 2], m / 2, rounds);
            work.given = calloc((size_t) (n * rounds), 1);
            assert_non_null(work.given);
            team(n);
            for (long i = 0; i < n * rounds; i++)
                assert_int_equal(work.given[i], 1);
        }
    }
}

static void test_come_and_go(void **state)
{
    const long batches = unit_scaled(100);
    const int n = 16;

    (void) state;
    for (int streaming = 0; streaming <= 1; streaming++) {
        work_init((uint32_t) n, 10, streaming, 5);
        pthread_t server = server_start();
        for (long b = 0; b < batches; b++)
            unit_team(n, client_body, NULL);
        tsm_shm_server_stop(&work.server);
        server_join(server);
        work_check(batches * n * work.rounds);
    }
}

static void test_held_thread(void **state)
{
    static const int who[] = { 0, SERVER };
    const int n = 3;

    (void) state;
    for (int w = 0; w < 2; w++) {
        for (long step = 1; step <= 50; step++) {
            work_init((uint32_t) n, 10, step % 2, 20);
            work.held = who[w];
            work.step = step;
            team(n);
        }
    }
}

/* Each stop ends one run, so there are as many runs as stops. */
static void *stopper_main(void *arg)
{
    (void) arg;
    for (long i = 0; i <= work.rounds; i++)
        server_join(server_start());
    return NULL;
}

static void stops_body(int id, void *arg)
{
    if (id > 0) {
        client_body(id, arg);
    } else {
        for (long i = 0; i < work.rounds; i++) {
            tsm_shm_server_stop(&work.server);
            sched_yield();
        }
    }
}

/* The server is stopped all the time and started again by a new thread: calls are only delayed. */
static void test_stop_and_start(void **state)
{
    const int n = 4;
    pthread_t stopper;

    (void) state;
    for (int streaming = 0; streaming <= 1; streaming++) {
        work_init((uint32_t) n, 10, streaming, unit_scaled(400));
        assert_int_equal(pthread_create(&stopper, NULL, stopper_main, NULL), 0);
        unit_team(n, stops_body, NULL);
        tsm_shm_server_stop(&work.server);
        server_join(stopper);
        work_check((n - 1) * work.rounds);
    }
}

/* Three servers take turns until the clients have finished. They pass the turn by relaxed accesses
 * only, so the role must order what the servers share. */
static TSM_ATOMIC(long) whose_turn, finished;

static void turns_body(int id, void *arg)
{
    if (id >= 3) {
        client_body(id, arg);
        tsm_fetch_add(&finished, 1, TSM_RELAXED);
        return;
    }
    for (long i = id;; i += 3) {
        long now;
        while ((now = tsm_load(&whose_turn, TSM_RELAXED)) != i) {
            if (now < 0)
                return;
            sched_yield();
        }
        tsm_shm_server_poll(&work.server);
        tsm_store(&whose_turn, tsm_load(&finished, TSM_RELAXED) == 2 ? -1 : i + 1, TSM_RELAXED);
    }
}

static void test_servers_take_turns(void **state)
{
    (void) state;
    for (int streaming = 0; streaming <= 1; streaming++) {
        work_init(2, 10, streaming, unit_scaled(2000));
        tsm_store(&whose_turn, 0, TSM_RELAXED);
        tsm_store(&finished, 0, TSM_RELAXED);
        unit_team(5, turns_body, NULL);
        work.served = (uint64_t) work.first;
        work_check(2 * work.rounds);
    }
}

/* The server sees what happened before a stop when its run ends. */
static void test_stop_is_a_message(void **state)
{
    (void) state;
    for (long i = 0; i < unit_scaled(200); i++) {
        work_init(1, 0, 0, 0);
        pthread_t server = server_start();
        work.note = 1;
        tsm_shm_server_stop(&work.server);
        server_join(server);
        assert_int_equal(work.seen, 1);
    }
}

/* A thread that makes one call. */
typedef struct actor {
    pthread_t thread;
    tsm_delegate_fn_t fn;
    uint64_t zero;
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
    tsm_shm_client_t *client = tsm_shm_server_register(&work.server);
    actor_t *actor = arg;

    tsm_shm_server_call(&work.server, client, actor->fn, &actor->zero);
    tsm_shm_server_unregister(&work.server, client);
    return NULL;
}

static void actor_start(actor_t *actor, tsm_delegate_fn_t fn)
{
    memset(actor, 0, sizeof(*actor));
    actor->fn = fn;
    assert_int_equal(pthread_create(&actor->thread, NULL, actor_main, actor), 0);
}

/* While the server is stuck and others wait, a client leaves and another one gets its id. */
static void test_leaving_while_others_wait(void **state)
{
    tsm_shm_client_t *leaver;
    uint64_t zero = 0;
    actor_t actor[4];

    (void) state;
    for (int streaming = 0; streaming <= 1; streaming++) {
        work_init(5, 10, streaming, 1);
        pthread_t server = server_start();
        leaver = tsm_shm_server_register(&work.server);
        assert_int_equal(tsm_shm_server_call(&work.server, leaver, bump, &zero), 0);
        tsm_store(&inside, 0, TSM_RELAXED);
        tsm_store(&let_go, 0, TSM_RELAXED);
        actor_start(&actor[0], stay);
        while (!tsm_load(&inside, TSM_ACQUIRE))
            sched_yield();
        for (int i = 1; i < 3; i++)
            actor_start(&actor[i], bump);
        tsm_shm_server_unregister(&work.server, leaver);
        actor_start(&actor[3], bump);
        unit_sleep_ms(2);
        tsm_store(&let_go, 1, TSM_RELEASE);
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_join(actor[i].thread, NULL), 0);
        tsm_shm_server_stop(&work.server);
        server_join(server);
        work_check(5);
    }
}

/* By hand: each request is served once, the idle and the half-written ones not at all, and a stop
 * comes after what was asked before. */
static void test_poll(void **state)
{
    tsm_shm_client_t *client[3];
    uint64_t reply, zero = 0;

    (void) state;
    for (int streaming = 0; streaming <= 1; streaming++) {
        work_init(3, 0, streaming, 1);
        assert_int_equal(tsm_shm_server_poll(&work.server), 1);
        for (int i = 0; i < 3; i++)
            client[i] = tsm_shm_server_register(&work.server);
        for (uint64_t turn = 0; turn < 4; turn++) {
            uint64_t phase = tsm_shm_server_ask_(client[0], bump, &zero);
            client[1]->fn = bump;
            client[1]->arg = &zero;     /* held before its last step */
            assert_int_equal(phase, (turn + 1) % 2);
            assert_false(tsm_shm_server_answered_(client[0], phase, &reply));
            if (turn == 2)
                tsm_shm_server_stop(&work.server);
            for (int i = 0; i < 3; i++)
                assert_int_equal(tsm_shm_server_poll(&work.server), !(turn == 2 && i == 0));
            assert_true(tsm_shm_server_answered_(client[0], phase, &reply));
            assert_int_equal(reply, turn << 1 | phase);
            assert_int_equal(work.first, turn + 1);
        }
        tsm_shm_server_ask_(client[1], bump, &zero);
        tsm_shm_server_ask_(client[2], bump, &zero);
        tsm_shm_server_poll(&work.server);
        assert_int_equal(work.first, 6);
        for (int i = 0; i < 3; i++)
            tsm_shm_server_unregister(&work.server, client[i]);
        work.served = 6;
        work_check(6);
    }
}

static uint64_t same(void *arg)
{
    return *(const uint64_t *) arg;
}

/* The greatest result arrives whole, one bit more is an error. */
static void serve_one(tsm_delegate_fn_t fn, void *arg)
{
    tsm_shm_client_t *client = tsm_shm_server_register(&work.server);
    uint64_t phase = tsm_shm_server_ask_(client, fn, arg), reply;

    tsm_shm_server_poll(&work.server);
    assert_true(tsm_shm_server_answered_(client, phase, &reply));
    assert_int_equal(reply >> 1, *(uint64_t *) arg);
    tsm_shm_server_unregister(&work.server, client);
}

static void serve_same(void *arg)
{
    serve_one(same, arg);
}

static void test_63_bits(void **state)
{
    (void) state;
    for (int streaming = 0; streaming <= 1; streaming++) {
        uint64_t most = UINT64_MAX >> 1, too_much = most + 1;

        work_init(2, 0, streaming, 1);
        serve_same(&most);
        serve_same(&most);
        unit_aborts(serve_same, &too_much);
    }
}

static void too_many(void *arg)
{
    (void) arg;
    for (int i = 0; i < 5; i++)
        tsm_shm_server_register(&work.server);
}

static uint64_t call_inside(void *arg)
{
    tsm_shm_client_t *client = tsm_shm_server_register(&work.server);

    return tsm_shm_server_call(&work.server, client, bump, arg);
}

static uint64_t serve_inside(void *arg)
{
    (void) arg;
    return (uint64_t) tsm_shm_server_poll(&work.server);
}

static void self_call(void *arg)
{
    serve_one(call_inside, arg);
}

static void two_servers(void *arg)
{
    serve_one(serve_inside, arg);
}

static void touch_outside(void *arg)
{
    bump(arg);
}

static void unregister_twice(void *arg)
{
    tsm_shm_client_t *client = tsm_shm_server_register(&work.server);

    (void) arg;
    tsm_shm_server_unregister(&work.server, client);
    tsm_shm_server_unregister(&work.server, client);
}

static void long_backoff(void *arg)
{
    (void) arg;
    tsm_shm_server_init(&work.server, work.client, 4, TSM_SHM_SERVER_BACKOFF_MAX + 1, 0);
}

static void test_misuse(void **state)
{
    uint64_t zero = 0;

    (void) state;
    work_init(4, 0, 0, 1);
    unit_aborts(too_many, NULL);
    unit_aborts(self_call, &zero);
    unit_aborts(two_servers, &zero);
    unit_aborts(touch_outside, &zero);
    unit_aborts(unregister_twice, NULL);
    unit_aborts(long_backoff, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poll),
        cmocka_unit_test(test_63_bits),
        cmocka_unit_test(test_leaving_while_others_wait),
        cmocka_unit_test(test_stop_and_start),
        cmocka_unit_test(test_servers_take_turns),
        cmocka_unit_test(test_stop_is_a_message),
        cmocka_unit_test(test_no_loss_no_double),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_held_thread),
        cmocka_unit_test(test_misuse),
    };
    int failed = cmocka_run_group_tests_name("shm_server", tests, NULL, NULL);

    free(work.given);
    return failed;
}
