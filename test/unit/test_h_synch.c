/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* H-Synch: operations of all clusters exclude each other, none is lost or doubled. */

#include "unit.h"
#include "unit_aborts.h"
#include "unit_perturb.h"

#include <sched.h>
#include <string.h>

#include "combine/tsm_h_synch.h"

#define CLUSTERS_MAX 5

/* Plain numbers that only mutual exclusion keeps right. */
typedef struct shared {
    tsm_h_synch_t h;
    tsm_cc_synch_t clusters[CLUSTERS_MAX];
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

static shared_t shared;

static void job_op(void *arg)
{
    job_t *job = arg;

    if (shared.first != shared.second || job->number != shared.seen[job->id]++)
        shared.broken++;
    shared.first++;
    if (shared.first % 64 == 0)
        sched_yield();          /* yield in here, too */
    shared.second++;
    job->answer = shared.first;
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

static void setup(uint32_t count, uint32_t max_combine)
{
    tsm_cc_synch_node_t *nodes[CLUSTERS_MAX];

    memset(&shared, 0, sizeof(shared));
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = new_node();
    tsm_h_synch_init(&shared.h, shared.clusters, nodes, count, max_combine);
}

static void teardown(void)
{
    tsm_cc_synch_node_t *nodes[CLUSTERS_MAX];

    tsm_h_synch_destroy(&shared.h, nodes);
    for (uint32_t i = 0; i < shared.h.count; i++)
        free(nodes[i]);
    assert_null(tsm_load(&shared.h.central.tail, TSM_RELAXED));
}

/* Attach, work, move to the next cluster half-way, detach. */
static void body(int id, void *arg)
{
    tsm_h_synch_handle_t handle;
    uint32_t cluster = (uint32_t) id % shared.h.count;
    long base = shared.seen[id], last = 0;

    (void) arg;
    tsm_h_synch_attach(&shared.h, &handle, cluster, new_node());
    for (long i = 0; i < shared.rounds; i++) {
        job_t job = { &shared, id, base + i, -1 };
        if (i == shared.rounds / 2) {
            tsm_cc_synch_node_t *node = tsm_h_synch_detach(&handle);
            tsm_h_synch_attach(&shared.h, &handle, (cluster + 1) % shared.h.count, node);
        }
        tsm_h_synch_apply(&shared.h, &handle, job_op, &job);
        if (job.answer <= last)         /* ours, and after our last one */
            tsm_h_synch_apply(&shared.h, &handle, broken_op, &shared);
        last = job.answer;
    }
    free(tsm_h_synch_detach(&handle));
}

static void run_once(int n, uint32_t count, uint32_t max_combine, long rounds, long batches)
{
    setup(count, max_combine);
    shared.rounds = rounds;
    for (long b = 0; b < batches; b++)
        unit_team(n, body, NULL);
    assert_int_equal(shared.broken, 0);
    assert_int_equal(shared.first, n * rounds * batches);
    assert_int_equal(shared.second, n * rounds * batches);
    for (int i = 0; i < n; i++)
        assert_int_equal(shared.seen[i], rounds * batches);
    teardown();
}

/* At full speed, and with many interruptions. */
static void run(int n, uint32_t count, uint32_t max_combine, long rounds, long batches)
{
    run_once(n, count, max_combine, rounds, batches);
    unit_perturb_one_in = 20;
    run_once(n, count, max_combine, rounds / 4 + 1, batches);
    unit_perturb_one_in = 0;
}

static void test_operations(void **state)
{
    (void) state;
    for (uint32_t count = 1; count <= CLUSTERS_MAX; count += 2) {
        for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
            int n = unit_team_sizes[s];
            run(n, count, TSM_CC_SYNCH_MAX_COMBINE, unit_scaled(n < 8 ? 30000 : 12000) / n + 1, 1);
        }
    }
}

static void test_small_bounds(void **state)
{
    (void) state;
    for (uint32_t max = 1; max <= 3; max++)
        run(8, 2, max, unit_scaled(1500) + 1, 1);
}

static void test_come_and_go(void **state)
{
    (void) state;
    run(16, 3, 5, 5, unit_scaled(200));
}

/* While one cluster's combiner is held in an operation, the other cluster waits, and neither
 * loses anything. */
static TSM_ATOMIC(int) held, let_go, other;

static void held_op(void *arg)
{
    (void) arg;
    tsm_store(&held, 1, TSM_RELEASE);
    while (!tsm_load(&let_go, TSM_ACQUIRE))
        sched_yield();
}

static void other_op(void *arg)
{
    (void) arg;
    tsm_fetch_add(&other, 1, TSM_ACQ_REL);
}

static void held_body(int id, void *arg)
{
    tsm_h_synch_handle_t handle;

    (void) arg;
    tsm_h_synch_attach(&shared.h, &handle, id > 0, new_node());
    if (id == 0) {
        tsm_h_synch_apply(&shared.h, &handle, held_op, NULL);
    } else if (id < 4) {
        while (!tsm_load(&held, TSM_ACQUIRE))
            sched_yield();
        tsm_h_synch_apply(&shared.h, &handle, other_op, NULL);
    } else {
        while (!tsm_load(&held, TSM_ACQUIRE))
            sched_yield();
        for (int i = 0; i < 100; i++)
            sched_yield();
        if (tsm_load(&other, TSM_ACQUIRE) != 0)
            tsm_fetch_add(&other, 1000, TSM_ACQ_REL);
        tsm_store(&let_go, 1, TSM_RELEASE);
    }
    free(tsm_h_synch_detach(&handle));
}

static void test_held_combiner(void **state)
{
    (void) state;
    setup(2, TSM_CC_SYNCH_MAX_COMBINE);
    tsm_store(&held, 0, TSM_RELAXED);
    tsm_store(&let_go, 0, TSM_RELAXED);
    tsm_store(&other, 0, TSM_RELAXED);
    unit_team(5, held_body, NULL);
    assert_int_equal(tsm_load(&other, TSM_RELAXED), 3);
    teardown();
}

static tsm_cc_synch_node_t misused_node;
static tsm_h_synch_handle_t misused;

static void no_such_cluster(void *arg)
{
    (void) arg;
    setup(2, 1);
    tsm_h_synch_attach(&shared.h, &misused, 2, &misused_node);
}

static void no_cluster(void *arg)
{
    (void) arg;
    setup(0, 1);
}

static void nested_op(void *arg)
{
    tsm_h_synch_apply(&shared.h, &misused, other_op, arg);
}

static void nested(void *arg)
{
    (void) arg;
    setup(2, 1);
    tsm_h_synch_attach(&shared.h, &misused, 0, &misused_node);
    tsm_h_synch_apply(&shared.h, &misused, nested_op, NULL);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(no_such_cluster, NULL);
    unit_aborts(no_cluster, NULL);
    unit_aborts(nested, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_held_combiner),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_small_bounds),
        cmocka_unit_test(test_come_and_go),
    };
    return cmocka_run_group_tests_name("h_synch", tests, NULL, NULL);
}
