/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The user-space condition: no thread returns before its completion, none sleeps through it, one
 * thread at a time serves a set, and no waiter is touched after it is settled. */

#include "unit.h"
#include "unit_aborts.h"
#include "unit_perturb.h"

#include <sched.h>
#include <string.h>

#include "tsm_patience.h"
#include "tsm_usc.h"

/* A small network with two sets: threads post operations, and a poll completes some of them. */
#define SETS 2
#define ANY  3                          /* operations that a thread waits for at a time, at most */

typedef struct operation {
    struct operation *next;
    tsm_usc_slot_t slot;
    TSM_ATOMIC(int) done;
    int data;                   /* plain: completing must publish it */
} operation_t;

#define OWED_MAX 3

typedef struct network {
    tsm_usc_t usc[SETS];
    pthread_mutex_t lock;
    operation_t *posted;        /* guarded by lock */
    long turns;                 /* guarded by lock */
    TSM_ATOMIC(int) serving[SETS];
    TSM_ATOMIC(long) broken;
    TSM_ATOMIC(long) slept;
    TSM_ATOMIC(int) left;       /* threads that still have operations to post */
    long rounds;
    int late;                   /* polls take their time, and wakes come late */
} network_t;

static network_t network;

/* A thread: one waiter and one link for each set, for all its waits. */
typedef struct member {
    tsm_usc_waiter_t waiter;
    tsm_usc_link_t link[SETS];
    operation_t *op[ANY];
    int sets;                           /* 1 or 2; with 1 it is in the set `home` */
    int home;
    tsm_usc_waiter_t *owed[OWED_MAX];
    int owes;
} member_t;

static void post(operation_t *op)
{
    pthread_mutex_lock(&network.lock);
    op->next = network.posted;
    network.posted = op;
    pthread_mutex_unlock(&network.lock);
}

static void pay(member_t *m)
{
    for (int i = 0; i < m->owes; i++)
        tsm_usc_wake(m->owed[i]);
    m->owes = 0;
}

/* Complete up to OWED_MAX operations, or none now and then; wake without the lock, or at the next
 * poll only. The operation may be gone once the lock is free. */
static int deliver(member_t *m)
{
    int found = 0;

    pay(m);
    pthread_mutex_lock(&network.lock);
    for (long max = network.turns++ % (OWED_MAX + 1); network.posted && found < max; found++) {
        operation_t *op = network.posted;
        network.posted = op->next;
        op->data = 1;
        tsm_store(&op->done, 1, TSM_SEQ_CST);
        tsm_usc_waiter_t *waiter = found % 2 ? tsm_usc_notify(&op->slot)
                                             : tsm_usc_notify_swap(&op->slot);
        if (waiter)
            m->owed[m->owes++] = waiter;
    }
    pthread_mutex_unlock(&network.lock);
    if (!network.late)
        pay(m);
    return found;
}

/* Wait until the poll that has completed an operation no longer uses it. */
static void end_operation(operation_t *op)
{
    pthread_mutex_lock(&network.lock);
    if (op->data != 1)
        tsm_fetch_add(&network.broken, 1, TSM_RELAXED);
    pthread_mutex_unlock(&network.lock);
    memset((void *) op, 0xa5, sizeof(*op));
    free(op);
}

static int enlist(void *arg)
{
    member_t *m = arg;
    int complete = 0;

    for (int i = 0; i < ANY; i++) {
        if (m->op[i]) {
            tsm_usc_register(&m->op[i]->slot, &m->waiter);
            complete |= tsm_load(&m->op[i]->done, TSM_SEQ_CST);
        }
    }
    tsm_fetch_add(&network.slept, !complete, TSM_RELAXED);
    return complete;
}

static void delist(void *arg)
{
    member_t *m = arg;

    for (int i = 0; i < ANY; i++) {
        if (m->op[i] && tsm_usc_unregister(&m->op[i]->slot, &m->waiter) &&
            !tsm_load(&m->op[i]->done, TSM_RELAXED))
            tsm_fetch_add(&network.broken, 1, TSM_RELAXED);
    }
}

/* Is one of the operations complete? Ends those that are. */
static int collect(member_t *m)
{
    int found = 0;

    for (int i = 0; i < ANY; i++) {
        if (m->op[i] && tsm_load(&m->op[i]->done, TSM_SEQ_CST)) {
            end_operation(m->op[i]);
            m->op[i] = NULL;
            found = 1;
        }
    }
    return found;
}

static void count_serving(member_t *m, int more)
{
    for (int s = 0; s < SETS; s++) {
        if (m->link[s].state == TSM_USC_SERVES &&
            tsm_fetch_add(&network.serving[s], more, TSM_RELAXED) != (more < 0))
            tsm_fetch_add(&network.broken, 1, TSM_RELAXED);
    }
}

/* Wait for any of the member's operations, as the caller's own progress loop would. */
static void wait_any(member_t *m)
{
    tsm_usc_t *sets[SETS] = { &network.usc[m->home], &network.usc[1] };
    tsm_usc_wait_t wait = { &m->waiter, m->sets, sets, &m->link[m->home], enlist, delist, m,
        TSM_WAIT_PARK
    };
    tsm_patience_t patience;
    int serves = 0;

    tsm_patience_begin(&patience, 20000, 0);
    while (!collect(m)) {
        if ((serves || !network.late) && deliver(m))
            tsm_patience_begin(&patience, 20000, 0);
        else if (tsm_patience_step(&patience, !serves) == TSM_PATIENCE_SLEEP) {
            pay(m);
            serves = tsm_usc_sleep_or_serve(&wait);
            count_serving(m, 1);
        } else if (network.late || serves) {
            sched_yield();      /* others get the chance to come and sleep */
        }
    }
    count_serving(m, -1);
    for (int s = 0; s < SETS; s++) {
        if (m->link[s].state == TSM_USC_SERVES)
            tsm_usc_leave(&network.usc[s], &m->link[s]);
    }
}

static void wait_round(member_t *m, long round)
{
    int n = (int) (round % ANY) + 1;

    for (int i = 0; i < n; i++) {
        operation_t *op = calloc(1, sizeof(*op));
        if (op == NULL)
            abort();
        tsm_usc_slot_init(&op->slot);
        m->op[i] = op;
        post(op);
    }
    m->sets = round % 4 == 3 ? SETS : 1;
    m->home = m->sets == 1 ? (int) (round / 4 % SETS) : 0;
    while (m->op[0] || m->op[1] || m->op[2])
        wait_any(m);
}

/* The waiter is freed at the end. */
static void waiting_body(int id, void *arg)
{
    member_t *m = calloc(1, sizeof(*m));

    (void) arg;
    if (m == NULL)
        abort();
    tsm_usc_waiter_init(&m->waiter);
    for (int s = 0; s < SETS; s++)
        tsm_usc_link_init(&m->link[s]);
    for (long i = 0; i < network.rounds; i++)
        wait_round(m, i + id);
    pay(m);
    tsm_usc_settle(&m->waiter);
    memset((void *) m, 0xa5, sizeof(*m));
    free(m);
    tsm_fetch_add(&network.left, -1, TSM_ACQ_REL);
}

/* Thread 0 completes beside the servers. */
static void outsider_body(int id, void *arg)
{
    member_t m = {.owes = 0 };

    if (id > 0) {
        waiting_body(id, arg);
        return;
    }
    while (tsm_load(&network.left, TSM_ACQUIRE) > 0) {
        if (!deliver(&m))
            sched_yield();
    }
    pay(&m);
}

static void network_init(int left, long rounds, int late)
{
    memset((void *) &network, 0, sizeof(network));
    network.late = late;
    unit_perturb_one_in = late ? 20 : 0;
    for (int s = 0; s < SETS; s++)
        assert_int_equal(tsm_usc_init(&network.usc[s]), 0);
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
    for (int s = 0; s < SETS; s++) {
        assert_null(network.usc[s].server);
        assert_int_equal(tsm_load(&network.serving[s], TSM_RELAXED), 0);
        tsm_usc_destroy(&network.usc[s]);
    }
    pthread_mutex_destroy(&network.lock);
}

/* At full speed and with patience; with many interruptions, and only the servers poll. */
static void both_ways(int n, int outsiders)
{
    for (int late = 0; late < 2; late++) {
        tsm_load_override(late);
        network_init(n - outsiders, unit_scaled(late ? 6000 : 20000) / n + 1, late);
        unit_team(n, outsiders ? outsider_body : waiting_body, NULL);
        if (n >= 8 && late)
            assert_true(tsm_load(&network.slept, TSM_RELAXED) > 0);
        network_check();
    }
    tsm_load_override(-1);
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
    const long batches = unit_scaled(100);

    (void) state;
    tsm_load_override(1);
    network_init((int) (n * batches), 3, 1);
    for (long b = 0; b < batches; b++)
        unit_team(n, waiting_body, NULL);
    network_check();
    tsm_load_override(-1);
}

/* ---- one step at a time ---- */

/* Threads that sleep for a slot each, in one set whose server is the test. A sleep that must not be
 * over can be looked at early without harm: the test then only sees less. */
#define STAGED 3

typedef struct staged {
    tsm_usc_t usc;
    tsm_usc_waiter_t server;
    tsm_usc_link_t server_link;
    tsm_usc_waiter_t waiter[STAGED];
    tsm_usc_link_t link[STAGED];
    tsm_usc_slot_t slot[STAGED];
    pthread_t thread[STAGED];
    TSM_ATOMIC(int) woken[STAGED];
    int elected[STAGED];
    int taken[STAGED];
} staged_t;

static staged_t staged;

static int staged_enlist(void *arg)
{
    int i = *(int *) arg;

    tsm_usc_register(&staged.slot[i], &staged.waiter[i]);
    return 0;
}

static void staged_delist(void *arg)
{
    int i = *(int *) arg;

    staged.taken[i] = tsm_usc_unregister(&staged.slot[i], &staged.waiter[i]);
}

static void *staged_main(void *arg)
{
    int i = *(int *) arg;
    tsm_usc_t *set = &staged.usc;
    tsm_usc_wait_t wait = { &staged.waiter[i], 1, &set, &staged.link[i], staged_enlist,
        staged_delist, arg, TSM_WAIT_PARK
    };

    staged.elected[i] = tsm_usc_sleep_or_serve(&wait);
    tsm_store(&staged.woken[i], 1, TSM_RELEASE);
    return NULL;
}

static void start(int i)
{
    static int ids[STAGED];

    ids[i] = i;
    assert_int_equal(pthread_create(&staged.thread[i], NULL, staged_main, &ids[i]), 0);
    tsm_wait_until(tsm_load(&staged.slot[i], TSM_ACQUIRE) != NULL, TSM_WAIT_POLL);
}

static void stage(void)
{
    memset((void *) &staged, 0, sizeof(staged));
    assert_int_equal(tsm_usc_init(&staged.usc), 0);
    assert_int_equal(tsm_usc_join(&staged.usc, &staged.server_link, &staged.server), 1);
}

static void still_asleep(int i)
{
    for (int k = 0; k < 20; k++) {
        assert_int_equal(tsm_load(&staged.woken[i], TSM_ACQUIRE), 0);
        usleep(200);
    }
}

static void end(int i, int elected, int taken)
{
    assert_int_equal(pthread_join(staged.thread[i], NULL), 0);
    assert_int_equal(staged.elected[i], elected);
    assert_int_equal(staged.taken[i], taken);
}

static int is_settled(tsm_usc_waiter_t *waiter)
{
    return tsm_count_read(&waiter->count) == waiter->taken;
}

/* What a report would see: so many sleepers, and a server or none; -1 while the set is in use. */
static void look(int sleepers, int served)
{
    int found = -1;

    tsm_mutex_acquire(&staged.usc.lock);
    assert_int_equal(tsm_usc_look(&staged.usc, &found), -1);
    assert_int_equal(found, -1);
    tsm_mutex_release(&staged.usc.lock);
    assert_int_equal(tsm_usc_look(&staged.usc, &found), sleepers);
    assert_int_equal(found, served);
}

/* A wake wakes only its thread; a server that leaves wakes the first of the others. */
static void test_wakes_exactly_one(void **state)
{
    tsm_usc_waiter_t *waiter;

    (void) state;
    stage();
    for (int i = 0; i < STAGED; i++)
        start(i);
    look(STAGED, 1);
    waiter = tsm_usc_notify(&staged.slot[1]);
    assert_ptr_equal(waiter, &staged.waiter[1]);
    assert_null(tsm_usc_notify(&staged.slot[1]));
    assert_null(tsm_usc_notify_swap(&staged.slot[1]));
    still_asleep(1);
    tsm_usc_wake(waiter);
    end(1, 0, 1);
    look(STAGED - 1, 1);
    assert_true(is_settled(&staged.waiter[1]));
    still_asleep(0);
    still_asleep(2);

    tsm_usc_leave(&staged.usc, &staged.server_link);
    end(0, 1, 0);
    still_asleep(2);
    tsm_usc_leave(&staged.usc, &staged.link[0]);
    end(2, 1, 0);
    tsm_usc_leave(&staged.usc, &staged.link[2]);
    look(0, 0);
    assert_true(is_settled(&staged.waiter[0]));
    assert_true(is_settled(&staged.waiter[2]));
    tsm_usc_destroy(&staged.usc);
}

/* A completer has taken the waiter and wakes it late; the election wakes it all the same. The waiter is
 * used again before the late wake, which then ends the next sleep. */
static void test_promised_wake_and_election(void **state)
{
    tsm_usc_waiter_t *owed;

    (void) state;
    stage();
    start(0);
    owed = tsm_usc_notify(&staged.slot[0]);
    assert_ptr_equal(owed, &staged.waiter[0]);
    still_asleep(0);
    tsm_usc_leave(&staged.usc, &staged.server_link);
    end(0, 1, 1);
    assert_false(is_settled(&staged.waiter[0]));
    tsm_usc_leave(&staged.usc, &staged.link[0]);

    assert_int_equal(tsm_usc_join(&staged.usc, &staged.server_link, &staged.server), 1);
    tsm_store(&staged.woken[0], 0, TSM_RELAXED);
    start(0);
    still_asleep(0);
    tsm_usc_wake(owed);
    end(0, 0, 0);
    assert_true(is_settled(&staged.waiter[0]));
    tsm_usc_leave(&staged.usc, &staged.server_link);
    tsm_usc_destroy(&staged.usc);
}

static void *settle_main(void *arg)
{
    tsm_usc_settle(&staged.waiter[0]);
    tsm_store(&staged.woken[0], 1, TSM_RELEASE);
    return arg;
}

/* Settle waits for the last of two takers. */
static void test_settle(void **state)
{
    tsm_usc_waiter_t *owed[2], *waiter = &staged.waiter[0];

    (void) state;
    stage();
    tsm_usc_settle(waiter);
    tsm_usc_begin(waiter);
    for (int i = 0; i < 2; i++) {
        tsm_usc_register(&staged.slot[i], waiter);
        owed[i] = tsm_usc_notify(&staged.slot[i]);
        assert_int_equal(tsm_usc_unregister(&staged.slot[i], waiter), 1);
    }
    assert_int_equal(pthread_create(&staged.thread[0], NULL, settle_main, NULL), 0);
    still_asleep(0);
    tsm_usc_wake(owed[1]);
    still_asleep(0);
    tsm_usc_wake(owed[0]);
    assert_int_equal(pthread_join(staged.thread[0], NULL), 0);
    tsm_usc_leave(&staged.usc, &staged.server_link);
    tsm_usc_destroy(&staged.usc);
}

/* A wake between begin and sleep is not lost, and one before begin does not count. */
static void test_begin(void **state)
{
    tsm_usc_waiter_t *waiter = &staged.waiter[0];
    const tsm_wait_policy_t at_once = { 0, 0, 1 };

    (void) state;
    stage();
    for (int late = 0; late < 2; late++) {
        tsm_usc_begin(waiter);
        tsm_usc_register(&staged.slot[0], waiter);
        tsm_usc_wake(tsm_usc_notify(&staged.slot[0]));
        tsm_usc_sleep(waiter, at_once);
        assert_int_equal(tsm_usc_unregister(&staged.slot[0], waiter), 1);
        tsm_usc_begin(waiter);
        assert_int_equal(tsm_count_read(&waiter->count), waiter->begun);
    }
    tsm_usc_leave(&staged.usc, &staged.server_link);
    tsm_usc_destroy(&staged.usc);
}

static void registered_twice(void *arg)
{
    (void) arg;
    tsm_usc_slot_init(&staged.slot[0]);
    tsm_usc_register(&staged.slot[0], &staged.waiter[0]);
    tsm_usc_register(&staged.slot[0], &staged.waiter[1]);
}

static void destroyed_in_use(void *arg)
{
    (void) arg;
    stage();
    tsm_usc_destroy(&staged.usc);
}

static void link_in_use(void *arg)
{
    (void) arg;
    stage();
    tsm_usc_join(&staged.usc, &staged.server_link, &staged.server);
}

static void left_by_another(void *arg)
{
    (void) arg;
    stage();
    tsm_usc_leave(&staged.usc, &staged.link[0]);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(registered_twice, NULL);
    unit_aborts(destroyed_in_use, NULL);
    unit_aborts(link_in_use, NULL);
    unit_aborts(left_by_another, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_begin),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_wakes_exactly_one),
        cmocka_unit_test(test_promised_wake_and_election),
        cmocka_unit_test(test_server_completes),
        cmocka_unit_test(test_outsider_completes),
        cmocka_unit_test(test_come_and_go),
    };
    return cmocka_run_group_tests_name("usc", tests, NULL, NULL);
}
