/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The extension of a time slice with the kernel and the C library of this machine, whether they have
 * it or not. */

#include "unit.h"

#include <errno.h>
#include <time.h>

#include "tsm_slice.h"
#include "tsm_wait.h"

#define SECTION_NS 2000

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

/* Many short sections, nested ones among them, and the end of a time slice in some. */
static void body(int id, void *arg)
{
    _Atomic(int) *wrong = arg;
    uint64_t end = cpu_ns() + (uint64_t) unit_scaled(100) * 100000u;

    (void) id;
    errno = 77;
    while (cpu_ns() < end) {
        uint64_t until = tsm_now_ns() + SECTION_NS;
        tsm_slice_begin();
        tsm_slice_begin();
        while (tsm_now_ns() < until)
            tsm_cpu_pause();
        tsm_slice_end();
        tsm_slice_end();
    }
    *wrong += errno != 77;
}

static void run_teams(void)
{
    _Atomic(int) wrong = 0;

    for (int n = 1; n <= 8; n += 7)
        unit_team(n, body, &wrong);
    assert_int_equal(wrong, 0);
}

static void test_on(void **state)
{
    (void) state;
    assert_int_equal(tsm_slice_start(1), tsm_slice_supported());
    print_message("this machine %s the extension\n", tsm_slice_supported() ? "has" : "lacks");
    run_teams();
}

static void test_off(void **state)
{
    (void) state;
    assert_int_equal(tsm_slice_start(0), 0);
    assert_int_equal(tsm_slice_supported(), 0);
    run_teams();
}

/* Without a grant, or without such a system call. */
static void test_yield_without_grant(void **state)
{
    (void) state;
    errno = 77;
    tsm_yield_slice();
    assert_int_equal(errno, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_yield_without_grant),
    };

    return cmocka_run_group_tests_name("slice here", tests, NULL, NULL);
}
