/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The gate, in front of each lock. main() sets the load to crowded, so that the gate closes as soon as
 * two threads wait, on every machine. */

#include "unit_lock.h"

/* Tests that stage a watch move its clock and act in its yields. */
static _Thread_local uint64_t (*staged_clock)(void);
static _Thread_local void (*staged_yield)(void);

static void yield(void)
{
    if (staged_yield)
        staged_yield();
    else
        sched_yield();
}

/* Set: time stands still for every thread, so no quantum ends. */
static _Atomic int frozen;

static uint64_t unit_now(void)
{
    struct timespec now;

    if (frozen)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

#define TSM_YIELD() yield()
#define TSM_NOW_NS() (staged_clock ? staged_clock() : unit_now())

#include "combine/tsm_gated_dsm_synch.h"
#include "lock/tsm_gated.h"

static tsm_gated_ticket_t ticket;
static tsm_gated_mcs_t mcs;
static tsm_clh_pool_t clh_pool;
static tsm_clh_node_t clh_nodes[TSM_CLH_NODES(UNIT_TEAM_MAX + 16)];
static tsm_gated_clh_t clh;
static tsm_gated_clh_lpw_t lpw;
static tsm_gated_hmcs_t hmcs;
static tsm_hmcs_domain_t hmcs_domain[3];
static tsm_gated_hyblock_t hyblock;
static tsm_gated_dsm_synch_t dsm_synch;

static tsm_gate_t *const gates[] = { &ticket.gate, &mcs.gate, &clh.gate, &lpw.gate, &lpw.gate_low,
    &hmcs.gate, &hyblock.gate, &dsm_synch.gate
};

/* A thread's part of any of the locks. */
typedef struct member {
    tsm_mcs_node_t mcs;
    tsm_clh_context_t clh;
    tsm_hmcs_node_t hmcs;
    tsm_hyblock_node_t hyblock;
    tsm_dsm_synch_node_t dsm_synch;
    int is_low;
} member_t;

static void *begin(int id)
{
    member_t *member = malloc(sizeof(*member));

    *member = (member_t) {.hmcs = TSM_HMCS_NODE_INITIALIZER,.is_low = id % 2 };
    if (tsm_clh_context_init(&member->clh, &clh_pool) != 0)
        abort();
    tsm_hyblock_node_init(&member->hyblock);
    tsm_dsm_synch_node_init(&member->dsm_synch);
    return member;
}

static void end(void *thread)
{
    member_t *member = thread;

    tsm_clh_context_end(&member->clh);
    free(member);
}

/* The functions of one kind of lock, and its unit_lock_t. */
#define KIND(name_, try_, acquire_, release_) \
    static void name_##_acquire(void *thread) \
    { \
        member_t *me = thread; \
        (void) me; \
        acquire_; \
    } \
    static int name_##_try(void *thread) \
    { \
        member_t *me = thread; \
        (void) me; \
        return try_; \
    } \
    static void name_##_release(void *thread) \
    { \
        member_t *me = thread; \
        (void) me; \
        release_; \
    } \
    static unit_lock_t name_##_ops = { begin, end, name_##_acquire, name_##_try, name_##_release };

#define KIND_WITH_NODE(name_, node_) \
    KIND(name_, tsm_gated_##name_##_try(&name_, node_), tsm_gated_##name_##_acquire(&name_, node_), \
         tsm_gated_##name_##_release(&name_, node_))

KIND(ticket, tsm_gated_ticket_try(&ticket), tsm_gated_ticket_acquire(&ticket),
     tsm_gated_ticket_release(&ticket))
KIND_WITH_NODE(mcs, &me->mcs)
KIND_WITH_NODE(clh, &me->clh)
KIND_WITH_NODE(hmcs, &me->hmcs)
KIND_WITH_NODE(hyblock, &me->hyblock)
KIND(clh_lpw, tsm_gated_clh_lpw_try(&lpw, &me->clh), tsm_gated_clh_lpw_acquire(&lpw, &me->clh),
     tsm_gated_clh_lpw_release(&lpw, &me->clh))
KIND(clh_lpw_low, tsm_gated_clh_lpw_try_low(&lpw, &me->clh),
     tsm_gated_clh_lpw_acquire_low(&lpw, &me->clh), tsm_gated_clh_lpw_release_low(&lpw, &me->clh))
/* it has no try: leave out the tests that need one */
KIND(dsm_synch, 0, tsm_gated_dsm_synch_acquire(&dsm_synch, &me->dsm_synch),
     tsm_gated_dsm_synch_release(&dsm_synch, &me->dsm_synch))

/* CLH-LPW with both priorities: every other thread is a low one. */
static void both_acquire(void *thread)
{
    member_t *me = thread;

    if (me->is_low)
        clh_lpw_low_acquire(me);
    else
        clh_lpw_acquire(me);
}

static int both_try(void *thread)
{
    member_t *me = thread;

    return me->is_low ? clh_lpw_low_try(me) : clh_lpw_try(me);
}

static void both_release(void *thread)
{
    member_t *me = thread;

    if (me->is_low)
        clh_lpw_low_release(me);
    else
        clh_lpw_release(me);
}

static unit_lock_t both_ops = { begin, end, both_acquire, both_try, both_release };

static int set_up(void **state)
{
    static const uint32_t widths[] = { 1, 2 };

    (void) state;
    tsm_gated_ticket_init(&ticket);
    tsm_gated_mcs_init(&mcs);
    assert_int_equal(tsm_clh_pool_init(&clh_pool, clh_nodes, UNIT_TEAM_MAX + 16), 0);
    tsm_gated_clh_init(&clh, &clh_pool);
    tsm_gated_clh_lpw_init(&lpw, &clh_pool);
    tsm_gated_hmcs_init(&hmcs, hmcs_domain, widths, 2, 4);
    tsm_gated_hyblock_init(&hyblock);
    tsm_gated_dsm_synch_init(&dsm_synch, 8);
    return 0;
}

/* No thread is left at the gate or the lock. */
static int check_free(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
        assert_int_equal(tsm_gate_queued(gates[i]), 0);
        assert_int_equal(tsm_load(&gates[i]->waiting, TSM_ACQUIRE), 0);
    }
    tsm_clh_destroy(&clh.lock);
    tsm_clh_lpw_destroy(&lpw.lock);
    tsm_clh_pool_destroy(&clh_pool);
    return 0;
}

/* ---- every lock behind a gate ---- */

static void test_try(void **state)
{
    unit_try(*state);
}

static void test_exclusion(void **state)
{
    unit_exclusion(*state, unit_acquire_body, 60000);
}

static void test_exclusion_with_try(void **state)
{
    unit_exclusion(*state, unit_mixed_body, 30000);
}

static void test_come_and_go(void **state)
{
    unit_come_and_go(*state);
}

static void test_held_at_any_step(void **state)
{
    unit_held(*state);
}

/* An idle lock goes to a thread at the gate without the help of other threads: each thread holds the
 * lock for long, so that the others are all at the gate, and never returns at once. */
static void slow_body(int id, void *arg)
{
    unit_guarded_t *g = arg;
    void *thread = g->lock->begin(id);

    for (long i = 0; i < g->rounds; i++) {
        g->lock->acquire(thread);
        unit_bump(g);
        for (int k = 0; k < 20; k++)
            sched_yield();
        g->lock->release(thread);
        for (int k = 0; k < 20; k++)
            sched_yield();
    }
    g->lock->end(thread);
}

static void test_idle_lock_is_taken(void **state)
{
    unit_guarded_t g = { .lock = *state, .rounds = unit_scaled(100) };

    for (int n = 2; n <= 8; n *= 2)
        unit_team(n, slow_body, &g);
    assert_int_equal(g.broken, 0);
    assert_int_equal(g.first, (2 + 4 + 8) * g.rounds);
}

/* Threads that use the lock without pause keep none of the others out: each goes on until all have had
 * their share, so this ends only if each gets it. test_overtakes counts how often a thread is
 * overtaken. */
typedef struct hogging {
    unit_guarded_t g;
    TSM_ATOMIC(int) hungry;
} hogging_t;

static void hogging_body(int id, void *arg)
{
    hogging_t *hogging = arg;
    const unit_lock_t *lock = hogging->g.lock;
    void *thread = lock->begin(id);

    for (long i = 1; tsm_load(&hogging->hungry, TSM_RELAXED) > 0; i++) {
        lock->acquire(thread);
        unit_bump(&hogging->g);
        lock->release(thread);
        if (i == hogging->g.rounds)
            tsm_fetch_add(&hogging->hungry, -1, TSM_RELAXED);
    }
    lock->end(thread);
}

static void test_nobody_starves(void **state)
{
    for (int n = 2; n <= 32; n *= 4) {
        hogging_t hogging = { .g = { .lock = *state, .rounds = 20 }, .hungry = n };
        unit_team(n, hogging_body, &hogging);
        assert_int_equal(hogging.g.broken, 0);
        assert_int_equal(hogging.g.first, hogging.g.second);
    }
}

/* ---- the gate itself, in front of MCS ---- */

/* The name of a thread that never arrives. */
static uintptr_t stranger(void)
{
    return (uintptr_t) &mcs.gate;
}

static uintptr_t favoured(void)
{
    return tsm_load(&mcs.gate.favoured, TSM_ACQUIRE);
}

static void acquire_and_release(int times)
{
    void *thread = begin(0);

    for (int i = 0; i < times; i++) {
        mcs_acquire(thread);
        mcs_release(thread);
    }
    end(thread);
}

/* With too many threads at the lock the gate closes; when they are gone it opens for the next. */
static void test_closes_and_opens(void **state)
{
    unit_line_t line = { .lock = &mcs_ops };
    void *thread = begin(0);

    (void) state;
    acquire_and_release(1000);
    assert_int_equal(favoured(), 0);
    mcs_acquire(thread);
    unit_line_add(&line, 0);
    unit_wait_until(tsm_load(&mcs.gate.waiting, TSM_ACQUIRE) == 1);
    assert_int_equal(favoured(), 0);
    unit_line_add(&line, 1);
    unit_wait_until(favoured() != 0);
    for (int id = 2; id < UNIT_LINE_MAX; id++)
        unit_line_add(&line, id);
    mcs_release(thread);
    unit_line_end(&line);
    acquire_and_release(1);
    assert_int_equal(favoured(), 0);
    end(thread);
}

/* The favoured thread does not return. */
static void test_favoured_goes_away(void **state)
{
    (void) state;
    for (int round = 0; round < 20; round++) {
        unit_line_t line = { .lock = &mcs_ops };
        tsm_store(&mcs.gate.favoured, stranger(), TSM_RELEASE);
        for (int id = 0; id < UNIT_LINE_MAX; id++)
            unit_line_add(&line, id);
        unit_line_end(&line);
        acquire_and_release(1);
        assert_int_equal(favoured(), 0);
    }
}

/* The favoured thread keeps returning, and no other thread arrives. */
static void test_favoured_opens(void **state)
{
    (void) state;
    tsm_store(&mcs.gate.favoured, tsm_watch_me(), TSM_RELEASE);
    acquire_and_release(TSM_GATE_USES - 1);
    assert_int_equal(favoured(), tsm_watch_me());
    acquire_and_release(1);
    assert_int_equal(favoured(), 0);
}

/* The gate is closed, and then the threads fit on the processors: the gate opens, although others
 * queue, the lock stays taken and no quantum ends. */
typedef struct behind {
    TSM_ATOMIC(int) has_passed;
    uintptr_t favoured;                 /* when the thread before it had left the queue */
} behind_t;

static void *behind_main(void *arg)
{
    behind_t *behind = arg;
    tsm_mcs_node_t node;

    tsm_mcs_acquire(&mcs.gate.queue, &node);
    behind->favoured = favoured();
    tsm_mcs_release(&mcs.gate.queue, &node);
    tsm_store(&behind->has_passed, 1, TSM_RELEASE);
    return NULL;
}

static void test_opens_when_threads_fit(void **state)
{
    unit_line_t line = { .lock = &mcs_ops };
    behind_t behind = { 0, 1 };
    tsm_mcs_node_t first;
    pthread_t last;
    void *thread = begin(0);

    (void) state;
    frozen = 1;
    mcs_acquire(thread);
    for (int id = 0; id < 2; id++)
        unit_line_add(&line, id);
    unit_wait_until(favoured() != 0);
    unit_wait_until(tsm_load(&mcs.gate.waiting, TSM_ACQUIRE) == 2);
    tsm_mcs_acquire(&mcs.gate.queue, &first);
    unit_line_add(&line, 2);
    unit_wait_until(tsm_load(&mcs.gate.queue.tail, TSM_ACQUIRE) != &first);
    tsm_mcs_node_t *second = tsm_load(&mcs.gate.queue.tail, TSM_ACQUIRE);
    assert_int_equal(pthread_create(&last, NULL, behind_main, &behind), 0);
    unit_wait_until(tsm_load(&mcs.gate.queue.tail, TSM_ACQUIRE) != second);
    tsm_mcs_release(&mcs.gate.queue, &first);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(tsm_load(&behind.has_passed, TSM_ACQUIRE), 0);
        sched_yield();
    }
    assert_int_not_equal(favoured(), 0);
    tsm_load_override(0);
    unit_wait_until(tsm_load(&behind.has_passed, TSM_ACQUIRE));
    assert_int_equal(behind.favoured, 0);
    assert_int_equal(favoured(), 0);
    mcs_release(thread);
    unit_line_end(&line);
    pthread_join(last, NULL);
    tsm_load_override(1);
    frozen = 0;
    end(thread);
}

/* How often the head of the queue is overtaken: the favoured thread, a stranger, uses the lock once in
 * each look of the head, and each reading of the clock is a tenth of the quantum. */
static struct {
    uint64_t now;
    int overtaken;
} watch;

static uint64_t watch_clock(void)
{
    return watch.now += TSM_WATCH_QUANTUM_NS / 10;
}

static void watch_yield(void)
{
    watch.overtaken++;
    tsm_fetch_add(&mcs.gate.uses, 1, TSM_RELAXED);
}

static void watch_idle_yield(void)
{
    watch.overtaken++;
}

static void head_body(int id, void *arg)
{
    (void) id;
    staged_clock = watch_clock;
    staged_yield = arg ? watch_yield : watch_idle_yield;
    tsm_gate_queue_(&mcs.gate, NULL);
    staged_clock = NULL;
    staged_yield = NULL;
}

static void test_overtakes(void **state)
{
    (void) state;
    for (int busy = 0; busy < 2; busy++) {
        memset(&watch, 0, sizeof(watch));
        tsm_store(&mcs.gate.favoured, stranger(), TSM_RELEASE);
        unit_team(1, head_body, busy ? &watch : NULL);
        assert_int_equal(watch.overtaken, busy ? 9 : 1);
        assert_int_equal(favoured(), 0);        /* no thread queues behind it */
    }
}

/* It does not open the gate of a thread that became the favoured one after it. */
static void test_opens_in_its_own_name_only(void **state)
{
    (void) state;
    tsm_store(&mcs.gate.favoured, stranger(), TSM_RELEASE);
    tsm_store(&mcs.gate.uses, TSM_GATE_USES - 1, TSM_RELEASE);
    tsm_gate_use_(&mcs.gate);
    assert_int_equal(favoured(), stranger());
}

/* What a try does at a closed gate. */
static void test_try_at_the_gate(void **state)
{
    tsm_mcs_node_t node;
    void *thread = begin(0);

    (void) state;
    tsm_store(&mcs.gate.favoured, stranger(), TSM_RELEASE);
    assert_int_equal(mcs_try(thread), 1);       /* no thread queues */
    mcs_release(thread);
    tsm_mcs_acquire(&mcs.gate.queue, &node);
    assert_int_equal(mcs_try(thread), 0);
    tsm_store(&mcs.gate.favoured, tsm_watch_me(), TSM_RELEASE);
    assert_int_equal(mcs_try(thread), 1);
    mcs_release(thread);
    tsm_mcs_release(&mcs.gate.queue, &node);
    end(thread);
}

/* A low thread waits for a quantum while high ones queue at their gate; high threads never wait at the
 * low gate. */
static void test_priorities(void **state)
{
    unit_line_t line = { .lock = &both_ops };
    tsm_mcs_node_t low_node, high_node;
    void *thread = begin(0), *low = begin(1);

    (void) state;
    tsm_store(&lpw.gate_low.favoured, stranger(), TSM_RELEASE);
    tsm_mcs_acquire(&lpw.gate_low.queue, &low_node);
    assert_int_equal(both_try(thread), 1);
    both_release(thread);
    both_acquire(thread);
    both_release(thread);
    tsm_mcs_release(&lpw.gate_low.queue, &low_node);

    tsm_store(&lpw.gate_low.favoured, 0, TSM_RELEASE);
    tsm_store(&lpw.gate.favoured, stranger(), TSM_RELEASE);
    tsm_mcs_acquire(&lpw.gate.queue, &high_node);
    assert_int_equal(both_try(low), 0);
    frozen = 1;
    unit_line_add(&line, 1);
    unit_wait_until(tsm_gate_queued(&lpw.gate_low));
    for (int i = 0; i < 100; i++) {
        assert_int_equal(tsm_gate_queued(&lpw.gate_low), 1);
        sched_yield();
    }
    tsm_mcs_release(&lpw.gate.queue, &high_node);
    unit_line_end(&line);
    frozen = 0;
    end(thread);
    end(low);
}

/* A lock and its gate in the same memory. */
static void gated_init(void *arg)
{
    tsm_gated_ticket_init(arg);
}

static void gated_acquire(void *arg)
{
    tsm_gated_ticket_acquire(arg);
}

static void gated_release(void *arg)
{
    tsm_gated_ticket_release(arg);
}

static void test_last_user_frees(void **state)
{
    const unit_own_lock_t own = { sizeof(tsm_gated_ticket_t), gated_init, gated_acquire,
        gated_release
    };

    (void) state;
    unit_last_user_frees(&own);
}

#define TEST(name_, ops_) \
    { #ops_ ": " #name_, test_##name_, set_up, check_free, &ops_##_ops }
#define TESTS(ops_) \
    TEST(try, ops_), TEST(exclusion, ops_), TEST(exclusion_with_try, ops_), \
    TEST(come_and_go, ops_), TEST(held_at_any_step, ops_), TEST(idle_lock_is_taken, ops_)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(closes_and_opens, mcs), TEST(favoured_goes_away, mcs), TEST(favoured_opens, mcs),
        TEST(opens_when_threads_fit, mcs), TEST(overtakes, mcs),
        TEST(opens_in_its_own_name_only, mcs), TEST(try_at_the_gate, mcs), TEST(priorities, both),
        TEST(last_user_frees, ticket),
        TESTS(ticket), TEST(nobody_starves, ticket),
        TESTS(mcs), TEST(nobody_starves, mcs),
        TESTS(clh), TEST(nobody_starves, clh),
        TESTS(clh_lpw), TEST(nobody_starves, clh_lpw),
        TESTS(clh_lpw_low), TEST(nobody_starves, clh_lpw_low),
        TESTS(hmcs), TEST(nobody_starves, hmcs),
        TESTS(hyblock), TEST(nobody_starves, hyblock),
        TEST(exclusion, dsm_synch), TEST(nobody_starves, dsm_synch),
        TESTS(both),            /* not bounded: low threads may starve */
    };

    tsm_load_override(1);
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
