/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Copies past the caches: every size and alignment, and not a byte beside; and a thread that gets one
 * by a release has all of it. */

#include "unit.h"

#include <sched.h>
#include <string.h>

#include "tsm_copy.h"

#define SIZES 400
#define LARGE 70000
#define ROOM (LARGE + 3 * TSM_CACHELINE)

static unsigned char from[ROOM] TSM_ALIGNED, to[ROOM] TSM_ALIGNED, expected[ROOM];

static void copy(size_t to_at, size_t from_at, size_t size)
{
    memset(to, 0xa5, sizeof(to));
    memset(expected, 0xa5, sizeof(expected));
    memcpy(expected + to_at, from + from_at, size);
    tsm_copy_away(to + to_at, from + from_at, size);
    assert_memory_equal(to, expected, sizeof(to));
}

static void test_sizes(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (unsigned char) (i * 131 + i / 251);
    for (size_t size = 0; size < SIZES; size++)
        copy(size % 67, size % 61, size);
    for (size_t at = 0; at <= TSM_CACHELINE; at++) {
        copy(at, 0, 3 * TSM_CACHELINE);
        copy(0, at, 3 * TSM_CACHELINE);
    }
    copy(48, 16, LARGE);
    copy(1, 2, LARGE - 1);
}

/* One thread hands lines over, the other checks them and hands the place back. */
typedef struct pass {
    TSM_ATOMIC(uint64_t) full TSM_ALIGNED;
    TSM_ATOMIC(uint64_t) empty TSM_ALIGNED;
    uint64_t rounds;
    uint64_t place[1024] TSM_ALIGNED;
    TSM_ATOMIC(long) wrong;
} pass_t;

static void pass_on(pass_t *pass)
{
    uint64_t data[1024];

    for (uint64_t i = 1; i <= pass->rounds; i++) {
        for (size_t k = 0; k < 1024; k++)
            data[k] = i + k;
        while (tsm_load(&pass->empty, TSM_ACQUIRE) != i - 1)
            sched_yield();
        tsm_copy_away(pass->place, data, sizeof(data));
        tsm_store(&pass->full, i, TSM_RELEASE);
    }
}

static void take_over(pass_t *pass)
{
    for (uint64_t i = 1; i <= pass->rounds; i++) {
        while (tsm_load(&pass->full, TSM_ACQUIRE) != i)
            sched_yield();
        for (size_t k = 1024; k-- > 0;) {       /* the last that was written first */
            if (pass->place[k] != i + k)
                tsm_fetch_add(&pass->wrong, 1, TSM_RELAXED);
        }
        tsm_store(&pass->empty, i, TSM_RELEASE);
    }
}

static void pass_body(int id, void *arg)
{
    if (id == 0)
        pass_on(arg);
    else
        take_over(arg);
}

static void test_pass(void **state)
{
    static pass_t pass;

    (void) state;
    pass.rounds = (uint64_t) unit_scaled(20000);
    unit_team(2, pass_body, &pass);
    assert_int_equal(tsm_load(&pass.wrong, TSM_RELAXED), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_pass),
    };
    return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
