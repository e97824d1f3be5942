/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The adaptive lock. Which of its two policies is at work depends on the processors that we have,
 * so nothing here relies on one of them but where the test makes sure. */

#include "unit_lock.h"

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

/* Nobody is left anywhere. */
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

/* Once the heir has claimed the lock, nobody overtakes it, and a sleeping heir is woken. */
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

/* A releaser that stops between its fetch-and-add and the bell: nobody gets the lock, tries fail,
 * and all goes on when it rings. */
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

/* Threads that never leave the lock alone do not keep one out that comes for it once. */
typedef struct hogging {
    TSM_ATOMIC(int) done;
    long taken;
} hogging_t;

static void hogging_body(int id, void *arg)
{
    hogging_t *hogging = arg;

    if (id == 0) {
        for (int i = 0; i < 20; i++) {
            acquire(NULL);
            hogging->taken++;
            release(NULL);
            sched_yield();
        }
        tsm_store(&hogging->done, 1, TSM_RELEASE);
    }
    while (!tsm_load(&hogging->done, TSM_ACQUIRE)) {
        acquire(NULL);
        hogging->taken++;
        release(NULL);
    }
}

static void test_bypass_is_bounded(void **state)
{
    (void) state;
    for (int n = 2; n <= 16; n *= 2) {
        hogging_t hogging = { .taken = 0 };
        unit_team(n, hogging_body, &hogging);
        assert_true(hogging.taken >= 20);
    }
}

/* A lock that nobody uses goes to a waiter without anybody's help: each thread holds it for long,
 * so that the others are all in the queue, and never comes back at once. */
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
