/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The adaptive lock. The load decides which of its two policies is in force, so a test relies on one
 * of them only where it sets the load. */

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

#define TSM_YIELD() yield()
#define TSM_NOW_NS() (staged_clock ? staged_clock() : unit_now())

static uint64_t unit_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

#include "lock/tsm_adaptive.h"

static tsm_adaptive_t lock = TSM_ADAPTIVE_INITIALIZER;

static void *begin(int id)
{
    (void) id;
    return NULL;
}

static void end(void *thread)
{
    (void) thread;
}

static void acquire(void *thread)
{
    (void) thread;
    tsm_adaptive_acquire(&lock);
}

static int try(void *thread)
{
    (void) thread;
    return tsm_adaptive_try(&lock);
}

static void release(void *thread)
{
    (void) thread;
    tsm_adaptive_release(&lock);
}

static const unit_lock_t ops = { begin, end, acquire, try, release };

static uint32_t word_state(void)
{
    return tsm_load(&lock.word, TSM_ACQUIRE) & TSM_ADAPTIVE_STATE;
}

/* No thread is left at the lock. */
static int check_free(void **state)
{
    (void) state;
    assert_int_equal(word_state(), 0);
    assert_int_equal(tsm_load(&lock.bell, TSM_ACQUIRE), TSM_ADAPTIVE_WAITING);
    assert_int_equal(tsm_load(&lock.queued, TSM_ACQUIRE), 0);
    unit_wait_until(tsm_load(&lock.queue.tail, TSM_ACQUIRE) == NULL);
    return 0;
}

static void test_try(void **state)
{
    (void) state;
    unit_try(&ops);
}

static void test_exclusion(void **state)
{
    (void) state;
    unit_exclusion(&ops, unit_acquire_body, 200000);
}

static void test_exclusion_with_try(void **state)
{
    (void) state;
    unit_exclusion(&ops, unit_mixed_body, 120000);
}

static void test_come_and_go(void **state)
{
    (void) state;
    unit_come_and_go(&ops);
}

static void add(unit_line_t *line, int id)
{
    tsm_mcs_node_t *before = tsm_load(&lock.queue.tail, TSM_ACQUIRE);

    unit_line_add(line, id);
    unit_wait_until(tsm_load(&lock.queue.tail, TSM_ACQUIRE) != before);
}

/* Threads that take the lock once each get it in the order in which they queued, few or many. */
static void test_queue_is_fifo(void **state)
{
    (void) state;
    for (int n = 1; n <= UNIT_LINE_MAX; n += 5) {
        unit_line_t line = { .lock = &ops };
        acquire(NULL);
        for (int id = 0; id < n; id++)
            add(&line, id);
        release(NULL);
        unit_line_end(&line);
        for (int id = 0; id < n; id++)
            assert_int_equal(line.order[id], id);
    }
}

/* Once the heir has claimed the lock, no thread overtakes it, and a sleeping heir is woken. */
static void test_claim(void **state)
{
    (void) state;
    for (int round = 0; round < 20; round++) {
        unit_line_t line = { .lock = &ops };
        acquire(NULL);
        for (int id = 0; id < 4; id++)
            add(&line, id);
        unit_wait_until(word_state() == TSM_ADAPTIVE_STATE);    /* held, claimed, asleep */
        if (round % 2)
            unit_wait_until(tsm_load(&lock.bell, TSM_ACQUIRE) == TSM_ADAPTIVE_PARKED);
        assert_int_equal(try(NULL), 0);
        release(NULL);
        acquire(NULL);                  /* behind all that wait, or at least behind the heir */
        release(NULL);
        unit_line_end(&line);
        for (int id = 0; id < 4; id++)
            assert_int_equal(line.order[id], id);
    }
}

/* A releaser stops between its fetch-and-add and the bell: no thread gets the lock, tries fail, and all
 * continue when it rings. */
static void test_stopped_before_bell(void **state)
{
    unit_line_t line = { .lock = &ops };

    (void) state;
    acquire(NULL);
    for (int id = 0; id < 3; id++)
        add(&line, id);
    unit_wait_until(tsm_load(&lock.bell, TSM_ACQUIRE) == TSM_ADAPTIVE_PARKED);
    tsm_fetch_add(&lock.word, TSM_ADAPTIVE_LEAVE, TSM_RELEASE);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(try(NULL), 0);
        assert_int_equal(word_state(), TSM_ADAPTIVE_CLAIMED | TSM_ADAPTIVE_ASLEEP);
        sched_yield();
    }
    add(&line, 3);
    tsm_wake_word(&lock.bell, TSM_ADAPTIVE_RUNG, TSM_ADAPTIVE_PARKED);
    unit_line_end(&line);
    for (int id = 0; id < 4; id++)
        assert_int_equal(line.order[id], id);
}

/* A thread that stops in the queue between its swap and its link delays the one before it, and is
 * the heir when it goes on. */
static void test_stopped_in_queue(void **state)
{
    unit_line_t line = { .lock = &ops };
    tsm_mcs_node_t stopped, *pred;
    uint32_t word;

    (void) state;
    acquire(NULL);
    add(&line, 0);
    tsm_store(&stopped.next, NULL, TSM_RELAXED);
    tsm_store(&stopped.status, TSM_MCS_WAITING, TSM_RELAXED);
    tsm_fetch_add(&lock.queued, 1, TSM_RELAXED);
    pred = tsm_swap(&lock.queue.tail, &stopped, TSM_ACQ_REL);
    release(NULL);
    for (int i = 0; i < 100; i++)
        sched_yield();
    tsm_store(&pred->next, &stopped, TSM_RELEASE);
    tsm_wait_word(&stopped.status, TSM_MCS_WAITING, TSM_MCS_PARKED, TSM_WAIT_PARK);
    unit_line_end(&line);
    word = tsm_load(&lock.word, TSM_ACQUIRE);
    assert_true(tsm_adaptive_take_(&lock, &stopped, &word));
    assert_int_equal(word_state(), TSM_ADAPTIVE_HELD);
    tsm_fetch_add(&lock.queued, -1, TSM_RELAXED);
    tsm_mcs_release(&lock.queue, &stopped);
    release(NULL);
}

/* An heir watches while others use the lock: at each of its yields, the test takes the lock so many
 * times and releases it on their behalf, and each look at the clock is a tenth of the quantum. So
 * the heir is overtaken a known number of times. */
#define TAKEN_A_LOOK 3

static struct {
    uint64_t now;
    int overtaken;
    int refused;
} watch;

static uint64_t watch_clock(void)
{
    return watch.now += TSM_WATCH_QUANTUM_NS / 10;
}

static void watch_yield(void)
{
    for (int i = 0; i < TAKEN_A_LOOK; i++) {
        int taken = tsm_adaptive_try(&lock);
        watch.overtaken += taken;
        watch.refused += !taken;
        if (taken)
            tsm_adaptive_release(&lock);
    }
}

/* Held by others for the whole of each look but its end. */
static void watch_held_yield(void)
{
    uint32_t word = tsm_load(&lock.word, TSM_ACQUIRE);

    if (word & TSM_ADAPTIVE_CLAIMED) {
        watch.refused++;
        release(NULL);
    } else {
        watch.overtaken++;
        release(NULL);
        assert_int_equal(try(NULL), 1);
    }
}

static void heir_body(int id, void *arg)
{
    (void) id;
    staged_clock = watch_clock;
    staged_yield = arg ? watch_held_yield : watch_yield;
    tsm_adaptive_queue_(&lock);
    staged_clock = NULL;
    staged_yield = NULL;
    tsm_adaptive_release(&lock);
}

static void test_bypass_is_bounded(void **state)
{
    (void) state;
    tsm_load_override(1);
    for (int held = 0; held < 2; held++) {
        memset(&watch, 0, sizeof(watch));
        acquire(NULL);
        if (!held) {
            /* it is free when the heir comes, and used again and again */
            release(NULL);
            tsm_fetch_add(&lock.queued, 1, TSM_RELAXED);        /* another one queues */
        }
        unit_team(1, heir_body, held ? &watch : NULL);
        if (!held)
            tsm_fetch_add(&lock.queued, -1, TSM_RELAXED);
        /* the quantum is 10 readings of the clock after the first, each but the last with a
         * yield */
        assert_int_equal(watch.overtaken, held ? 9 : 9 * TAKEN_A_LOOK);
        assert_int_equal(watch.refused > 0, held);
        assert_int_equal(word_state(), 0);
    }
    tsm_load_override(-1);
}

/* With room for all, no thread overtakes the queue: threads that try again and again get the lock after
 * the last of the queue, and not before. */
typedef struct hogging {
    TSM_ATOMIC(int) stop;
    TSM_ATOMIC(int) line_left;
    TSM_ATOMIC(int) overtakes;
    TSM_ATOMIC(int) taken;
} hogging_t;

static void *hog_main(void *arg)
{
    hogging_t *hogging = arg;

    while (!tsm_load(&hogging->stop, TSM_RELAXED)) {
        if (!try(NULL)) {
            sched_yield();
            continue;
        }
        tsm_fetch_add(&hogging->overtakes, tsm_load(&hogging->line_left, TSM_RELAXED) > 0,
                      TSM_RELAXED);
        tsm_fetch_add(&hogging->taken, 1, TSM_RELAXED);
        release(NULL);
    }
    return NULL;
}

static hogging_t *hogged;

static void line_acquire(void *thread)
{
    acquire(thread);
    tsm_fetch_add(&hogged->line_left, -1, TSM_RELAXED);
}

static void test_nobody_overtakes_the_queue(void **state)
{
    const unit_lock_t line_ops = { begin, end, line_acquire, try, release };
    const int n = 6;

    (void) state;
    tsm_load_override(0);
    for (int round = 0; round < 20; round++) {
        hogging_t hogging = { .line_left = n };
        unit_line_t line = { .lock = &line_ops };
        pthread_t hog[2];
        hogged = &hogging;
        acquire(NULL);
        for (int id = 0; id < n; id++)
            add(&line, id);
        unit_wait_until(word_state() & TSM_ADAPTIVE_CLAIMED);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&hog[i], NULL, hog_main, &hogging), 0);
        release(NULL);
        unit_line_end(&line);
        unit_wait_until(tsm_load(&hogging.taken, TSM_RELAXED) > 0);
        tsm_store(&hogging.stop, 1, TSM_RELAXED);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_join(hog[i], NULL), 0);
        for (int id = 0; id < n; id++)
            assert_int_equal(line.order[id], id);
        assert_int_equal(tsm_load(&hogging.overtakes, TSM_RELAXED), 0);
    }
    tsm_load_override(-1);
}

/* An idle lock goes to a waiter without the help of other threads: each thread holds the lock for long,
 * so that the others are all in the queue, and never returns at once. */
typedef struct slow {
    long rounds;
    long taken;
} slow_t;

static void slow_body(int id, void *arg)
{
    slow_t *slow = arg;

    (void) id;
    for (long i = 0; i < slow->rounds; i++) {
        acquire(NULL);
        slow->taken++;
        for (int k = 0; k < 20; k++)
            sched_yield();
        release(NULL);
        for (int k = 0; k < 20; k++)
            sched_yield();
    }
}

static void test_idle_lock_is_taken(void **state)
{
    (void) state;
    for (int n = 2; n <= 8; n *= 2) {
        slow_t slow = { .rounds = unit_scaled(400) };
        unit_team(n, slow_body, &slow);
        assert_int_equal(slow.taken, n * slow.rounds);
    }
}

static void own_init(void *own)
{
    tsm_adaptive_init(own);
}

static void own_acquire(void *own)
{
    tsm_adaptive_acquire(own);
}

static void own_release(void *own)
{
    tsm_adaptive_release(own);
}

static void test_last_user_frees(void **state)
{
    const unit_own_lock_t own = { sizeof(tsm_adaptive_t), own_init, own_acquire, own_release };

    (void) state;
    unit_last_user_frees(&own);
}

static void test_held_at_any_step(void **state)
{
    (void) state;
    unit_held(&ops);
}

static void release_without_acquire(void *arg)
{
    (void) arg;
    release(NULL);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(release_without_acquire, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_try, check_free),
        cmocka_unit_test_teardown(test_queue_is_fifo, check_free),
        cmocka_unit_test_teardown(test_claim, check_free),
        cmocka_unit_test_teardown(test_stopped_before_bell, check_free),
        cmocka_unit_test_teardown(test_stopped_in_queue, check_free),
        cmocka_unit_test_teardown(test_bypass_is_bounded, check_free),
        cmocka_unit_test_teardown(test_nobody_overtakes_the_queue, check_free),
        cmocka_unit_test_teardown(test_idle_lock_is_taken, check_free),
        cmocka_unit_test_teardown(test_last_user_frees, check_free),
        cmocka_unit_test_teardown(test_exclusion, check_free),
        cmocka_unit_test_teardown(test_exclusion_with_try, check_free),
        cmocka_unit_test_teardown(test_come_and_go, check_free),
        cmocka_unit_test_teardown(test_held_at_any_step, check_free),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("adaptive", tests, NULL, NULL);
}
