/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CC-Synch: operations exclude each other, none is lost or doubled, nodes pass between threads. */

#include "unit.h"
#include "unit_aborts.h"
#include "unit_perturb.h"

#include <sched.h>
#include <string.h>

#include "combine/tsm_cc_synch.h"

/* Plain numbers that only mutual exclusion keeps right. */
typedef struct shared {
    tsm_cc_synch_t cc;
    long first;
    long second;
    long broken;
    long seen[UNIT_TEAM_MAX];           /* operations of each thread so far */
    long rounds;
} shared_t;

typedef struct job {
    shared_t *shared;
    int id;
    long number;
    long answer;
} job_t;

static void job_op(void *arg)
{
    job_t *job = arg;
    shared_t *shared = job->shared;

    if (shared->first != shared->second || job->number != shared->seen[job->id]++)
        shared->broken++;
    shared->first++;
    if (shared->first % 64 == 0)
        sched_yield();          /* yield in here, too */
    shared->second++;
    job->answer = shared->first;
}

static void broken_op(void *arg)
{
    ((shared_t *) arg)->broken++;
}

static tsm_cc_synch_node_t *new_node(void)
{
    tsm_cc_synch_node_t *node = malloc(sizeof(*node));

    if (node == NULL)
        abort();
    return node;
}

/* Attach, work, detach; the node that comes back is freed at once. */
static void body(int id, void *arg)
{
    shared_t *shared = arg;
    tsm_cc_synch_handle_t handle;
    long base = shared->seen[id], last = 0;

    tsm_cc_synch_attach(&handle, new_node());
    for (long i = 0; i < shared->rounds; i++) {
        job_t job = { shared, id, base + i, -1 };
        tsm_cc_synch_apply(&shared->cc, &handle, job_op, &job);
        if (job.answer <= last)         /* ours, and after our last one */
            tsm_cc_synch_apply(&shared->cc, &handle, broken_op, shared);
        last = job.answer;
    }
    free(tsm_cc_synch_detach(&handle));
}

static void run_once(int n, uint32_t max_combine, long rounds, long batches)
{
    static shared_t shared;

    memset(&shared, 0, sizeof(shared));
    tsm_cc_synch_init(&shared.cc, new_node(), max_combine);
    shared.rounds = rounds;
    for (long b = 0; b < batches; b++)
        unit_team(n, body, &shared);
    assert_int_equal(shared.broken, 0);
    assert_int_equal(shared.first, n * rounds * batches);
    assert_int_equal(shared.second, n * rounds * batches);
    for (int i = 0; i < n; i++)
        assert_int_equal(shared.seen[i], rounds * batches);
    free(tsm_cc_synch_destroy(&shared.cc));
}

/* At full speed, and with many interruptions. */
static void run(int n, uint32_t max_combine, long rounds, long batches)
{
    run_once(n, max_combine, rounds, batches);
    unit_perturb_one_in = 20;
    run_once(n, max_combine, rounds / 4 + 1, batches);
    unit_perturb_one_in = 0;
}

static void test_operations(void **state)
{
    (void) state;
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
        int n = unit_team_sizes[s];
        run(n, TSM_CC_SYNCH_MAX_COMBINE, unit_scaled(n < 8 ? 120000 : 80000) / n + 1, 1);
    }
}

static void test_small_bounds(void **state)
{
    (void) state;
    for (uint32_t max = 1; max <= 3; max++)
        run(8, max, unit_scaled(1500) + 1, 1);
}

static void test_come_and_go(void **state)
{
    (void) state;
    run(16, 5, 5, unit_scaled(200));
}

/* A list made by hand. */
#define QUEUED 6

typedef struct staged {
    tsm_cc_synch_t cc;
    tsm_cc_synch_node_t memory[QUEUED + 1];
    tsm_cc_synch_node_t *node[QUEUED];  /* where each operation went */
    int number[QUEUED];
    int order[QUEUED];
    int executed;
} staged_t;

static staged_t staged;

static void note_op(void *arg)
{
    staged.order[staged.executed++] = *(int *) arg;
}

static void stage(int count)
{
    memset(&staged, 0, sizeof(staged));
    tsm_cc_synch_init(&staged.cc, &staged.memory[QUEUED], 1024);
    for (int i = 0; i < count; i++) {
        staged.number[i] = i;
        staged.node[i] = tsm_cc_synch_announce_(&staged.cc, &staged.memory[i], note_op,
                                                &staged.number[i]);
    }
}

static void check_order(int executed)
{
    assert_int_equal(staged.executed, executed);
    for (int i = 0; i < executed; i++)
        assert_int_equal(staged.order[i], i);
}

/* The combiner executes exactly its bound, and makes the next thread in line the combiner. */
static void test_combining_stops(void **state)
{
    (void) state;
    for (int max = 1; max <= QUEUED + 1; max++) {
        int done = max < QUEUED ? max : QUEUED;
        stage(QUEUED);
        assert_true(tsm_cc_synch_is_combiner_(staged.node[0]));
        tsm_cc_synch_pass_(tsm_cc_synch_combine_(staged.node[0], (uint32_t) max));
        check_order(done);
        for (int i = 1; i < QUEUED; i++) {
            uint32_t expected = i < done ? TSM_CC_SYNCH_DONE :
                i == done ? TSM_CC_SYNCH_GRANTED : TSM_CC_SYNCH_WAITING;
            assert_int_equal(tsm_load(&staged.node[i]->status, TSM_ACQUIRE), expected);
        }
        if (done < QUEUED) {
            tsm_cc_synch_pass_(tsm_cc_synch_combine_(staged.node[done], 1024));
            check_order(QUEUED);
        }
        assert_ptr_equal(tsm_cc_synch_destroy(&staged.cc), &staged.memory[QUEUED - 1]);
    }
}

/* A thread is held between swap and link: the combiner leaves, and that thread combines next. */
static void test_held_before_link(void **state)
{
    (void) state;
    for (int before = 1; before < QUEUED - 1; before++) {
        tsm_cc_synch_node_t *held, *spare = &staged.memory[before];
        int number = before + 1;

        stage(before);
        tsm_store(&spare->next, NULL, TSM_RELAXED);
        tsm_store(&spare->status, TSM_CC_SYNCH_WAITING, TSM_RELAXED);
        held = tsm_swap(&staged.cc.tail, spare, TSM_ACQ_REL);
        tsm_cc_synch_node_t *behind = tsm_cc_synch_announce_(&staged.cc, &staged.memory[before + 1],
                                                             note_op, &number);
        tsm_cc_synch_pass_(tsm_cc_synch_combine_(staged.node[0], 1024));
        check_order(before);
        assert_int_equal(tsm_load(&behind->status, TSM_ACQUIRE), TSM_CC_SYNCH_WAITING);

        staged.number[before] = before;
        held->op = note_op;
        held->arg = &staged.number[before];
        tsm_store(&held->next, spare, TSM_RELEASE);
        assert_true(tsm_cc_synch_is_combiner_(held));
        tsm_cc_synch_pass_(tsm_cc_synch_combine_(held, 1024));
        check_order(before + 2);
        assert_int_equal(tsm_load(&behind->status, TSM_ACQUIRE), TSM_CC_SYNCH_DONE);
    }
}

static tsm_cc_synch_handle_t misused;

static void nested_op(void *arg)
{
    tsm_cc_synch_apply(&staged.cc, &misused, note_op, arg);
}

static void nested(void *arg)
{
    (void) arg;
    stage(0);
    tsm_cc_synch_attach(&misused, &staged.memory[0]);
    tsm_cc_synch_apply(&staged.cc, &misused, nested_op, &staged.number[0]);
}

static void not_attached(void *arg)
{
    (void) arg;
    stage(0);
    tsm_cc_synch_apply(&staged.cc, &misused, note_op, &staged.number[0]);
}

static void destroyed_in_use(void *arg)
{
    (void) arg;
    stage(1);
    tsm_cc_synch_destroy(&staged.cc);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(nested, NULL);
    unit_aborts(not_attached, NULL);
    unit_aborts(destroyed_in_use, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_combining_stops),
        cmocka_unit_test(test_held_before_link),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_small_bounds),
        cmocka_unit_test(test_come_and_go),
    };
    return cmocka_run_group_tests_name("cc_synch", tests, NULL, NULL);
}
