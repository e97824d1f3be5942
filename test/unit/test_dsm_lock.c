/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* DSM-Synch as a lock without nodes: the calls together exclude each other and lose no operation;
 * locks are released in any order; nodes of threads that have ended are freed. */

#include "unit.h"
#include "unit_aborts.h"
#include "unit_perturb.h"

#include <sched.h>
#include <string.h>

#include "combine/tsm_dsm_lock.h"

#define LOCKS 3

typedef struct shared {
    tsm_dsm_lock_t lock[LOCKS];
    long first[LOCKS], second[LOCKS];   /* plain numbers that only mutual exclusion keeps right */
    long broken[LOCKS];
    long rounds;
} shared_t;

typedef struct job {
    shared_t *shared;
    int lock;
    int done;
} job_t;

static void job_op(void *arg)
{
    job_t *job = arg;
    shared_t *shared = job->shared;

    if (shared->first[job->lock] != shared->second[job->lock])
        shared->broken[job->lock]++;
    if (shared->first[job->lock]++ % 64 == 0)
        sched_yield();
    shared->second[job->lock]++;
    job->done++;
}

/* Two locks in ascending order, released in the order of the acquisitions or in the other one. */
static void both(shared_t *shared, long i)
{
    job_t job[2] = { { shared, 0, 0 }, { shared, 2, 0 } };

    tsm_dsm_lock_acquire(&shared->lock[0]);
    tsm_dsm_lock_acquire(&shared->lock[2]);
    job_op(&job[0]);
    job_op(&job[1]);
    tsm_dsm_lock_combine(&shared->lock[2]);
    tsm_dsm_lock_release(&shared->lock[i % 2 ? 2 : 0]);
    tsm_dsm_lock_release(&shared->lock[i % 2 ? 0 : 2]);
}

static void announce(shared_t *shared, job_t *job)
{
    tsm_dsm_lock_t *lock = &shared->lock[job->lock];

    if (!tsm_dsm_lock_announce(lock, job_op, job))
        return;
    job_op(job);
    if (tsm_dsm_lock_has_waiters(lock))
        tsm_dsm_lock_combine(lock);
    tsm_dsm_lock_release(lock);
}

static void turn(shared_t *shared, long i)
{
    job_t job = { shared, (int) (i / 4 % LOCKS), 0 };
    tsm_dsm_lock_t *lock = &shared->lock[job.lock];

    if (i % 4 == 3) {
        both(shared, i / 4);
        return;
    }
    if (i % 4 == 1 && tsm_dsm_lock_try(lock)) {
        job_op(&job);
        tsm_dsm_lock_release(lock);
    } else {
        announce(shared, &job);
    }
    if (job.done != 1) {
        tsm_dsm_lock_acquire(lock);
        shared->broken[job.lock]++;
        tsm_dsm_lock_release(lock);
    }
}

static void body(int id, void *arg)
{
    shared_t *shared = arg;

    for (long i = 0; i < shared->rounds; i++)
        turn(shared, id + i);
}

static void run(int n, uint32_t max_combine, long total, int teams)
{
    static shared_t shared;
    long sum = 0, wanted = 0;

    memset(&shared, 0, sizeof(shared));
    for (int l = 0; l < LOCKS; l++)
        tsm_dsm_lock_init(&shared.lock[l], max_combine);
    shared.rounds = unit_scaled(total) / n / teams + 4;
    for (int t = 0; t < teams; t++)
        unit_team(n, body, &shared);
    for (int l = 0; l < LOCKS; l++) {
        assert_int_equal(shared.broken[l], 0);
        assert_int_equal(shared.first[l], shared.second[l]);
        assert_null(tsm_load(&shared.lock[l].gated.lock.tail, TSM_RELAXED));
        sum += shared.first[l];
    }
    for (int id = 0; id < n; id++) {
        for (long i = 0; i < shared.rounds; i++)
            wanted += (id + i) % 4 == 3 ? 2 : 1;
    }
    assert_int_equal(sum, teams * wanted);
}

static void test_all_calls(void **state)
{
    (void) state;
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++)
        run(unit_team_sizes[s], TSM_DSM_SYNCH_MAX_COMBINE, 20000, 1);
}

static void test_small_bounds(void **state)
{
    (void) state;
    unit_perturb_one_in = 20;
    for (uint32_t max = 1; max <= 3; max++)
        run(8, max, 4000, 1);
    unit_perturb_one_in = 0;
}

static void test_come_and_go(void **state)
{
    (void) state;
    run(16, 5, 8000, 50);
}

static void test_try(void **state)
{
    tsm_dsm_lock_t lock;

    (void) state;
    tsm_dsm_lock_init(&lock, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tsm_dsm_lock_try(&lock), 1);
        assert_int_equal(tsm_dsm_lock_has_waiters(&lock), 0);
        assert_int_equal(tsm_dsm_lock_combine(&lock), 0);
        assert_int_equal(tsm_dsm_lock_try(&lock), 0);
        tsm_dsm_lock_release(&lock);
    }
}

static void no_combining(void *arg)
{
    tsm_dsm_lock_t lock;

    (void) arg;
    tsm_dsm_lock_init(&lock, 0);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(no_combining, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_all_calls),
        cmocka_unit_test(test_small_bounds),
        cmocka_unit_test(test_come_and_go),
    };
    return cmocka_run_group_tests_name("dsm_lock", tests, NULL, NULL);
}
