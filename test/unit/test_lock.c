/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The lock interface of tsm_lock.h; built once for each TSM_LOCK_KIND. */

#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock/tsm_lock.h"

/* Two plain counters that only mutual exclusion keeps equal. */
typedef struct guarded {
    tsm_lock_t lock;
    long first;
    long second;
    long broken;
} guarded_t;

static void guarded_init(guarded_t *g)
{
    memset(g, 0, sizeof(*g));
    assert_int_equal(tsm_lock_init(&g->lock), 0);
}

/* Call with the lock held. */
static void guarded_bump(guarded_t *g)
{
    if (g->first != g->second)
        g->broken++;
    g->first++;
    if (g->first % 64 == 0)
        sched_yield();          /* lose the processor inside the critical section, too */
    g->second++;
}

static void guarded_check(guarded_t *g, long expected)
{
    assert_int_equal(g->broken, 0);
    assert_int_equal(g->first, expected);
    assert_int_equal(g->second, expected);
    tsm_lock_destroy(&g->lock);
}

typedef struct work {
    guarded_t g;
    long rounds;
} work_t;

static void acquire_body(int id, void *arg)
{
    work_t *work = arg;

    (void) id;
    for (long i = 0; i < work->rounds; i++) {
        tsm_lock_acquire(&work->g.lock);
        guarded_bump(&work->g);
        tsm_lock_release(&work->g.lock);
    }
}

static void mixed_body(int id, void *arg)
{
    work_t *work = arg;

    for (long i = 0; i < work->rounds; i++) {
        if ((id + i) % 2) {
            while (!tsm_lock_try(&work->g.lock))
                sched_yield();
        } else {
            tsm_lock_acquire(&work->g.lock);
        }
        guarded_bump(&work->g);
        tsm_lock_release(&work->g.lock);
    }
}

static void exclusion(unit_body_t body)
{
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
        int n = unit_team_sizes[s];
        work_t work;

        guarded_init(&work.g);
        work.rounds = unit_scaled(n < 8 ? 60000 : 20000) / n;
        unit_team(n, body, &work);
        guarded_check(&work.g, work.rounds * n);
    }
}

static void test_exclusion(void **state)
{
    (void) state;
    exclusion(acquire_body);
}

static void test_exclusion_with_try(void **state)
{
    (void) state;
    exclusion(mixed_body);
}

typedef struct tries {
    tsm_lock_t lock;
    int taken;
} tries_t;

/* More tries than any pool of nodes is big, so that a failed try must give its node back. */
static void try_body(int id, void *arg)
{
    tries_t *tries = arg;

    (void) id;
    for (int i = 0; i < 1000; i++)
        tries->taken += tsm_lock_try(&tries->lock);
}

static void test_try(void **state)
{
    tries_t tries = { .taken = 0 };

    (void) state;
    assert_int_equal(tsm_lock_init(&tries.lock), 0);
    assert_int_equal(tsm_lock_try(&tries.lock), 1);
    unit_team(1, try_body, &tries);
    assert_int_equal(tries.taken, 0);
    tsm_lock_release(&tries.lock);

    tsm_lock_acquire(&tries.lock);
    unit_team(1, try_body, &tries);
    assert_int_equal(tries.taken, 0);
    assert_int_equal(tsm_lock_try(&tries.lock), 0);     /* not recursive */
    tsm_lock_release(&tries.lock);

    assert_int_equal(tsm_lock_try(&tries.lock), 1);
    tsm_lock_release(&tries.lock);
    tsm_lock_destroy(&tries.lock);
}

#define SEVERAL 8

typedef struct several {
    guarded_t g[SEVERAL];
    long rounds;
} several_t;

/* Ascending acquisition; release in an order that changes and is mostly not the reverse. */
static void several_body(int id, void *arg)
{
    static const int stride[] = { 1, 3, 5, 7 };
    several_t *several = arg;

    for (long i = 0; i < several->rounds; i++) {
        for (int k = 0; k < SEVERAL; k++) {
            tsm_lock_acquire(&several->g[k].lock);
            guarded_bump(&several->g[k]);
        }
        for (int k = 0; k < SEVERAL; k++) {
            long j = (id + i + k * stride[i % 4]) % SEVERAL;
            tsm_lock_release(&several->g[j].lock);
        }
    }
}

static void test_several_held(void **state)
{
    several_t several;
    const int n = 3;

    (void) state;
    for (int k = 0; k < SEVERAL; k++)
        guarded_init(&several.g[k]);
    several.rounds = unit_scaled(4000);
    unit_team(n, several_body, &several);
    for (int k = 0; k < SEVERAL; k++)
        guarded_check(&several.g[k], several.rounds * n);
}

static void test_come_and_go(void **state)
{
    const int n = 16;
    const long batches = unit_scaled(250);
    work_t work;

    (void) state;
    guarded_init(&work.g);
    work.rounds = 5;
    for (long b = 0; b < batches; b++)
        unit_team(n, b % 2 ? acquire_body : mixed_body, &work);
    guarded_check(&work.g, batches * n * work.rounds);
}

static void test_name(void **state)
{
    static const char *const names[] = { "mutex", "ticket", "mcs" };

    (void) state;
    assert_string_equal(tsm_lock_name(), names[TSM_LOCK_KIND - 1]);
}

#if TSM_LOCK_KIND == TSM_LOCK_KIND_MCS
static tsm_lock_t many[TSM_LOCK_HELD_MAX + 1];

static void test_most_held(void **state)
{
    (void) state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < TSM_LOCK_HELD_MAX; i++) {
            assert_int_equal(tsm_lock_init(&many[i]), 0);
            tsm_lock_acquire(&many[i]);
        }
        for (int i = 0; i < TSM_LOCK_HELD_MAX; i++)
            tsm_lock_release(&many[i]);
    }
}

/* One lock too many: a message and SIGABRT. */
static void test_too_many_held(void **state)
{
    char text[256] = "";
    int out[2], status;

    (void) state;
    assert_int_equal(pipe(out), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);       /* cmocka and the sanitizers catch it */
        dup2(out[1], STDERR_FILENO);
        for (int i = 0; i <= TSM_LOCK_HELD_MAX; i++)
            tsm_lock_acquire(&many[i]);
        _exit(0);
    }
    close(out[1]);
    assert_true(read(out[0], text, sizeof(text) - 1) > 0);
    close(out[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "more than 64 locks"));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_name),
        cmocka_unit_test(test_try),
#if TSM_LOCK_KIND == TSM_LOCK_KIND_MCS
        cmocka_unit_test(test_most_held),
        cmocka_unit_test(test_too_many_held),
#endif
        cmocka_unit_test(test_several_held),
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_exclusion_with_try),
        cmocka_unit_test(test_come_and_go),
    };
    return cmocka_run_group_tests_name(tsm_lock_name(), tests, NULL, NULL);
}
