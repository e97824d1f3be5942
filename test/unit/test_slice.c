/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The extension of a time slice, with a kernel that the test plays: each thread has an area of its
 * own, and the test grants, revokes and counts system calls. */

#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic(int) has_area = 1;       /* of the C library */
static _Atomic(int) answer;             /* of prctl: 0, or an error */
static _Atomic(int) enabled;            /* threads that have enabled it */
static __thread int given_back;         /* system calls of the thread */

static struct tsm_slice_area *fake_area(void);
static int fake_enable(void);
static void fake_yield(void);

#define TSM_SLICE_AREA() fake_area()
#define TSM_SLICE_ENABLE() fake_enable()
#define TSM_SLICE_YIELD() fake_yield()

#include "tsm_slice.c"

static __thread tsm_slice_area_t mine = {.flags = TSM_SLICE_AVAILABLE };

static tsm_slice_area_t *fake_area(void)
{
    return has_area ? &mine : NULL;
}

static int fake_enable(void)
{
    if (answer != 0) {
        errno = answer;
        return -1;
    }
    enabled++;
    return 0;
}

/* The system call. The processor is given back, so the grant ends. */
static void fake_yield(void)
{
    given_back++;
    tsm_store(&mine.granted, 0, TSM_RELAXED);
}

static int requested(void)
{
    return tsm_load(&mine.request, TSM_RELAXED);
}

/* The time slice of the caller ends: the kernel grants more if the thread has asked. */
static int grant(void)
{
    int is_granted = requested();

    if (is_granted) {
        tsm_store(&mine.request, 0, TSM_RELAXED);
        tsm_store(&mine.granted, 1, TSM_RELAXED);
    }
    return is_granted;
}

/* The kernel takes the processor away from the caller. */
static void preempt(void)
{
    tsm_store(&mine.request, 0, TSM_RELAXED);
    tsm_store(&mine.granted, 0, TSM_RELAXED);
}

static int clean(void **state)
{
    (void) state;
    assert_int_equal(requested(), 0);
    assert_int_equal(tsm_load(&mine.granted, TSM_RELAXED), 0);
    assert_int_equal(self.depth, 0);
    memset(&self, 0, sizeof(self));
    tsm_slice_start(0);
    tsm_store(&mine.flags, TSM_SLICE_AVAILABLE, TSM_RELAXED);
    has_area = 1;
    answer = 0;
    enabled = 0;
    given_back = 0;
    return 0;
}

/* Nothing happens in a section. */
static void assert_absent(void)
{
    assert_int_equal(tsm_slice_supported(), 0);
    tsm_slice_begin();
    assert_int_equal(requested(), 0);
    assert_int_equal(grant(), 0);
    tsm_slice_end();
    assert_int_equal(enabled, 0);
    assert_int_equal(given_back, 0);
}

/* Not started, no area, a kernel that does not know it, one that has it switched off, not allowed. */
static void test_absent(void **state)
{
    (void) state;
    assert_absent();
    has_area = 0;
    assert_int_equal(tsm_slice_start(1), 0);
    assert_absent();
    has_area = 1;
    answer = EINVAL;
    assert_int_equal(tsm_slice_start(1), 0);
    assert_absent();
    answer = 524;                       /* ENOTSUPP */
    assert_int_equal(tsm_slice_start(1), 0);
    assert_absent();
    answer = 0;
    assert_int_equal(tsm_slice_start(0), 0);
    assert_absent();
}

/* Some kernels end a thread that enables what its flags do not offer. */
static void test_flags_come_first(void **state)
{
    (void) state;
    tsm_store(&mine.flags, ~TSM_SLICE_AVAILABLE, TSM_RELAXED);
    assert_int_equal(tsm_slice_start(1), 0);
    assert_absent();
}

static void test_requests(void **state)
{
    (void) state;
    assert_int_equal(tsm_slice_start(1), 1);
    assert_int_equal(tsm_slice_supported(), 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(requested(), 0);
        tsm_slice_begin();
        assert_int_equal(requested(), 1);
        tsm_slice_end();
        assert_int_equal(requested(), 0);
    }
    assert_int_equal(enabled, 1);
    assert_int_equal(given_back, 0);
}

/* One system call for a grant, none for one that has been revoked. */
static void test_granted(void **state)
{
    (void) state;
    tsm_slice_start(1);
    tsm_slice_begin();
    assert_int_equal(grant(), 1);
    tsm_slice_end();
    assert_int_equal(given_back, 1);
    tsm_slice_begin();
    tsm_slice_end();
    assert_int_equal(given_back, 1);
    tsm_slice_begin();
    assert_int_equal(grant(), 1);
    preempt();
    tsm_slice_end();
    assert_int_equal(given_back, 1);
    assert_int_equal(grant(), 0);
}

/* Only the outermost section asks, clears and given_back. */
static void test_nested(void **state)
{
    (void) state;
    tsm_slice_start(1);
    tsm_slice_begin();
    tsm_slice_begin();
    tsm_slice_begin();
    tsm_slice_end();
    assert_int_equal(requested(), 1);
    assert_int_equal(grant(), 1);
    tsm_slice_begin();
    assert_int_equal(requested(), 0);
    tsm_slice_end();
    tsm_slice_end();
    assert_int_equal(given_back, 0);
    tsm_slice_end();
    assert_int_equal(given_back, 1);
    assert_int_equal(requested(), 0);
}

/* An end without a begin, as after a start in between, changes nothing. */
static void test_end_alone(void **state)
{
    (void) state;
    tsm_slice_begin();
    tsm_slice_start(1);
    tsm_slice_end();
    assert_int_equal(self.depth, 0);
    tsm_slice_begin();
    assert_int_equal(requested(), 1);
    tsm_slice_end();
}

/* A program that has asked itself, for a section that it calls us from, goes on asking. */
static void test_request_of_the_program(void **state)
{
    (void) state;
    tsm_slice_start(1);
    tsm_store(&mine.request, 1, TSM_RELAXED);
    tsm_slice_begin();
    tsm_slice_end();
    assert_int_equal(requested(), 1);
    grant();
    tsm_slice_begin();
    assert_int_equal(requested(), 0);
    tsm_slice_end();
    assert_int_equal(given_back, 0);
    assert_int_equal(tsm_load(&mine.granted, TSM_RELAXED), 1);
    fake_yield();
    tsm_slice_begin();
    assert_int_equal(requested(), 1);
    tsm_slice_end();
}

typedef struct late {
    _Atomic(int) wrong;
    int sections;
} late_t;

static void late_body(int id, void *arg)
{
    late_t *late = arg;
    int granted = 0;

    for (int i = 0; i < late->sections; i++) {
        late->wrong += requested() != 0;
        tsm_slice_begin();
        late->wrong += requested() != 1;
        if (i % 3 == id % 3)
            granted += grant();
        tsm_slice_end();
    }
    late->wrong += requested() != 0 || given_back != granted;
}

/* Each thread enables the extension for itself, once, and has its own grants. */
static void test_threads(void **state)
{
    late_t late = { 0, (int) unit_scaled(300) };

    (void) state;
    tsm_slice_start(1);
    for (size_t i = 0; i < UNIT_TEAM_SIZES; i++) {
        enabled = 0;
        unit_team(unit_team_sizes[i], late_body, &late);
        assert_int_equal(enabled, unit_team_sizes[i]);
    }
    assert_int_equal(late.wrong, 0);
}

static void refused_body(int id, void *arg)
{
    int *wrong = arg;

    (void) id;
    tsm_slice_begin();
    *wrong += requested();
    tsm_slice_begin();
    *wrong += requested();
    tsm_slice_end();
    tsm_slice_end();
    *wrong += given_back + (int) self.depth;
}

/* A thread for which the kernel refuses goes without; it asks the kernel once. */
static void test_refused_later(void **state)
{
    int wrong = 0;

    (void) state;
    tsm_slice_start(1);
    answer = ENXIO;
    unit_team(1, refused_body, &wrong);
    assert_int_equal(wrong, 0);
    assert_int_equal(enabled, 1);
    tsm_slice_begin();
    assert_int_equal(requested(), 1);
    tsm_slice_end();
}

/* The child has the registration and the thread-local variables of the thread that forks. */
static void test_fork(void **state)
{
    int status;

    (void) state;
    tsm_slice_start(1);
    tsm_slice_begin();
    pid_t child = fork();
    if (child == 0) {
        int wrong = requested() != 1;
        grant();
        tsm_slice_end();
        wrong += given_back != 1 || requested() != 0;
        tsm_slice_begin();
        wrong += requested() != 1 || enabled != 1;
        tsm_slice_end();
        _exit(wrong || requested() != 0);
    }
    tsm_slice_end();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(given_back, 0);
}

static void test_errno(void **state)
{
    (void) state;
    errno = 77;
    answer = EINVAL;
    tsm_slice_start(1);
    answer = 0;
    tsm_slice_start(1);
    tsm_slice_begin();
    grant();
    tsm_slice_end();
    assert_int_equal(errno, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_absent, clean),
        cmocka_unit_test_teardown(test_flags_come_first, clean),
        cmocka_unit_test_teardown(test_requests, clean),
        cmocka_unit_test_teardown(test_granted, clean),
        cmocka_unit_test_teardown(test_nested, clean),
        cmocka_unit_test_teardown(test_end_alone, clean),
        cmocka_unit_test_teardown(test_request_of_the_program, clean),
        cmocka_unit_test_teardown(test_threads, clean),
        cmocka_unit_test_teardown(test_refused_later, clean),
        cmocka_unit_test_teardown(test_fork, clean),
        cmocka_unit_test_teardown(test_errno, clean),
    };

    return cmocka_run_group_tests_name("slice", tests, NULL, NULL);
}
