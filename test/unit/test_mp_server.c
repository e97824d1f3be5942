/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* MP-SERVER. */

#include "unit_aborts.h"
#include "unit_fault.h"

#include <sched.h>
#include <string.h>

#include "combine/tsm_mp_server.h"

#define SLOTS 16

/* Plain counters that only the server touches while it runs. */
typedef struct work {
    tsm_mp_server_t server;
    tsm_mailbox_slot_t slot[SLOTS];
    tsm_mp_client_t client[UNIT_TEAM_MAX];
    long first, second, broken;
    TSM_ATOMIC(long) wrong;             /* seen by a caller */
    long rounds;
    uint64_t served;
    int held;                           /* the held thread, before which atomic access; -1: none */
    long step;
} work_t;

#define SERVER UNIT_TEAM_MAX            /* as `held` */

static work_t work;

typedef struct request {
    long number;                        /* plain: the operation writes it, the caller reads it */
} request_t;

static uint64_t bump(void *arg)
{
    request_t *request = arg;

    if (work.first != work.second)
        work.broken++;
    request->number = work.first++;
    if (work.first % 64 == 0)
        sched_yield();                  /* yield inside an operation, too */
    work.second++;
    return ~(uint64_t) request->number;
}

static void work_init(uint32_t capacity, uint32_t clients, long rounds)
{
    memset(&work, 0, sizeof(work));
    tsm_mp_server_init(&work.server, work.slot, capacity, work.client, clients);
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
    work.served += tsm_mp_server_run(&work.server);
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

static void client_body(int id, void *arg)
{
    tsm_mp_client_t *client = tsm_mp_server_register(&work.server);
    long last = -1;

    (void) arg;
    if (id == work.held)
        unit_hold_in = work.step;
    for (long i = 0; i < work.rounds; i++) {
        request_t request = { -1 };
        uint64_t result = tsm_mp_server_call(&work.server, client, bump, &request);
        if (result != ~(uint64_t) request.number || request.number <= last)
            tsm_fetch_add(&work.wrong, 1, TSM_RELAXED);
        last = request.number;
    }
    tsm_mp_server_unregister(&work.server, client);
}

static void team(int n)
{
    pthread_t server = server_start();

    unit_team(n, client_body, NULL);
    tsm_mp_server_stop(&work.server);
    server_join(server);
}

static void test_no_loss_no_double(void **state)
{
    (void) state;
    for (uint32_t capacity = 1; capacity <= SLOTS; capacity *= SLOTS) {
        for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
            int n = unit_team_sizes[s];
            work_init(capacity, (uint32_t) n, unit_scaled(n < 8 ? 10000 : 5000) / n);
            team(n);
            work_check(n * work.rounds);
        }
    }
}

static void test_come_and_go(void **state)
{
    const long batches = unit_scaled(150);
    const int n = 16;

    (void) state;
    work_init(8, (uint32_t) n, 5);
    pthread_t server = server_start();
    for (long b = 0; b < batches; b++)
        unit_team(n, client_body, NULL);
    tsm_mp_server_stop(&work.server);
    server_join(server);
    work_check(batches * n * work.rounds);
}

static void test_held_thread(void **state)
{
    static const int who[] = { 0, SERVER };
    const int n = 3;

    (void) state;
    for (int w = 0; w < 2; w++) {
        for (long step = 1; step <= 50; step++) {
            work_init(step % 2 ? 1 : 4, (uint32_t) n, 20);
            work.held = who[w];
            work.step = step;
            team(n);
            work_check(n * work.rounds);
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
        for (long i = 0; i < work.rounds; i++)
            tsm_mp_server_stop(&work.server);
    }
}

/* The server is stopped all the time and started again by a new thread: calls are only delayed. */
static void test_stop_and_start(void **state)
{
    const int n = 4;
    pthread_t stopper;

    (void) state;
    work_init(8, (uint32_t) n, unit_scaled(600));
    assert_int_equal(pthread_create(&stopper, NULL, stopper_main, NULL), 0);
    unit_team(n, stops_body, NULL);
    tsm_mp_server_stop(&work.server);
    server_join(stopper);
    work_check((n - 1) * work.rounds);
}

/* A thread that makes one call. */
typedef struct actor {
    pthread_t thread;
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
    tsm_mp_client_t *client = tsm_mp_server_register(&work.server);
    actor_t *actor = arg;

    tsm_mp_server_call(&work.server, client, actor->fn, &actor->request);
    tsm_store(&actor->done, 1, TSM_RELEASE);
    tsm_mp_server_unregister(&work.server, client);
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
    tsm_mp_client_t *leaver;
    actor_t actor[4];

    (void) state;
    work_init(4, 5, 1);
    pthread_t server = server_start();
    leaver = tsm_mp_server_register(&work.server);
    tsm_mp_server_call(&work.server, leaver, bump, &actor[0].request);
    tsm_store(&inside, 0, TSM_RELAXED);
    tsm_store(&let_go, 0, TSM_RELAXED);
    actor_start(&actor[0], stay);
    while (!tsm_load(&inside, TSM_ACQUIRE))
        sched_yield();
    for (int i = 1; i < 3; i++)
        actor_start(&actor[i], bump);
    tsm_mp_server_unregister(&work.server, leaver);
    actor_start(&actor[3], bump);
    unit_sleep_ms(2);
    tsm_store(&let_go, 1, TSM_RELEASE);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(actor[i].thread, NULL), 0);
    tsm_mp_server_stop(&work.server);
    server_join(server);
    work_check(5);
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
        tsm_mp_server_poll(&work.server, 2);
        tsm_store(&whose_turn, tsm_load(&finished, TSM_RELAXED) == 2 ? -1 : i + 1, TSM_RELAXED);
    }
}

static void test_servers_take_turns(void **state)
{
    (void) state;
    work_init(4, 2, unit_scaled(2000));
    tsm_store(&whose_turn, 0, TSM_RELAXED);
    tsm_store(&finished, 0, TSM_RELAXED);
    unit_team(5, turns_body, NULL);
    work.served = (uint64_t) work.first;
    work_check(2 * work.rounds);
}

static void send_by_hand(tsm_mp_client_t *client, tsm_delegate_fn_t fn, void *arg)
{
    uint64_t request[3] = { (uintptr_t) client, (uintptr_t) fn, (uintptr_t) arg };

    tsm_mailbox_send(&work.server.box, request, 3);
}

/* The order of service, the limit, and a stop in the middle. */
static void test_poll(void **state)
{
    tsm_mp_client_t *client[6];
    request_t request[6];
    uint64_t result;

    (void) state;
    work_init(SLOTS, 6, 1);
    assert_int_equal(tsm_mp_server_poll(&work.server, 4), 1);
    for (int i = 0; i < 6; i++) {
        client[i] = tsm_mp_server_register(&work.server);
        send_by_hand(client[i], bump, &request[i]);
        if (i == 4)
            tsm_mp_server_stop(&work.server);
    }
    assert_int_equal(tsm_mp_server_poll(&work.server, 0), 1);
    assert_int_equal(work.first, 0);
    assert_int_equal(tsm_mp_server_poll(&work.server, 2), 1);
    assert_int_equal(work.first, 2);
    assert_int_equal(tsm_mp_server_poll(&work.server, 100), 0);
    assert_int_equal(work.first, 5);
    assert_int_equal(tsm_mp_server_poll(&work.server, 100), 1);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(tsm_mailbox_try_receive(&client[i]->box, &result, 1), 1);
        assert_int_equal(result, ~(uint64_t) i);
        assert_int_equal(request[i].number, i);
        tsm_mp_server_unregister(&work.server, client[i]);
    }
    work.served = 6;
    work_check(6);
}

static void too_many(void *arg)
{
    (void) arg;
    for (int i = 0; i < 5; i++)
        tsm_mp_server_register(&work.server);
}

static uint64_t call_inside(void *arg)
{
    return tsm_mp_server_call(&work.server, arg, bump, NULL);
}

static uint64_t serve_inside(void *arg)
{
    (void) arg;
    return (uint64_t) tsm_mp_server_poll(&work.server, 1);
}

static void serve_one(tsm_delegate_fn_t fn)
{
    tsm_mp_client_t *client = tsm_mp_server_register(&work.server);

    send_by_hand(client, fn, tsm_mp_server_register(&work.server));
    tsm_mp_server_poll(&work.server, 1);
}

static void self_call(void *arg)
{
    (void) arg;
    serve_one(call_inside);
}

static void two_servers(void *arg)
{
    (void) arg;
    serve_one(serve_inside);
}

static void unregister_twice(void *arg)
{
    tsm_mp_client_t *client = tsm_mp_server_register(&work.server);

    (void) arg;
    tsm_mp_server_unregister(&work.server, client);
    tsm_mp_server_unregister(&work.server, client);
}

static void test_misuse(void **state)
{
    (void) state;
    work_init(4, 4, 1);
    unit_aborts(too_many, NULL);
    unit_aborts(self_call, NULL);
    unit_aborts(two_servers, NULL);
    unit_aborts(unregister_twice, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poll),
        cmocka_unit_test(test_leaving_while_others_wait),
        cmocka_unit_test(test_stop_and_start),
        cmocka_unit_test(test_servers_take_turns),
        cmocka_unit_test(test_no_loss_no_double),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_held_thread),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("mp_server", tests, NULL, NULL);
}
