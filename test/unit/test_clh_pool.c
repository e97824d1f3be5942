/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The pool of CLH nodes: sizes, contexts that come and go, nodes at the end of their tickets. */

#include "unit.h"

#include <string.h>

#include "lock/tsm_clh.h"

static tsm_clh_pool_t small;
static tsm_clh_t lock;

static void test_sizes(void **state)
{
    const struct { uint32_t contexts; uint64_t step; } good[] =
        { { 1, 2 }, { 3, 4 }, { 4, 8 }, { 63, 64 }, { TSM_CLH_CONTEXTS_MAX, 65536 } };
    tsm_clh_node_t *many = malloc(sizeof(*many) * TSM_CLH_NODES(TSM_CLH_CONTEXTS_MAX));
    tsm_clh_context_t first, last = { 0 };

    (void) state;
    assert_int_equal(tsm_clh_pool_init(&small, many, 0), EINVAL);
    assert_int_equal(tsm_clh_pool_init(&small, many, TSM_CLH_CONTEXTS_MAX + 1), EINVAL);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(tsm_clh_pool_init(&small, many, good[i].contexts), 0);
        assert_true(small.step == good[i].step);
        assert_int_equal(tsm_clh_context_init(&first, &small), 0);
        tsm_clh_context_end(&first);
        tsm_clh_pool_destroy(&small);
    }
    /* the largest of all indexes */
    assert_int_equal(tsm_clh_pool_init(&small, many, TSM_CLH_CONTEXTS_MAX), 0);
    small.fresh = TSM_CLH_CONTEXTS_MAX;
    assert_int_equal(tsm_clh_context_init(&last, &small), 0);
    assert_int_equal(tsm_clh_context_init(&first, &small), EAGAIN);
    tsm_clh_init(&lock, &small);
    tsm_clh_acquire(&lock, &last);
    tsm_clh_release(&lock, &last);
    tsm_clh_destroy(&lock);
    tsm_clh_context_end(&last);
    tsm_clh_pool_destroy(&small);
    free(many);
}

static void test_exhaustion(void **state)
{
    tsm_clh_node_t few[TSM_CLH_NODES(3)];
    tsm_clh_context_t context[4];

    (void) state;
    assert_int_equal(tsm_clh_pool_init(&small, few, 3), 0);
    for (int round = 0; round < 9; round++) {
        for (int i = 0; i < 3; i++)
            assert_int_equal(tsm_clh_context_init(&context[i], &small), 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(tsm_clh_context_init(&context[3], &small), EAGAIN);
            tsm_clh_context_end(&context[i]);
            assert_int_equal(tsm_clh_context_init(&context[i], &small), 0);
        }
        for (int i = 0; i < 3; i++)
            tsm_clh_context_end(&context[(i + round) % 3]);
    }
    tsm_clh_pool_destroy(&small);
}

/* A node that has used half of its tickets is not used again. */
static void test_worn(void **state)
{
    tsm_clh_node_t few[TSM_CLH_NODES(3)];
    tsm_clh_context_t context;

    (void) state;
    assert_int_equal(tsm_clh_pool_init(&small, few, 3), 0);
    tsm_clh_init(&lock, &small);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tsm_clh_context_init(&context, &small), 0);
        assert_ptr_equal(context.node, &few[i + 1]);
        assert_false(tsm_clh_context_worn(&context));
        context.ticket += (UINT64_C(1) << 63) - 2 * context.step;
        tsm_store(&context.node->released, context.ticket, TSM_RELAXED);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(tsm_clh_context_worn(&context), k > 0);
            tsm_clh_acquire(&lock, &context);
            tsm_clh_release(&lock, &context);
        }
        tsm_clh_context_end(&context);
    }
    assert_int_equal(tsm_clh_context_init(&context, &small), EAGAIN);
    tsm_clh_destroy(&lock);
    tsm_clh_pool_destroy(&small);
}

/* Zeroed memory is not touched beyond the nodes that were used. */
static void test_zeroed(void **state)
{
    static tsm_clh_node_t few[TSM_CLH_NODES(3)];
    tsm_clh_context_t context[2];

    (void) state;
    assert_int_equal(tsm_clh_pool_init_zeroed(&small, few, 3), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tsm_clh_context_init(&context[i], &small), 0);
    tsm_clh_init(&lock, &small);
    for (int i = 0; i < 2; i++) {
        tsm_clh_acquire(&lock, &context[i]);
        tsm_clh_release(&lock, &context[i]);
        tsm_clh_context_end(&context[i]);
    }
    assert_int_equal(tsm_load(&few[3].released, TSM_RELAXED), 0);
    tsm_clh_destroy(&lock);
    tsm_clh_pool_destroy(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_exhaustion),
        cmocka_unit_test(test_worn),
        cmocka_unit_test(test_zeroed),
    };
    return cmocka_run_group_tests_name("clh_pool", tests, NULL, NULL);
}
