/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* DSM-Synch: operations and acquisitions exclude each other, none is lost or doubled. */

#include "unit.h"
#include "unit_aborts.h"
#include "unit_perturb.h"

#include <sched.h>
#include <string.h>

#include "combine/tsm_dsm_synch.h"

#define CHOICES 3

/* Plain numbers that only mutual exclusion keeps right. */
typedef struct shared {
    tsm_dsm_synch_t dsm;
    long first;
    long second;
    long broken;
    long mine;                          /* threads in `parts` */
    long seen[UNIT_TEAM_MAX];           /* operations of each thread so far */
    long rounds;
    int acquisitions;                   /* one in so many turns, 0: none */
} shared_t;

typedef struct job {
    shared_t *shared;
    int id;
    long number;
    long answer;
} job_t;

static void bump(shared_t *shared)
{
    if (shared->first != shared->second || shared->mine > 1)
        shared->broken++;
    shared->first++;
    if (shared->first % 64 == 0)
        sched_yield();          /* yield in here, too */
    shared->second++;
}

static void job_op(void *arg)
{
    job_t *job = arg;

    bump(job->shared);
    if (job->number != job->shared->seen[job->id]++)
        job->shared->broken++;
    job->answer = job->shared->first;
}

/* The parts of apply, with work of our own around them. */
static void parts(shared_t *shared, tsm_dsm_synch_node_t *node, job_t *job)
{
    if (!tsm_dsm_synch_begin(&shared->dsm, node, job_op, job))
        return;
    shared->mine++;
    if (tsm_dsm_synch_combine(&shared->dsm, node) >= shared->dsm.max_combine)
        shared->broken++;       /* our own operation counts */
    job_op(job);
    tsm_dsm_synch_combine(&shared->dsm, node);
    shared->mine--;
    tsm_dsm_synch_release(&shared->dsm, node);
}

/* Try, and if it succeeds execute the operation under the lock, which we did not announce. */
static int tries(shared_t *shared, tsm_dsm_synch_node_t *node, job_t *job)
{
    if (!tsm_dsm_synch_try(&shared->dsm, node))
        return 0;
    job_op(job);
    if (job->number % 2)
        tsm_dsm_synch_combine(&shared->dsm, node);
    tsm_dsm_synch_release(&shared->dsm, node);
    return 1;
}

/* One turn of a thread; the node changes its place now and then, and is spoiled in between. */
static void turn(shared_t *shared, tsm_dsm_synch_node_t *node, job_t *job, long i)
{
    tsm_dsm_synch_node_init(node);
    if (shared->acquisitions && (job->id + i) % shared->acquisitions == 0) {
        tsm_dsm_synch_acquire(&shared->dsm, node);
        job_op(job);
        tsm_dsm_synch_release(&shared->dsm, node);
    } else if ((job->id ^ i) % 3 == 0) {
        parts(shared, node, job);
    } else if ((job->id ^ i) % 3 == 1 || !tries(shared, node, job)) {
        tsm_dsm_synch_apply(&shared->dsm, node, job_op, job);
    }
}

static void body(int id, void *arg)
{
    shared_t *shared = arg;
    tsm_dsm_synch_node_t node[CHOICES];
    long base = shared->seen[id], last = 0, broken = 0;

    for (long i = 0; i < shared->rounds; i++) {
        job_t job = { shared, id, base + i, -1 };
        turn(shared, &node[i % CHOICES], &job, i);
        memset(&node[i % CHOICES], 0xa5, sizeof(node[0]));
        if (job.answer <= last)         /* ours, and after our last one */
            broken++;
        last = job.answer;
    }
    tsm_dsm_synch_node_init(&node[0]);
    tsm_dsm_synch_acquire(&shared->dsm, &node[0]);
    shared->broken += broken;
    tsm_dsm_synch_release(&shared->dsm, &node[0]);
}

static void run_once(int n, uint32_t max_combine, int acquisitions, long total)
{
    static shared_t shared;

    memset(&shared, 0, sizeof(shared));
    tsm_dsm_synch_init(&shared.dsm, max_combine);
    shared.acquisitions = acquisitions;
    shared.rounds = unit_scaled(total) / n + 1;
    unit_team(n, body, &shared);
    assert_int_equal(shared.broken, 0);
    assert_int_equal(shared.first, n * shared.rounds);
    assert_int_equal(shared.second, n * shared.rounds);
    for (int i = 0; i < n; i++)
        assert_int_equal(shared.seen[i], shared.rounds);
    assert_null(tsm_load(&shared.dsm.tail, TSM_RELAXED));
}

/* At full speed, and with many interruptions. */
static void run(int n, uint32_t max_combine, int acquisitions, long total)
{
    run_once(n, max_combine, acquisitions, total);
    unit_perturb_one_in = 20;
    run_once(n, max_combine, acquisitions, total / 4);
    unit_perturb_one_in = 0;
}

static void test_operations(void **state)
{
    (void) state;
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++)
        run(unit_team_sizes[s], TSM_DSM_SYNCH_MAX_COMBINE, 0, s < 3 ? 40000 : 20000);
}

static void test_operations_and_acquisitions(void **state)
{
    (void) state;
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++)
        run(unit_team_sizes[s], TSM_DSM_SYNCH_MAX_COMBINE, 3, s < 3 ? 40000 : 15000);
}

static void test_acquisitions_only(void **state)
{
    (void) state;
    run(3, TSM_DSM_SYNCH_MAX_COMBINE, 1, 20000);
    run(64, TSM_DSM_SYNCH_MAX_COMBINE, 1, 6000);
}

static void test_small_bounds(void **state)
{
    (void) state;
    for (uint32_t max = 1; max <= 3; max++)
        run(8, max, 4, 10000);
}

static void test_come_and_go(void **state)
{
    static shared_t shared;
    const int n = 16;
    const long batches = unit_scaled(200);

    (void) state;
    memset(&shared, 0, sizeof(shared));
    tsm_dsm_synch_init(&shared.dsm, 5);
    shared.acquisitions = 4;
    shared.rounds = 5;
    for (long b = 0; b < batches; b++)
        unit_team(n, body, &shared);
    assert_int_equal(shared.broken, 0);
    assert_int_equal(shared.first, batches * n * shared.rounds);
}

/* A queue made by hand: nodes that wait behind the holder's, in order. */
#define QUEUED 6

typedef struct staged {
    tsm_dsm_synch_t dsm;
    tsm_dsm_synch_node_t holder;
    tsm_dsm_synch_node_t node[QUEUED];
    int order[QUEUED];
    int executed;
} staged_t;

static staged_t staged;

static void note_op(void *arg)
{
    staged.order[staged.executed++] = (int) ((tsm_dsm_synch_node_t *) arg - staged.node);
}

/* The first half of apply, as a thread that is held there leaves it. */
static tsm_dsm_synch_node_t *half_enter(int i, tsm_dsm_synch_op_t op)
{
    tsm_dsm_synch_node_t *node = &staged.node[i];

    tsm_dsm_synch_prepare_(node, op, node);
    return tsm_dsm_synch_append_(&staged.dsm, node);
}

static void enter(int i, tsm_dsm_synch_op_t op)
{
    tsm_dsm_synch_link_(half_enter(i, op), &staged.node[i]);
}

static void stage_free(uint32_t max_combine)
{
    memset(&staged, 0, sizeof(staged));
    tsm_dsm_synch_init(&staged.dsm, max_combine);
    tsm_dsm_synch_node_init(&staged.holder);
    for (int i = 0; i < QUEUED; i++)
        tsm_dsm_synch_node_init(&staged.node[i]);
}

/* The holder has the object and a queue behind it. empty: the node without an operation. */
static void stage(uint32_t max_combine, int empty)
{
    stage_free(max_combine);
    tsm_dsm_synch_acquire(&staged.dsm, &staged.holder);
    for (int i = 0; i < QUEUED; i++)
        enter(i, i == empty ? NULL : note_op);
}

/* The first `done` are done, the next one combines now, the others wait. */
static void check_staged(int done)
{
    assert_int_equal(staged.executed, done);
    for (int i = 0; i < QUEUED; i++) {
        uint32_t status = tsm_load(&staged.node[i].status, TSM_ACQUIRE);
        assert_int_equal(status, i < done ? TSM_DSM_SYNCH_DONE :
                         i == done ? TSM_DSM_SYNCH_GRANTED : TSM_DSM_SYNCH_WAITING);
        if (i < done)
            assert_int_equal(staged.order[i], i);
    }
    assert_true((done == QUEUED) == (tsm_load(&staged.dsm.tail, TSM_RELAXED) == NULL));
}

static void combine_and_check(int done)
{
    assert_int_equal(tsm_dsm_synch_combine(&staged.dsm, &staged.holder), done);
    /* those done may be gone by now */
    for (int i = 0; i < done; i++) {
        assert_int_equal(tsm_load(&staged.node[i].status, TSM_ACQUIRE), TSM_DSM_SYNCH_DONE);
        tsm_store(&staged.node[i].next, &staged.node[i], TSM_RELAXED);
    }
    /* however often */
    assert_int_equal(tsm_dsm_synch_combine(&staged.dsm, &staged.holder), 0);
    tsm_dsm_synch_release(&staged.dsm, &staged.holder);
    check_staged(done);
}

static void test_combining_stops(void **state)
{
    (void) state;
    stage(1024, -1);
    combine_and_check(QUEUED);
    for (int max = 1; max <= QUEUED; max++) {
        stage((uint32_t) max, -1);
        combine_and_check(max);
    }
    for (int empty = 0; empty < QUEUED; empty++) {
        stage(1024, empty);
        combine_and_check(empty);
    }
}

/* When the last node is taken out, the holder's is the tail: new ones queue behind that. */
static void test_behind_the_last(void **state)
{
    (void) state;
    stage(2 * QUEUED, -1);
    assert_int_equal(tsm_dsm_synch_combine(&staged.dsm, &staged.holder), QUEUED);
    assert_ptr_equal(tsm_load(&staged.dsm.tail, TSM_RELAXED), &staged.holder);
    assert_null(tsm_load(&staged.holder.next, TSM_RELAXED));
    staged.executed = 0;
    for (int i = 0; i < QUEUED; i++)
        enter(i, note_op);
    combine_and_check(QUEUED);
}

/* A thread is held between swap and link: the queue before it is served but for the node that it will
 * link to, and nothing behind it. */
static void test_held_before_link(void **state)
{
    (void) state;
    for (int held = 1; held < QUEUED; held++) {
        tsm_dsm_synch_node_t *pred = NULL;
        stage_free(1024);
        tsm_dsm_synch_acquire(&staged.dsm, &staged.holder);
        for (int i = 0; i < QUEUED; i++) {
            if (i == held)
                pred = half_enter(i, note_op);
            else
                enter(i, note_op);
        }
        combine_and_check(held - 1);
        tsm_dsm_synch_link_(pred, &staged.node[held]);
        /* the new combiner goes on; no thread is left */
        staged.node[held - 1].op(staged.node[held - 1].arg);
        assert_int_equal(tsm_dsm_synch_combine(&staged.dsm, &staged.node[held - 1]),
                         QUEUED - held);
        assert_int_equal(staged.executed, QUEUED);
        tsm_dsm_synch_release(&staged.dsm, &staged.node[held - 1]);
        assert_null(tsm_load(&staged.dsm.tail, TSM_RELAXED));
    }
}

/* Our own operation counts in the bound; the last one is not taken out when the bound is reached. */
static void test_bound_counts_our_own(void **state)
{
    (void) state;
    for (int max = 1; max <= QUEUED; max++) {
        stage_free((uint32_t) max);
        assert_int_equal(tsm_dsm_synch_begin(&staged.dsm, &staged.holder, note_op, NULL), 1);
        for (int i = 0; i < QUEUED; i++)
            enter(i, note_op);
        combine_and_check(max - 1);
    }
}

/* Try takes a free object only, and leaves the node free and the queue alone otherwise. */
static void test_try(void **state)
{
    tsm_dsm_synch_node_t node[2];

    (void) state;
    tsm_dsm_synch_init(&staged.dsm, 1024);
    tsm_dsm_synch_node_init(&node[0]);
    tsm_dsm_synch_node_init(&node[1]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tsm_dsm_synch_try(&staged.dsm, &node[0]), 1);
        assert_int_equal(tsm_dsm_synch_try(&staged.dsm, &node[1]), 0);
        assert_ptr_equal(tsm_load(&staged.dsm.tail, TSM_RELAXED), &node[0]);
        tsm_dsm_synch_release(&staged.dsm, &node[0]);
        tsm_dsm_synch_acquire(&staged.dsm, &node[1]);
        assert_int_equal(tsm_dsm_synch_try(&staged.dsm, &node[0]), 0);
        tsm_dsm_synch_release(&staged.dsm, &node[1]);
    }
    assert_null(tsm_load(&staged.dsm.tail, TSM_RELAXED));
    assert_null(tsm_load(&staged.dsm.gate.tail, TSM_RELAXED));
}

/* Threads that only try each get the object and lose nothing. */
static void try_body(int id, void *arg)
{
    shared_t *shared = arg;
    tsm_dsm_synch_node_t node;

    tsm_dsm_synch_node_init(&node);
    for (long i = 0; i < shared->rounds; i++) {
        job_t job = { shared, id, i, -1 };
        while (!tries(shared, &node, &job))
            sched_yield();
    }
}

static void test_tries_only(void **state)
{
    static shared_t shared;

    (void) state;
    memset(&shared, 0, sizeof(shared));
    tsm_dsm_synch_init(&shared.dsm, 3);
    shared.rounds = unit_scaled(2000);
    unit_team(8, try_body, &shared);
    assert_int_equal(shared.broken, 0);
    assert_int_equal(shared.first, 8 * shared.rounds);
}

static void release_without_acquire(void *arg)
{
    (void) arg;
    tsm_dsm_synch_init(&staged.dsm, 1);
    tsm_dsm_synch_node_init(&staged.holder);
    tsm_dsm_synch_release(&staged.dsm, &staged.holder);
}

static void node_in_use(void *arg)
{
    (void) arg;
    tsm_dsm_synch_init(&staged.dsm, 1);
    tsm_dsm_synch_node_init(&staged.holder);
    tsm_dsm_synch_acquire(&staged.dsm, &staged.holder);
    tsm_dsm_synch_apply(&staged.dsm, &staged.holder, note_op, NULL);
}

static void try_with_node_in_use(void *arg)
{
    static tsm_dsm_synch_t other;

    (void) arg;
    tsm_dsm_synch_init(&staged.dsm, 1);
    tsm_dsm_synch_init(&other, 1);
    tsm_dsm_synch_node_init(&staged.holder);
    tsm_dsm_synch_acquire(&staged.dsm, &staged.holder);
    tsm_dsm_synch_try(&other, &staged.holder);
}

static void combine_without_object(void *arg)
{
    (void) arg;
    tsm_dsm_synch_init(&staged.dsm, 1);
    tsm_dsm_synch_node_init(&staged.holder);
    tsm_store(&staged.holder.next, NULL, TSM_RELAXED);
    tsm_dsm_synch_combine(&staged.dsm, &staged.holder);
}

static void begin_without_operation(void *arg)
{
    (void) arg;
    tsm_dsm_synch_init(&staged.dsm, 1);
    tsm_dsm_synch_node_init(&staged.holder);
    tsm_dsm_synch_begin(&staged.dsm, &staged.holder, NULL, NULL);
}

static void no_combining(void *arg)
{
    (void) arg;
    tsm_dsm_synch_init(&staged.dsm, 0);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(release_without_acquire, NULL);
    unit_aborts(node_in_use, NULL);
    unit_aborts(try_with_node_in_use, NULL);
    unit_aborts(combine_without_object, NULL);
    unit_aborts(begin_without_operation, NULL);
    unit_aborts(no_combining, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_combining_stops),
        cmocka_unit_test(test_behind_the_last),
        cmocka_unit_test(test_held_before_link),
        cmocka_unit_test(test_bound_counts_our_own),
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_tries_only),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_operations_and_acquisitions),
        cmocka_unit_test(test_acquisitions_only),
        cmocka_unit_test(test_small_bounds),
        cmocka_unit_test(test_come_and_go),
    };
    return cmocka_run_group_tests_name("dsm_synch", tests, NULL, NULL);
}
