/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The CLH lock. */

#include "unit_lock.h"

#include "lock/tsm_clh.h"

static tsm_clh_t lock;

static tsm_clh_node_t *new_node(void)
{
    tsm_clh_node_t *node = malloc(sizeof(*node));

    memset(node, 0xa5, sizeof(*node));
    return node;
}

static void *begin(int id)
{
    tsm_clh_context_t *context = malloc(sizeof(*context));

    (void) id;
    tsm_clh_context_init(context, new_node());
    return context;
}

/* A thread that leaves frees the node that it has then, which others used before. */
static void end(void *thread)
{
    free(tsm_clh_context_end(thread));
    free(thread);
}

static void acquire(void *thread)
{
    tsm_clh_acquire(&lock, thread);
}

static int try(void *thread)
{
    return tsm_clh_try(&lock, thread);
}

static void release(void *thread)
{
    tsm_clh_release(&lock, thread);
}

static const unit_lock_t ops = { begin, end, acquire, try, release };

static int setup(void **state)
{
    (void) state;
    tsm_clh_init(&lock, new_node());
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    free(tsm_clh_destroy(&lock));
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
    unit_exclusion(&ops, unit_acquire_body, 90000);
}

static void test_exclusion_with_try(void **state)
{
    (void) state;
    unit_exclusion(&ops, unit_mixed_body, 90000);
}

static void test_come_and_go(void **state)
{
    (void) state;
    unit_come_and_go(&ops);
}

/* The nodes go round: after a release we own the node of the thread before us. */
static void test_node_exchange(void **state)
{
    tsm_clh_node_t a, b, first;
    tsm_clh_context_t x, y;
    tsm_clh_t l;

    (void) state;
    tsm_clh_init(&l, &first);
    tsm_clh_context_init(&x, &a);
    tsm_clh_context_init(&y, &b);
    for (int i = 0; i < 9; i++) {
        tsm_clh_node_t *x_had = x.node, *y_had = y.node, *lock_had = NULL;
        tsm_clh_acquire(&l, &x);
        assert_false(tsm_clh_has_waiter(&l, &x));
        lock_had = x.pred;
        assert_int_equal(tsm_clh_try(&l, &y), 0);
        assert_ptr_equal(tsm_clh_context_end(&y), y_had);
        tsm_clh_release(&l, &x);
        assert_ptr_equal(tsm_clh_context_end(&x), lock_had);
        assert_int_equal(tsm_clh_try(&l, &y), 1);
        tsm_clh_release(&l, &y);
        assert_ptr_equal(tsm_clh_context_end(&y), x_had);
        assert_ptr_equal(tsm_clh_destroy(&l), y_had);
    }
}

static void wait_for_tail_change(uintptr_t before)
{
    unit_wait_until(tsm_load(&lock.tail, TSM_ACQUIRE) != before);
}

static void test_fifo(void **state)
{
    void *thread = begin(0);

    (void) state;
    for (long round = 0; round < unit_scaled(40); round++) {
        unit_line_t line = { .lock = &ops };
        acquire(thread);
        for (int id = 0; id < UNIT_LINE_MAX; id++) {
            uintptr_t before = tsm_load(&lock.tail, TSM_ACQUIRE);
            unit_line_add(&line, id);
            wait_for_tail_change(before);
        }
        assert_true(tsm_clh_has_waiter(&lock, thread));
        release(thread);
        unit_line_end(&line);
        for (int id = 0; id < UNIT_LINE_MAX; id++)
            assert_int_equal(line.order[id], id);
    }
    end(thread);
}

/* A thread that stops right after its swap: others queue behind it, tries fail, the holder's
 * release does not wait for it, and all goes on when it does. */
static void test_stopped_after_swap(void **state)
{
    tsm_clh_context_t *holder = begin(0), *stopped = begin(1), *other = begin(2);
    unit_line_t line = { .lock = &ops };
    uintptr_t tail;

    (void) state;
    tsm_clh_acquire(&lock, holder);
    tsm_store(&stopped->node->status, TSM_CLH_WAITING, TSM_RELAXED);
    tail = tsm_swap(&lock.tail, (uintptr_t) stopped->node, TSM_ACQ_REL);
    assert_true(tail == (uintptr_t) holder->node);
    unit_line_add(&line, 7);
    wait_for_tail_change((uintptr_t) stopped->node);
    tsm_clh_release(&lock, holder);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(tsm_clh_try(&lock, other), 0);
        sched_yield();
    }
    stopped->pred = (tsm_clh_node_t *) tail;
    assert_int_equal(tsm_load(&stopped->pred->status, TSM_ACQUIRE), TSM_CLH_GRANTED);
    tsm_clh_release(&lock, stopped);
    unit_line_end(&line);
    end(holder);
    end(stopped);
    end(other);
}

/* A thread that stops in try between its look and its compare-and-swap, while the node that it saw
 * goes round and is the tail again: held, it must fail; free, it may succeed. */
static void test_stopped_in_try(void **state)
{
    tsm_clh_node_t a, b, first;
    tsm_clh_context_t x, late;
    tsm_clh_t l;

    (void) state;
    tsm_clh_init(&l, &first);
    tsm_clh_context_init(&x, &a);
    tsm_clh_context_init(&late, &b);
    uintptr_t seen = tsm_load(&l.tail, TSM_RELAXED), expected = seen;
    tsm_clh_acquire(&l, &x);
    tsm_clh_release(&l, &x);
    tsm_clh_acquire(&l, &x);            /* with `first`, which late saw */
    assert_true((tsm_load(&l.tail, TSM_RELAXED) | TSM_CLH_FREE) == seen);
    assert_false(tsm_cas(&l.tail, &expected, (uintptr_t) late.node, TSM_ACQ_REL, TSM_RELAXED));
    tsm_clh_release(&l, &x);
    expected = seen;
    tsm_store(&late.node->status, TSM_CLH_WAITING, TSM_RELAXED);
    assert_true(tsm_cas(&l.tail, &expected, (uintptr_t) late.node, TSM_ACQ_REL, TSM_RELAXED));
    late.pred = (tsm_clh_node_t *) (expected & ~TSM_CLH_FREE);
    assert_int_equal(tsm_clh_try(&l, &x), 0);
    tsm_clh_release(&l, &late);
    assert_int_equal(tsm_clh_try(&l, &x), 1);
    tsm_clh_release(&l, &x);
}

static void test_held_at_any_step(void **state)
{
    (void) state;
    unit_held(&ops);
}

static void release_without_acquire(void *arg)
{
    (void) arg;
    release(begin(0));
}

static void acquire_twice(void *arg)
{
    (void) arg;
    void *thread = begin(0);

    acquire(thread);
    acquire(thread);
}

static void destroy_held(void *arg)
{
    (void) arg;
    acquire(begin(0));
    tsm_clh_destroy(&lock);
}

static void end_held(void *arg)
{
    (void) arg;
    void *thread = begin(0);

    acquire(thread);
    end(thread);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(release_without_acquire, NULL);
    unit_aborts(acquire_twice, NULL);
    unit_aborts(destroy_held, NULL);
    unit_aborts(end_held, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_exchange),
        cmocka_unit_test(test_stopped_in_try),
        cmocka_unit_test(test_stopped_after_swap),
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_fifo),
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_exclusion_with_try),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_held_at_any_step),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("clh", tests, setup, teardown);
}
