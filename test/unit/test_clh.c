/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The CLH lock, with tickets that announce and with tickets that do so only after a long wait. */

#include "unit_lock.h"

#include "lock/tsm_clh.h"

#include "unit_clh.h"

static tsm_clh_t lock;

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

static int set_up(void **state)
{
    uint32_t announce = **(const uint32_t **) state;

    memset(nodes, 0xa5, sizeof(nodes));
    assert_int_equal(tsm_clh_pool_init(&pool, nodes, CONTEXTS), 0);
    tsm_clh_init(&lock, &pool);
    tsm_store(&lock.announce, announce, TSM_RELAXED);
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    tsm_clh_destroy(&lock);
    tsm_clh_pool_destroy(&pool);
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

/* 4096 threads over the life of the lock, with contexts for 16 at a time. */
static void test_many_come_and_go(void **state)
{
    unit_guarded_t g = { .lock = &ops, .rounds = 3 };
    tsm_clh_context_t spare[CONTEXTS - 16];

    (void) state;
    for (int i = 0; i < CONTEXTS - 16; i++)
        assert_int_equal(tsm_clh_context_init(&spare[i], &pool), 0);
    for (int batch = 0; batch < 256; batch++)
        unit_team(16, batch % 2 ? unit_acquire_body : unit_mixed_body, &g);
    assert_int_equal(g.broken, 0);
    assert_int_equal(g.first, 4096 * g.rounds);
    for (int i = 0; i < CONTEXTS - 16; i++)
        tsm_clh_context_end(&spare[i]);
}

/* Atomic accesses that a call makes: each may be the one before which a thread is held. */
#define ACCESSES(call_) (unit_hold_in = 1000, (void) (call_), 1000 - unit_hold_in)

#ifdef NDEBUG
#define FOR_ASSERTIONS 0
#else
#define FOR_ASSERTIONS 1
#endif

static void test_bounded(void **state)
{
    /* an announcement counts itself down, and its release exchanges */
    const int counts = **(const uint32_t **) state ? 2 : 0, exchanges = counts / 2;
    tsm_clh_context_t *x = begin(0), *y = begin(1);

    assert_int_equal(ACCESSES(acquire(x)), 3 + counts + FOR_ASSERTIONS);
    assert_int_equal(ACCESSES(try(y)), 3 + FOR_ASSERTIONS);
    assert_int_equal(ACCESSES(release(x)), 1 + exchanges + FOR_ASSERTIONS);
    assert_int_equal(ACCESSES(try(y)), 4 + counts + FOR_ASSERTIONS);
    unit_hold_in = 0;
    release(y);
    end(x);
    end(y);
}

/* A node stays with its context, and goes on counting with the next one. */
static void test_sequence_goes_on(void **state)
{
    tsm_clh_context_t *x = begin(0), *other = begin(1);
    const tsm_clh_node_t *node = x->node;
    uint64_t last = 0;

    (void) state;
    for (int i = 0; i < 9; i++) {
        assert_ptr_equal(x->node, node);
        assert_true(x->ticket == last || i == 0);
        acquire(x);
        assert_true(x->ticket > last);
        assert_false(tsm_clh_has_waiter(&lock, x));
        assert_int_equal(try(other), 0);
        last = x->ticket;
        release(x);
        end(x);
        x = begin(0);           /* the last node that was given back */
        assert_int_equal(try(other), 1);
        release(other);
    }
    end(x);
    end(other);
}

/* One context for many locks, several contexts of a thread, locks released in any order. */
static void test_many_locks(void **state)
{
    tsm_clh_t many[9];
    tsm_clh_context_t *x = begin(0), *y = begin(1), *z = begin(2);

    (void) state;
    for (int i = 0; i < 9; i++)
        tsm_clh_init(&many[i], &pool);
    for (int i = 0; i + 1 < 9; i++) {
        tsm_clh_acquire(&many[i], x);
        tsm_clh_acquire(&many[i + 1], y);
        assert_int_equal(tsm_clh_try(&many[i], z), 0);
        tsm_clh_release(&many[i], x);
        assert_int_equal(tsm_clh_try(&many[i], z), 1);
        assert_int_equal(tsm_clh_try(&many[i + 1], x), 0);
        tsm_clh_release(&many[i + 1], y);
        tsm_clh_release(&many[i], z);
    }
    for (int i = 0; i < 9; i++)
        tsm_clh_destroy(&many[i]);
    end(x);
    end(y);
    end(z);
}

/* Each thread uses its own context with a lock that the last of them frees. */
static __thread tsm_clh_context_t own_context;

static void own_init(void *arg)
{
    tsm_clh_init(arg, &pool);
}

static void own_acquire(void *arg)
{
    if (tsm_clh_context_init(&own_context, &pool) != 0)
        abort();
    tsm_clh_acquire(arg, &own_context);
}

static void own_release(void *arg)
{
    tsm_clh_release(arg, &own_context);
    tsm_clh_context_end(&own_context);
}

static void test_last_user_frees(void **state)
{
    const unit_own_lock_t own = { sizeof(tsm_clh_t), own_init, own_acquire, own_release };

    (void) state;
    unit_last_user_frees(&own);
}

static void wait_for_tail_change(uint64_t before)
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
            uint64_t before = tsm_load(&lock.tail, TSM_ACQUIRE);
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

/* What tsm_clh_acquire does before it looks. */
static uint64_t swap_only(tsm_clh_context_t *context)
{
    context->ticket = tsm_clh_next_(&lock, context);
    return tsm_swap(&lock.tail, context->ticket, TSM_RELAXED);
}

/* A thread stops right after its swap: others queue behind it, tries fail, the holder's release does
 * not wait for it, and the holder may queue again. All continue when it does. */
static void test_stopped_after_swap(void **state)
{
    tsm_clh_context_t *holder = begin(0), *stopped = begin(1), *other = begin(2);
    unit_line_t line = { .lock = &ops };
    tsm_clh_t elsewhere;

    (void) state;
    tsm_clh_init(&elsewhere, &pool);
    acquire(holder);
    uint64_t before = holder->ticket, tail = swap_only(stopped);
    assert_true(tail == before);
    unit_line_add(&line, 7);
    wait_for_tail_change(stopped->ticket);
    release(holder);
    for (int i = 0; i < 100; i++) {
        tsm_clh_acquire(&elsewhere, holder);
        assert_int_equal(try(other), 0);
        tsm_clh_release(&elsewhere, holder);
        sched_yield();
    }
    assert_true(tsm_clh_released_(holder->node, tail));
    release(stopped);
    unit_line_end(&line);
    end(holder);
    end(stopped);
    end(other);
}

/* A thread stops in try between its load and its compare-and-swap, while others use the lock: the
 * tail that it saw does not repeat, whether the lock is held or free. */
static void test_stopped_in_try(void **state)
{
    tsm_clh_context_t *x = begin(0), *late = begin(1);

    (void) state;
    for (int i = 0; i < 20; i++) {
        uint64_t seen = tsm_load(&lock.tail, TSM_RELAXED), expected = seen;
        uint64_t ticket = tsm_clh_next_(&lock, late);
        for (int k = 0; k < i; k++) {
            acquire(x);
            expected = seen;
            assert_false(tsm_cas(&lock.tail, &expected, ticket, TSM_RELAXED, TSM_RELAXED));
            release(x);
            end(x);
            x = begin(0);       /* with the same node */
        }
        expected = seen;
        assert_true(tsm_cas(&lock.tail, &expected, ticket, TSM_RELAXED, TSM_RELAXED) == (i == 0));
        if (i > 0)
            continue;
        late->ticket = ticket;
        assert_int_equal(try(x), 0);
        release(late);
        assert_int_equal(try(x), 1);
        release(x);
    }
    end(x);
    end(late);
}

static void test_held_at_any_step(void **state)
{
    (void) state;
    unit_held(&ops);
}

/* ---- misuse ---- */

static tsm_clh_pool_t small;

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

static void end_twice(void *arg)
{
    (void) arg;
    tsm_clh_context_t context = { 0 };

    tsm_clh_context_init(&context, &pool);
    tsm_clh_context_end(&context);
    tsm_clh_context_end(&context);
}

static void acquire_after_end(void *arg)
{
    (void) arg;
    tsm_clh_context_t context = { 0 };

    tsm_clh_context_init(&context, &pool);
    tsm_clh_context_end(&context);
    acquire(&context);
}

static void try_with_foreign_context(void *arg)
{
    (void) arg;
    tsm_clh_node_t one[TSM_CLH_NODES(1)];
    tsm_clh_context_t context = { 0 };

    tsm_clh_pool_init(&small, one, 1);
    tsm_clh_context_init(&context, &small);
    try(&context);
}

static void destroy_pool_in_use(void *arg)
{
    (void) arg;
    begin(0);
    tsm_clh_pool_destroy(&pool);
}

static void acquire_at_the_end_of_the_sequence(void *arg)
{
    (void) arg;
    tsm_clh_context_t *context = begin(0);

    context->ticket |= ~(4 * pool.step - 1);
    tsm_store(&context->node->released, context->ticket, TSM_RELAXED);
    acquire(context);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(release_without_acquire, NULL);
    unit_aborts(acquire_twice, NULL);
    unit_aborts(destroy_held, NULL);
    unit_aborts(end_held, NULL);
    unit_aborts(end_twice, NULL);
    unit_aborts(acquire_after_end, NULL);
    unit_aborts(try_with_foreign_context, NULL);
    unit_aborts(destroy_pool_in_use, NULL);
    unit_aborts(acquire_at_the_end_of_the_sequence, NULL);
}

#define TEST(name_, kind_) \
    { #name_ ", " #kind_, test_##name_, set_up, tear_down, (void *) &kind_ }
#define TESTS(kind_) \
    TEST(bounded, kind_), TEST(sequence_goes_on, kind_), TEST(many_locks, kind_), \
    TEST(stopped_in_try, kind_), TEST(stopped_after_swap, kind_), TEST(try, kind_), \
    TEST(fifo, kind_), TEST(exclusion, kind_), TEST(exclusion_with_try, kind_), \
    TEST(come_and_go, kind_), TEST(many_come_and_go, kind_), TEST(last_user_frees, kind_), \
    TEST(held_at_any_step, kind_), TEST(misuse, kind_)

int main(void)
{
    static const uint32_t announcing = UINT32_MAX, silent = 0;
    const struct CMUnitTest tests[] = {
        TESTS(announcing), TESTS(silent),
    };
    return cmocka_run_group_tests_name("clh", tests, NULL, NULL);
}
