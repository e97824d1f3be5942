/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The targets of a window (src/ch4/transport/targets.h): of threads that add the same rank one wins,
 * all find its target, and nothing is freed twice or never. */

#include "unit.h"

#include "tsm_atomic.h"

static TSM_ATOMIC(long) allocated;

static void *count_alloc(size_t n, size_t size)
{
    tsm_fetch_add(&allocated, 1, TSM_RELAXED);
    return calloc(n, size);
}

static void count_free(void *p)
{
    if (p)
        tsm_fetch_add(&allocated, -1, TSM_RELAXED);
    free(p);
}

#define MPL_MEM_RMA 0
#define MPL_calloc(n_, size_, class_) count_alloc(n_, size_)
#define MPL_free count_free
#define MPIR_Assert(true_) do { if (!(true_)) abort(); } while (0)
#define MPL_STATIC_INLINE_PREFIX static inline

#include "../../src/ch4/transport/targets.h"

#define RANKS 200                       /* four blocks, the last one not full */
#define THREADS 8

typedef struct {
    int rank;
    long data;                          /* plain: a target that is found must be complete */
} target_t;

static MPIDI_targets_t targets;
static target_t *seen[THREADS][RANKS];

static target_t *get(int rank)
{
    target_t *target = MPIDI_targets_find(&targets, rank);

    if (target)
        return target;
    target = count_alloc(1, sizeof(*target));
    target->rank = rank;
    target->data = 7 * rank;
    return MPIDI_targets_add(&targets, RANKS, rank, target);
}

static void body(int id, void *arg)
{
    (void) arg;
    for (int i = 0; i < RANKS; i++) {
        int rank = (i + id / 2 * 50) % RANKS;
        seen[id][rank] = get(rank);
        if (seen[id][rank]->rank != rank || seen[id][rank]->data != 7 * rank)
            abort();
    }
}

static void check_seen(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        for (int id = 0; id < THREADS; id++)
            assert_ptr_equal(seen[id][rank], MPIDI_targets_find(&targets, rank));
    }
}

static void test_one_wins(void **state)
{
    (void) state;
    for (long round = 0; round < unit_scaled(300); round++) {
        unit_team(THREADS, body, NULL);
        check_seen();
        assert_int_equal(tsm_load(&allocated, TSM_RELAXED), RANKS + 4 + 1);
        MPIDI_targets_free_all(&targets);
        assert_int_equal(tsm_load(&allocated, TSM_RELAXED), 4 + 1);
        MPIDI_targets_destroy(&targets);
        assert_int_equal(tsm_load(&allocated, TSM_RELAXED), 0);
    }
}

static void test_alone(void **state)
{
    (void) state;
    assert_null(MPIDI_targets_find(&targets, 0));
    MPIDI_targets_free_all(&targets);
    for (int rank = 0; rank < RANKS; rank += 63)
        get(rank);
    assert_null(MPIDI_targets_find(&targets, 1));
    assert_null(MPIDI_targets_find(&targets, RANKS - 1));
    MPIDI_targets_remove(&targets, 63);
    assert_null(MPIDI_targets_find(&targets, 63));
    assert_int_equal(get(63)->rank, 63);
    assert_int_equal(get(126)->rank, 126);
    MPIDI_targets_free_all(&targets);
    MPIDI_targets_destroy(&targets);
    assert_null(MPIDI_targets_find(&targets, 63));
    assert_int_equal(tsm_load(&allocated, TSM_RELAXED), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_one_wins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
