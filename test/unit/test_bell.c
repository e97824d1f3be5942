/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* tsm_bell.h: no ring is lost, and a sleep without a ring ends. */

#include "unit.h"

#include "tsm_bell.h"

#define POSTS 2000
#define AN_HOUR (3600 * UINT64_C(1000000000))

typedef struct office {
    tsm_bell_t bell;
    TSM_ATOMIC(uint32_t) posted;
    uint32_t goal;
} office_t;

/* Sleeps whenever there is nothing new, for so long that a lost ring hangs the test. */
static void serve(office_t *office)
{
    uint32_t done = 0;

    while (done != office->goal) {
        tsm_bell_arm(&office->bell);
        if (tsm_load(&office->posted, TSM_SEQ_CST) == done)
            tsm_bell_sleep(&office->bell, AN_HOUR);
        tsm_bell_disarm(&office->bell);
        done = tsm_load(&office->posted, TSM_ACQUIRE);
    }
}

static void body(int id, void *arg)
{
    office_t *office = arg;

    if (id == 0) {
        serve(office);
        return;
    }
    for (int i = 0; i < POSTS; i++) {
        tsm_fetch_add(&office->posted, 1, TSM_SEQ_CST);
        tsm_bell_ring(&office->bell);
        if (i % 16 == 0)
            sched_yield();
    }
}

static void test_each_ring_wakes(void **state)
{
    (void) state;
    for (size_t s = 1; s < UNIT_TEAM_SIZES; s++) {
        office_t office;
        int n = unit_team_sizes[s];
        tsm_bell_init(&office.bell);
        tsm_store(&office.posted, 0, TSM_RELAXED);
        office.goal = (uint32_t) (n - 1) * POSTS;
        unit_team(n, body, &office);
        assert_int_equal(tsm_load(&office.posted, TSM_RELAXED), office.goal);
    }
}

static void test_ring_of_an_awake_server(void **state)
{
    tsm_bell_t bell;

    (void) state;
    tsm_bell_init(&bell);
    tsm_bell_ring(&bell);
    assert_int_equal(tsm_load(&bell.state, TSM_RELAXED), TSM_BELL_AWAKE);
    tsm_bell_arm(&bell);
    tsm_bell_ring(&bell);
    assert_int_equal(tsm_load(&bell.state, TSM_RELAXED), TSM_BELL_AWAKE);
    tsm_bell_sleep(&bell, AN_HOUR);     /* rung already: returns */
}

static void test_sleep_ends_without_a_ring(void **state)
{
    tsm_bell_t bell;

    (void) state;
    tsm_bell_init(&bell);
    tsm_bell_arm(&bell);
    tsm_bell_sleep(&bell, 1000000);
    assert_int_equal(tsm_load(&bell.state, TSM_RELAXED), TSM_BELL_ARMED);
    tsm_bell_disarm(&bell);
    assert_int_equal(tsm_load(&bell.state, TSM_RELAXED), TSM_BELL_AWAKE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_ring_wakes),
        cmocka_unit_test(test_ring_of_an_awake_server),
        cmocka_unit_test(test_sleep_ends_without_a_ring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
