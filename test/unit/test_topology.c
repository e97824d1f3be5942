/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* tsm_topology.h, and what waiting makes of a single processor. */

#include "unit.h"

#include <errno.h>

#include "tsm_topology.h"
#include "tsm_wait.h"

static void test_grows_from_nothing(void **state)
{
    (void) state;
    errno = 77;
    int count = tsm_cpus_query_(0);     /* no room at all: the mask has to grow */
    assert_true(count >= 1);
    assert_int_equal(count, tsm_cpus_query_(1024));
    assert_int_equal(count, tsm_cpus_query_(8192));
    assert_int_equal(errno, 77);
}

static void ask_body(int id, void *arg)
{
    int *answer = arg;

    answer[id] = tsm_cpus_allowed();
}

/* First call of all: by many threads at once, with one processor allowed. */
static void test_single_processor(void **state)
{
    cpu_set_t all, one;
    int answer[8], cpu = 0;

    (void) state;
    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        skip();                         /* more processors than a cpu_set_t has room for */
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    unit_team(8, ask_body, answer);
    for (int i = 0; i < 8; i++)
        assert_int_equal(answer[i], 1);
    assert_int_equal(tsm_wait_begin(TSM_WAIT_PARK).spins, 0);

    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    assert_int_equal(tsm_cpus_query_(0), CPU_COUNT(&all));
    assert_int_equal(tsm_cpus_allowed(), 1);            /* asked once only */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_processor),
        cmocka_unit_test(test_grows_from_nothing),
    };
    return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
