/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The CLH-LPW lock with its two priorities. */

#include "unit_lock.h"

/* More than the high threads that a test lets in before a low one. */
#define TSM_CLH_LPW_RUN 6
#include "lock/tsm_clh_lpw.h"

#include "unit_clh.h"

static tsm_clh_lpw_t lock;

static void acquire(void *thread)
{
    tsm_clh_lpw_acquire(&lock, thread);
}

static int try(void *thread)
{
    return tsm_clh_lpw_try(&lock, thread);
}

static void release(void *thread)
{
    tsm_clh_lpw_release(&lock, thread);
}

static void acquire_low(void *thread)
{
    tsm_clh_lpw_acquire_low(&lock, thread);
}

static int try_low(void *thread)
{
    return tsm_clh_lpw_try_low(&lock, thread);
}

static void release_low(void *thread)
{
    tsm_clh_lpw_release_low(&lock, thread);
}

static const unit_lock_t high = { begin, end, acquire, try, release };
static const unit_lock_t low = { begin, end, acquire_low, try_low, release_low };

/* A thread that changes its priority from one acquisition to the next. */
typedef struct changing {
    tsm_clh_context_t *context;
    unsigned turn;
    int low;
} changing_t;

static void *begin_changing(int id)
{
    changing_t *changing = malloc(sizeof(*changing));

    *changing = (changing_t) { .context = begin(id), .turn = (unsigned) id };
    return changing;
}

static void end_changing(void *thread)
{
    end(((changing_t *) thread)->context);
    free(thread);
}

static int next_is_low(changing_t *changing)
{
    changing->low = changing->turn++ % 3 == 0;
    return changing->low;
}

static void acquire_changing(void *thread)
{
    changing_t *changing = thread;

    if (next_is_low(changing))
        acquire_low(changing->context);
    else
        acquire(changing->context);
}

static int try_changing(void *thread)
{
    changing_t *changing = thread;

    return next_is_low(changing) ? try_low(changing->context) : try(changing->context);
}

static void release_changing(void *thread)
{
    changing_t *changing = thread;

    if (changing->low)
        release_low(changing->context);
    else
        release(changing->context);
}

static const unit_lock_t both = {
    begin_changing, end_changing, acquire_changing, try_changing, release_changing
};

static int setup(void **state)
{
    (void) state;
    if (tsm_clh_pool_init(&pool, nodes, CONTEXTS) != 0)
        return 1;
    tsm_clh_lpw_init(&lock, &pool);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    tsm_clh_lpw_destroy(&lock);
    tsm_clh_pool_destroy(&pool);
    return 0;
}

/* A held lock refuses tries of both priorities, whatever the holder's. */
static void test_try(void **state)
{
    void *holder = begin(0), *other = begin(1);

    (void) state;
    unit_try(&high);
    unit_try(&low);
    for (int by_low = 0; by_low < 2; by_low++) {
        assert_int_equal(by_low ? try_low(holder) : try(holder), 1);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(try(other), 0);
            assert_int_equal(try_low(other), 0);
        }
        if (by_low)
            release_low(holder);
        else
            release(holder);
    }
    end(holder);
    end(other);
}

static void test_exclusion(void **state)
{
    (void) state;
    unit_exclusion(&high, unit_acquire_body, 40000);
    unit_exclusion(&low, unit_acquire_body, 40000);
    unit_exclusion(&both, unit_acquire_body, 90000);
}

static void test_exclusion_with_try(void **state)
{
    (void) state;
    unit_exclusion(&both, unit_mixed_body, 90000);
}

static void test_come_and_go(void **state)
{
    (void) state;
    unit_come_and_go(&both);
}

static void add_high(unit_line_t *line, int id)
{
    uint64_t before = tsm_load(&lock.high.tail, TSM_ACQUIRE);

    unit_line_add(line, id);
    unit_wait_until(tsm_load(&lock.high.tail, TSM_ACQUIRE) != before);
}

static void add_low(unit_line_t *line, int id)
{
    uint64_t before = tsm_load(&lock.low.tail, TSM_ACQUIRE);

    unit_line_add(line, id);
    unit_wait_until(tsm_load(&lock.low.tail, TSM_ACQUIRE) != before);
}

/* Wait until this many threads are at the filter, the holder included. */
static void wait_for_filter(uint32_t threads)
{
    unit_wait_until(tsm_load(&lock.filter.next, TSM_ACQUIRE) -
                    tsm_load(&lock.filter.serving, TSM_ACQUIRE) == threads);
}

/* Both lines write to one log: two lines with the log in the first. */
static int log_order[UNIT_LINE_MAX];
static int log_length;

static void acquire_high_logged(void *thread)
{
    acquire(thread);
    log_order[log_length++] = 'H';
}

static void acquire_low_logged(void *thread)
{
    acquire_low(thread);
    log_order[log_length++] = 'L';
}

static const unit_lock_t high_logged = { begin, end, acquire_high_logged, try, release };
static const unit_lock_t low_logged = { begin, end, acquire_low_logged, try_low, release_low };

static void check_log(const char *expected)
{
    assert_int_equal(log_length, (int) strlen(expected));
    for (int i = 0; i < log_length; i++)
        assert_int_equal(log_order[i], expected[i]);
}

static void check_fifo(const unit_line_t *line)
{
    for (int i = 0; i < line->arrived; i++)
        assert_int_equal(line->order[i], i);
}

/* Held by high: low threads arrive, then high ones. They enter as in `order`, each kind in its own
 * order. */
static void check_order_behind_high(int n_low, int n_high, const char *order)
{
    void *holder = begin(0);

    for (long round = 0; round < unit_scaled(60); round++) {
        unit_line_t highs = { .lock = &high_logged }, lows = { .lock = &low_logged };
        log_length = 0;
        acquire(holder);
        for (int id = 0; id < n_low; id++)
            add_low(&lows, id);
        wait_for_filter(2);
        for (int id = 0; id < n_high; id++)
            add_high(&highs, id);
        release(holder);
        unit_line_end(&highs);
        unit_line_end(&lows);
        check_log(order);
        check_fifo(&highs);
        check_fifo(&lows);
    }
    end(holder);
}

static void test_high_goes_first(void **state)
{
    (void) state;
    check_order_behind_high(3, 4, "HHHHLLL");
}

/* A low thread does not wait for all high ones: the bound on a run counts the holder, too. */
static void test_run_is_bounded(void **state)
{
    (void) state;
    check_order_behind_high(1, 8, "HHHHHLHHH");
}

/* Held by low: a high thread waits for the holder, and not for the low threads behind it. */
static void test_low_holder_delays_high_once(void **state)
{
    void *holder = begin(0);

    (void) state;
    for (long round = 0; round < unit_scaled(60); round++) {
        unit_line_t highs = { .lock = &high_logged }, lows = { .lock = &low_logged };
        log_length = 0;
        acquire_low(holder);
        for (int id = 0; id < 3; id++)
            add_low(&lows, id);
        add_high(&highs, 0);
        wait_for_filter(2);
        add_high(&highs, 1);
        release_low(holder);
        unit_line_end(&highs);
        unit_line_end(&lows);
        check_log("HHLLL");
        check_fifo(&highs);
        check_fifo(&lows);
    }
    end(holder);
}

/* Low is served when no high thread waits, after any number of uses of the same high nodes: a stale
 * `next` would keep the filter. */
static void test_low_served_after_high(void **state)
{
    void *a = begin(0), *b = begin(1);

    (void) state;
    for (int i = 0; i < 20; i++) {
        unit_line_t highs = { .lock = &high };
        acquire(a);
        add_high(&highs, 0);
        release(a);
        unit_line_end(&highs);
        acquire(a);
        release(a);
        acquire(b);
        release(b);
        assert_int_equal(try_low(b), 1);
        release_low(b);
        acquire_low(a);
        release_low(a);
    }
    end(a);
    end(b);
}

/* Low threads that never stop do not keep a high one out; low ones get in once high ones stop. */
typedef struct storm {
    TSM_ATOMIC(int) highs;
    long rounds;
    long served;
} storm_t;

static void storm_body(int id, void *arg)
{
    storm_t *storm = arg;
    void *thread = begin(id);

    if (id % 4 == 0) {
        for (long i = 0; i < storm->rounds; i++) {
            acquire(thread);
            storm->served++;
            release(thread);
        }
        tsm_fetch_add(&storm->highs, -1, TSM_RELEASE);
    }
    while (tsm_load(&storm->highs, TSM_ACQUIRE) > 0) {
        acquire_low(thread);
        storm->served++;
        release_low(thread);
    }
    acquire_low(thread);
    storm->served++;
    release_low(thread);
    end(thread);
}

static void test_nobody_starves(void **state)
{
    storm_t storm = { .highs = 2, .rounds = unit_scaled(2000) };

    (void) state;
    unit_team(8, storm_body, &storm);
    assert_true(storm.served >= 2 * storm.rounds + 8);
}

/* A high thread that stops between its queue and the filter delays high ones only. */
static void test_stopped_before_filter(void **state)
{
    tsm_clh_context_t *stopped = begin(0), *other = begin(1);
    unit_line_t highs = { .lock = &high };

    (void) state;
    tsm_clh_acquire(&lock.high, stopped);
    assert_int_equal(lock.go_straight, 0);
    add_high(&highs, 0);
    for (int i = 0; i < 100; i++) {
        acquire_low(other);
        release_low(other);
        assert_int_equal(try(other), 0);
        assert_int_equal(try_low(other), 1);
        release_low(other);
    }
    tsm_ticket_acquire(&lock.filter);
    lock.go_straight = 1;
    assert_int_equal(try_low(other), 0);
    release(stopped);
    unit_line_end(&highs);
    end(stopped);
    end(other);
}

/* A high releaser stops after it has given back its queue: a high thread that arrives meanwhile has to
 * take the filter itself, and tries fail, but nobody gets in before the filter is free. */
static void test_stopped_in_release(void **state)
{
    tsm_clh_context_t *stopped = begin(0), *other = begin(1);
    unit_line_t highs = { .lock = &high };

    (void) state;
    acquire(stopped);
    assert_false(tsm_clh_has_waiter(&lock.high, stopped));
    lock.go_straight = 0;
    tsm_clh_release(&lock.high, stopped);
    assert_int_equal(try(other), 0);
    assert_int_equal(try_low(other), 0);
    add_high(&highs, 0);
    wait_for_filter(2);
    assert_int_equal(highs.served, 0);
    assert_int_equal(try(other), 0);
    tsm_ticket_release(&lock.filter);
    unit_line_end(&highs);
    end(stopped);
    end(other);
}

/* A try stops with the filter while a high thread has the queue: that one is served when the try has
 * given the filter back. */
static void test_stopped_in_try(void **state)
{
    tsm_clh_context_t *other = begin(0);
    unit_line_t highs = { .lock = &high };

    (void) state;
    assert_true(tsm_ticket_try(&lock.filter));
    add_high(&highs, 0);
    wait_for_filter(2);
    assert_int_equal(try(other), 0);
    assert_int_equal(try_low(other), 0);
    assert_int_equal(highs.served, 0);
    tsm_ticket_release(&lock.filter);
    unit_line_end(&highs);
    assert_int_equal(try(other), 1);
    release(other);
    end(other);
}

static void test_held_at_any_step(void **state)
{
    (void) state;
    unit_held(&high);
    unit_held(&both);
}

static void release_without_acquire(void *arg)
{
    (void) arg;
    release(begin(0));
}

static void release_low_for_high(void *arg)
{
    (void) arg;
    void *thread = begin(0);

    acquire(thread);
    release_low(thread);
}

static void release_high_for_low(void *arg)
{
    (void) arg;
    void *thread = begin(0);

    acquire_low(thread);
    release(thread);
}

static void acquire_twice(void *arg)
{
    (void) arg;
    void *thread = begin(0);

    acquire_low(thread);
    acquire(thread);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(release_without_acquire, NULL);
    unit_aborts(release_low_for_high, NULL);
    unit_aborts(release_high_for_low, NULL);
    unit_aborts(acquire_twice, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_high_goes_first),
        cmocka_unit_test(test_run_is_bounded),
        cmocka_unit_test(test_low_holder_delays_high_once),
        cmocka_unit_test(test_low_served_after_high),
        cmocka_unit_test(test_nobody_starves),
        cmocka_unit_test(test_stopped_before_filter),
        cmocka_unit_test(test_stopped_in_release),
        cmocka_unit_test(test_stopped_in_try),
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_exclusion_with_try),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_held_at_any_step),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("clh_lpw", tests, setup, teardown);
}
