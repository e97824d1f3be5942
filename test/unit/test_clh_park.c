/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Sleeping in the CLH lock, with tickets that announce from the start and with those that announce
 * after a wait. Waiters sleep at once if they may. A lost wake-up is a hang, which the Makefile's
 * time limit ends. */

#include "unit.h"
#include "unit_perturb.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#define TSM_WAIT_PARK ((tsm_wait_policy_t) {0, 0, 1})
#include "lock/tsm_clh.h"

#define THREADS 16              /* in the largest team */
#define CONTEXTS (2 * THREADS)
#define LOCKS 3

typedef struct guarded {
    tsm_clh_t lock;
    char pad[TSM_CACHELINE];
    long first, second;         /* equal but inside the lock */
} guarded_t;

static tsm_clh_pool_t pool;
static tsm_clh_node_t nodes[TSM_CLH_NODES(CONTEXTS)];
static guarded_t guarded[LOCKS];
static TSM_ATOMIC(int) broken;

static const uint32_t announcing = UINT32_MAX, silent = 0;

static void begin(tsm_clh_context_t *context)
{
    if (tsm_clh_context_init(context, &pool) != 0)
        abort();
}

static void make(uint32_t announce)
{
    memset(nodes, 0xa5, sizeof(nodes));
    if (tsm_clh_pool_init(&pool, nodes, CONTEXTS) != 0)
        abort();
    memset(guarded, 0, sizeof(guarded));
    for (int i = 0; i < LOCKS; i++) {
        tsm_clh_init(&guarded[i].lock, &pool);
        tsm_store(&guarded[i].lock.announce, announce, TSM_RELAXED);
    }
    tsm_store(&broken, 0, TSM_RELAXED);
}

static int set_up(void **state)
{
    unit_perturb_one_in = 0;
    make(**(const uint32_t **) state);
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    unit_perturb_one_in = 0;
    for (int i = 0; i < LOCKS; i++)
        tsm_clh_destroy(&guarded[i].lock);
    tsm_clh_pool_destroy(&pool);
    return 0;
}

/* ---- many threads, short sections ---- */

typedef struct storm {
    long rounds;
    int locks;
    int hop;                    /* a new context now and then */
} storm_t;

static void pass(guarded_t *g, tsm_clh_context_t *context, int by_try)
{
    if (!by_try)
        tsm_clh_acquire(&g->lock, context);
    else if (!tsm_clh_try(&g->lock, context))
        return;
    if (g->first != g->second)
        tsm_fetch_add(&broken, 1, TSM_RELAXED);
    g->first++;
    g->second++;
    tsm_clh_release(&g->lock, context);
}

static void storm_body(int id, void *arg)
{
    const storm_t *storm = arg;
    tsm_clh_context_t context;

    begin(&context);
    for (long i = 0; i < storm->rounds; i++) {
        pass(&guarded[(i + id) % storm->locks], &context, 0);
        /* only sometimes queue again at once, with the next ticket of our node */
        if ((i + id) % 5 == 0)
            pass(&guarded[i % storm->locks], &context, 1);
        if (storm->hop && i % 7 == id % 7) {
            tsm_clh_context_end(&context);
            begin(&context);
        }
    }
    tsm_clh_context_end(&context);
}

static void run_storm(int threads, storm_t storm)
{
    long least = 0;

    unit_team(threads, storm_body, &storm);
    assert_int_equal(tsm_load(&broken, TSM_RELAXED), 0);
    for (int i = 0; i < LOCKS; i++) {
        assert_int_equal(guarded[i].first, guarded[i].second);
        least += guarded[i].first;
    }
    assert_true(least >= threads * storm.rounds);
}

static void test_storm(void **state)
{
    (void) state;
    run_storm(THREADS, (storm_t) { unit_scaled(4000), 1, 0 });
    run_storm(3, (storm_t) { unit_scaled(20000), 1, 0 });
}

static void test_storm_of_locks(void **state)
{
    (void) state;
    run_storm(THREADS, (storm_t) { unit_scaled(4000), LOCKS, 1 });
    run_storm(4, (storm_t) { unit_scaled(10000), 2, 1 });
}

static void test_storm_perturbed(void **state)
{
    (void) state;
    unit_perturb_one_in = 4;
    run_storm(THREADS, (storm_t) { unit_scaled(800), 1, 1 });
    unit_perturb_one_in = 9;
    run_storm(THREADS, (storm_t) { unit_scaled(800), LOCKS, 1 });
}

static void test_storm_on_one_processor(void **state)
{
    cpu_set_t all, one;

    (void) state;
    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    run_storm(THREADS, (storm_t) { unit_scaled(2000), LOCKS, 0 });
    sched_setaffinity(0, sizeof(all), &all);
}

/* ---- one step after the other ---- */

typedef struct waiting {
    tsm_clh_context_t *context;
    tsm_clh_t *lock;
    pthread_t thread;
} waiting_t;

static void *waiting_main(void *arg)
{
    waiting_t *waiting = arg;

    tsm_clh_acquire(waiting->lock, waiting->context);
    tsm_clh_release(waiting->lock, waiting->context);
    return NULL;
}

static void start_waiting(waiting_t *waiting)
{
    assert_int_equal(pthread_create(&waiting->thread, NULL, waiting_main, waiting), 0);
}

static uint32_t flag_of(uint64_t ticket)
{
    return (uint32_t) (ticket / (2 * pool.step)) << 1 | 1;
}

static void wait_for_flag(tsm_clh_node_t *node, uint64_t ticket)
{
    uint32_t flag = flag_of(ticket);

    while (tsm_load(&node->parked, TSM_ACQUIRE) != flag)
        sched_yield();
    usleep(2000);               /* mostly long enough to fall asleep */
}

static void test_sleeper_is_woken(void **state)
{
    tsm_clh_context_t a, b;

    (void) state;
    begin(&a);
    begin(&b);
    for (int i = 0; i < 20; i++) {
        waiting_t waiting = { .context = &b, .lock = &guarded[0].lock };
        tsm_clh_acquire(&guarded[0].lock, &a);
        start_waiting(&waiting);
        wait_for_flag(a.node, a.ticket);
        tsm_clh_release(&guarded[0].lock, &a);
        assert_int_equal(pthread_join(waiting.thread, NULL), 0);
    }
    tsm_clh_context_end(&a);
    tsm_clh_context_end(&b);
}

/* The waiter for an earlier ticket is late: its flag replaces that of a sleeping thread, which is
 * woken all the same. The late one does not sleep, neither on its own flag nor on another's. */
static void test_late_waiter(void **state)
{
    tsm_clh_context_t a, b, late;

    (void) state;
    begin(&a);
    begin(&b);
    begin(&late);
    for (int i = 0; i < 20; i++) {
        waiting_t waiting = { .context = &b, .lock = &guarded[0].lock };
        tsm_clh_acquire(&guarded[0].lock, &a);
        uint64_t earlier = a.ticket;
        uint32_t flag = tsm_swap(&a.node->parked, flag_of(earlier), TSM_ACQUIRE);
        assert_int_equal(flag, 0);
        tsm_clh_release(&guarded[0].lock, &a);          /* between the late one's W1 and W3 */
        tsm_clh_acquire(&guarded[0].lock, &a);
        start_waiting(&waiting);
        wait_for_flag(a.node, a.ticket);
        tsm_futex_(&a.node->parked, FUTEX_WAIT, flag_of(earlier));
        tsm_clh_park_(&late, a.node, earlier);          /* and once more from W1 */
        assert_true(tsm_load(&a.node->parked, TSM_RELAXED) != 0);
        tsm_clh_release(&guarded[0].lock, &a);
        assert_int_equal(pthread_join(waiting.thread, NULL), 0);
    }
    tsm_clh_context_end(&a);
    tsm_clh_context_end(&b);
    tsm_clh_context_end(&late);
}

/* A flag that was left behind costs a wake-up, no more. */
static void test_flag_left_behind(void **state)
{
    tsm_clh_context_t a;

    (void) state;
    begin(&a);
    tsm_store(&a.node->parked, 12345, TSM_RELAXED);
    tsm_clh_context_end(&a);
    begin(&a);
    pass(&guarded[0], &a, 0);
    assert_int_equal(tsm_load(&a.node->parked, TSM_RELAXED), 0);
    tsm_clh_context_end(&a);
}

/* ---- announcing ---- */

/* A waiter behind a ticket that does not announce asks for announcements and does not sleep. The
 * announcements end when the lock has been free often enough. */
static void test_announcing_begins_and_ends(void **state)
{
    tsm_clh_t *lock = &guarded[0].lock;
    tsm_clh_context_t a, b;

    (void) state;
    begin(&a);
    begin(&b);
    for (int i = 0; i < 3; i++) {
        waiting_t waiting = { .context = &b, .lock = lock };
        tsm_clh_acquire(lock, &a);
        assert_false(tsm_clh_announces_(&a, a.ticket));
        start_waiting(&waiting);
        while (tsm_load(&lock->announce, TSM_ACQUIRE) != TSM_CLH_ANNOUNCE)
            sched_yield();
        usleep(1000);
        assert_int_equal(tsm_load(&a.node->parked, TSM_RELAXED), 0);
        tsm_clh_release(lock, &a);
        assert_int_equal(pthread_join(waiting.thread, NULL), 0);
        for (int k = 0; k < TSM_CLH_ANNOUNCE; k++) {
            if (k % 2)
                tsm_clh_acquire(lock, &a);
            else
                assert_int_equal(tsm_clh_try(lock, &a), 1);
            assert_true(tsm_clh_announces_(&a, a.ticket));
            tsm_clh_release(lock, &a);
        }
    }
    tsm_clh_context_end(&a);
    tsm_clh_context_end(&b);
}

#define TEST(name_, kind_) \
    { #name_ ", " #kind_, test_##name_, set_up, tear_down, (void *) &kind_ }
#define STORMS(kind_) \
    TEST(storm, kind_), TEST(storm_of_locks, kind_), TEST(storm_perturbed, kind_), \
    TEST(storm_on_one_processor, kind_)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(announcing_begins_and_ends, silent),
        TEST(sleeper_is_woken, announcing), TEST(late_waiter, announcing),
        TEST(flag_left_behind, announcing),
        STORMS(announcing), STORMS(silent),
    };
    return cmocka_run_group_tests_name("clh_park", tests, NULL, NULL);
}
