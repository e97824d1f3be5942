/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Returned cells: a stack of numbers, one owner. */

#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_perturb.h"
#include "queue/tsm_returns.h"

#define CELLS_MAX 1000

static const uint32_t counts[] = { 0, 1, 2, 3, 7, 64, CELLS_MAX };
#define COUNTS (sizeof(counts) / sizeof(counts[0]))

typedef struct rig {
    tsm_returns_t *returns;
    tsm_returns_own_t own;
    uint32_t cells;
} rig_t;

static void rig_start(rig_t *rig, uint32_t cells)
{
    size_t size = (tsm_returns_size(cells) + TSM_CACHELINE - 1) & ~(size_t) (TSM_CACHELINE - 1);

    rig->returns = aligned_alloc(TSM_CACHELINE, size);
    assert_non_null(rig->returns);
    memset((void *) rig->returns, 0xff, size);
    rig->cells = cells;
    tsm_returns_init(rig->returns, cells, &rig->own, malloc(tsm_returns_own_size(cells)));
    assert_non_null(rig->own.used);
}

static void rig_end(rig_t *rig)
{
    free(rig->own.used);
    free(rig->returns);
}

static uint32_t rig_take(rig_t *rig)
{
    if (!tsm_returns_used(&rig->own))
        tsm_returns_collect(rig->returns, &rig->own, NULL, NULL);
    return tsm_returns_take_newest(&rig->own, 0);
}

/* So many cells come, each once, and then none. order: where they go. */
static void rig_take_all(rig_t *rig, uint32_t *order)
{
    static char seen[CELLS_MAX];

    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < rig->cells; i++) {
        order[i] = rig_take(rig);
        assert_true(order[i] < rig->cells);
        assert_int_equal(seen[order[i]]++, 0);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(rig_take(rig), TSM_RETURNS_NONE);
}

static void everywhere(void (*test)(rig_t *rig, uint32_t *order))
{
    static uint32_t order[CELLS_MAX];

    for (size_t i = 0; i < COUNTS; i++) {
        rig_t rig;
        rig_start(&rig, counts[i]);
        test(&rig, order);
        rig_end(&rig);
    }
}

static void test_all_once(void **state)
{
    (void) state;
    everywhere(rig_take_all);
}

/* The cell that the owner has had last comes first, before those that it has not used. */
static void keep(rig_t *rig, uint32_t *order)
{
    uint32_t most = rig->cells < 5 ? rig->cells : 5;

    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < most; i++)
            order[i] = rig_take(rig);
        for (uint32_t i = 0; i < most; i++) {
            tsm_returns_keep(&rig->own, order[i]);
            assert_int_equal(rig_take(rig), order[i]);
            tsm_returns_keep(&rig->own, order[i]);
        }
        for (uint32_t i = most; i > 0; i--)
            assert_int_equal(rig_take(rig), order[i - 1]);
        for (uint32_t i = 0; i < most; i++)
            tsm_returns_keep(&rig->own, order[i]);
    }
    rig_take_all(rig, order);
}

static void test_keep(void **state)
{
    (void) state;
    everywhere(keep);
}

/* All are given, so the last one comes first; what is given meanwhile comes when these are out. */
static void give(rig_t *rig, uint32_t *order)
{
    uint32_t half = rig->cells / 2;

    rig_take_all(rig, order);
    for (uint32_t i = 0; i < half; i++)
        tsm_returns_give(rig->returns, order[i]);
    if (half > 0)
        assert_int_equal(rig_take(rig), order[half - 1]);
    for (uint32_t i = half; i < rig->cells; i++)
        tsm_returns_give(rig->returns, order[i]);
    for (uint32_t i = half; i > 1; i--)
        assert_int_equal(rig_take(rig), order[i - 2]);
    for (uint32_t i = rig->cells; i > half; i--)
        assert_int_equal(rig_take(rig), order[i - 1]);
    assert_int_equal(rig_take(rig), TSM_RETURNS_NONE);
}

static void test_give(void **state)
{
    (void) state;
    everywhere(give);
}

/* Kept and given in turn: each cell comes again once. */
static void both_ways(rig_t *rig, uint32_t *order)
{
    for (uint32_t step = 1; step < 5; step++) {
        rig_take_all(rig, order);
        for (uint32_t i = 0; i < rig->cells; i++) {
            if (i % step == 0)
                tsm_returns_give(rig->returns, order[i]);
            else
                tsm_returns_keep(&rig->own, order[i]);
        }
    }
    rig_take_all(rig, order);
}

static void test_both_ways(void **state)
{
    (void) state;
    everywhere(both_ways);
}

static void count_cell(void *seen, uint32_t cell)
{
    ((int *) seen)[cell]++;
}

/* What came back is named once, and goes out before what the owner still has. */
static void collect(rig_t *rig, uint32_t *order)
{
    uint32_t half = rig->cells / 2;
    static int seen[CELLS_MAX];

    memset(seen, 0, sizeof(seen));
    for (uint32_t i = 0; i < half; i++)
        order[i] = rig_take(rig);
    for (uint32_t i = 0; i < half; i++)
        tsm_returns_give(rig->returns, order[i]);
    for (int i = 0; i < 2; i++)
        tsm_returns_collect(rig->returns, &rig->own, count_cell, seen);
    for (uint32_t i = half; i > 0; i--) {
        assert_int_equal(rig_take(rig), order[i - 1]);
        assert_int_equal(seen[order[i - 1]]--, 1);
    }
    for (uint32_t i = 0; i < rig->cells; i++)
        assert_int_equal(seen[i], 0);
    for (uint32_t i = 0; i < half; i++)
        tsm_returns_keep(&rig->own, order[i]);
    rig_take_all(rig, order);
}

static void test_collect(void **state)
{
    (void) state;
    everywhere(collect);
}

/* The oldest first: those that were never used until `early' have been, then the others in the order in
 * which they came back, over several laps. */
static void oldest(rig_t *rig, uint32_t *order)
{
    const uint32_t early = rig->cells / 2;

    for (uint32_t i = 0; i < early; i++) {
        order[i] = tsm_returns_take_oldest(&rig->own, early);
        tsm_returns_give(rig->returns, order[i]);
        tsm_returns_collect(rig->returns, &rig->own, NULL, NULL);
    }
    for (uint32_t i = 0; i < 3 * early; i++) {
        uint32_t cell = tsm_returns_take_oldest(&rig->own, early);
        assert_int_equal(cell, order[i % early]);
        if (i % 2 == 0)
            tsm_returns_give(rig->returns, cell);
        else
            tsm_returns_keep(&rig->own, cell);
        tsm_returns_collect(rig->returns, &rig->own, NULL, NULL);
    }
    for (uint32_t i = 0; i < early; i++)
        assert_int_equal(tsm_returns_take_oldest(&rig->own, early), order[(3 * early + i) % early]);
    for (uint32_t i = early; i > 0; i--)
        tsm_returns_give(rig->returns, order[i - 1]);
    tsm_returns_collect(rig->returns, &rig->own, NULL, NULL);
    if (early > 2) {            /* the last one that was given is the newest */
        assert_int_equal(tsm_returns_take_newest(&rig->own, 0), order[0]);
        assert_int_equal(tsm_returns_take_oldest(&rig->own, 0), order[early - 1]);
        tsm_returns_keep(&rig->own, order[0]);
        tsm_returns_keep(&rig->own, order[early - 1]);
    }
    rig_take_all(rig, order);
}

static void test_oldest(void **state)
{
    (void) state;
    everywhere(oldest);
}

/* Traffic: the owner writes into a cell and hands it over, the giver checks it, writes an answer,
 * and gives it back. There are fewer cells than places for them, so that the owner runs out. */
#define HANDS 4                 /* cells on their way to one giver */
#define OWNER UINT32_MAX

typedef struct cell {
    uint32_t user;              /* a giver's number, or OWNER; plain, as all here */
    uint64_t number;
    uint64_t answer;
} cell_t;

/* Shared by the processes, too. */
typedef struct traffic {
    uint32_t givers;
    uint32_t cells;
    uint64_t each;
    cell_t cell[UNIT_TEAM_MAX * HANDS];
    TSM_ATOMIC(uint32_t) hand[UNIT_TEAM_MAX][HANDS];    /* cell + 1, or 0 */
    TSM_ATOMIC(long) broken;
} traffic_t;

static void traffic_broken(traffic_t *traffic, int wrong)
{
    if (wrong)
        tsm_fetch_add(&traffic->broken, 1, TSM_RELAXED);
}

static void giver(traffic_t *traffic, tsm_returns_t *returns, uint32_t me)
{
    for (uint64_t i = 0; i < traffic->each; i++) {
        TSM_ATOMIC(uint32_t) *hand = &traffic->hand[me][i % HANDS];
        uint32_t n;
        while ((n = tsm_load(hand, TSM_ACQUIRE)) == 0)
            sched_yield();
        tsm_store(hand, 0, TSM_RELEASE);
        cell_t *cell = &traffic->cell[n - 1];
        traffic_broken(traffic, cell->user != me || cell->number != i);
        cell->answer = i + me;
        cell->user = OWNER;
        tsm_returns_give(returns, n - 1);
    }
}

/* A cell for the giver's next number; sometimes one that was taken and kept. */
static uint32_t owner_take(traffic_t *traffic, rig_t *rig, int again)
{
    uint32_t n;

    while ((n = rig_take(rig)) == TSM_RETURNS_NONE)
        sched_yield();
    if (again) {
        tsm_returns_keep(&rig->own, n);
        traffic_broken(traffic, rig_take(rig) != n);
    }
    cell_t *cell = &traffic->cell[n];
    traffic_broken(traffic, n >= traffic->cells || cell->user != OWNER);
    return n;
}

static void owner(traffic_t *traffic, rig_t *rig)
{
    for (uint64_t i = 0; i < traffic->each; i++) {
        for (uint32_t to = 0; to < traffic->givers; to++) {
            TSM_ATOMIC(uint32_t) *hand = &traffic->hand[to][i % HANDS];
            uint32_t n = owner_take(traffic, rig, (i + to) % 3 == 0);
            traffic->cell[n] = (cell_t) {.user = to,.number = i };
            while (tsm_load(hand, TSM_ACQUIRE) != 0)
                sched_yield();
            tsm_store(hand, n + 1, TSM_RELEASE);
        }
    }
}

static void traffic_start(traffic_t *traffic, uint32_t givers, uint32_t cells, long messages)
{
    memset((void *) traffic, 0, sizeof(*traffic));
    traffic->givers = givers;
    traffic->cells = cells;
    traffic->each = (uint64_t) (unit_scaled(messages) / (long) givers) + 1;
    for (uint32_t i = 0; i < cells; i++)
        traffic->cell[i].user = OWNER;
}

/* Nobody uses a cell now. */
static void traffic_end(traffic_t *traffic, rig_t *rig)
{
    static uint32_t order[CELLS_MAX];

    assert_int_equal(tsm_load(&traffic->broken, TSM_RELAXED), 0);
    rig_take_all(rig, order);
    for (uint32_t i = 0; i < traffic->cells; i++)
        assert_int_equal(traffic->cell[i].user, OWNER);
}

typedef struct team {
    traffic_t traffic;
    rig_t rig;
} team_t;

static void team_body(int id, void *arg)
{
    team_t *team = arg;

    if ((uint32_t) id == team->traffic.givers)
        owner(&team->traffic, &team->rig);
    else
        giver(&team->traffic, team->rig.returns, (uint32_t) id);
}

static void threads(uint32_t givers, uint32_t cells, long messages)
{
    static team_t team;

    traffic_start(&team.traffic, givers, cells, messages);
    rig_start(&team.rig, cells);
    unit_team((int) givers + 1, team_body, &team);
    traffic_end(&team.traffic, &team.rig);
    rig_end(&team.rig);
}

static void test_threads(void **state)
{
    (void) state;
    for (size_t s = 0; s < UNIT_TEAM_SIZES; s++) {
        uint32_t n = unit_team_sizes[s] < UNIT_TEAM_MAX ? (uint32_t) unit_team_sizes[s] :
            UNIT_TEAM_MAX - 1;
        for (uint32_t cells = n / 4 + 1; cells <= n * HANDS; cells = 3 * cells + 1) {
            /* a busy machine takes long for a yield, and few cells mean many of them */
            threads(n, cells, cells < 20 ? 500 * (long) cells : 10000);
            unit_perturb_one_in = 7;
            threads(n, cells, 1000);
            unit_perturb_one_in = 0;
        }
    }
}

/* The givers are processes. */
#define CHILDREN 3

static pid_t child_start(traffic_t *traffic, tsm_returns_t *returns, uint32_t me)
{
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        giver(traffic, returns, me);
        _exit(0);
    }
    assert_true(child > 0);
    return child;
}

static void processes(uint32_t cells, long messages)
{
    size_t size = sizeof(traffic_t) + TSM_CACHELINE + tsm_returns_size(cells);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child[CHILDREN];
    rig_t rig = {.cells = cells };
    int status;

    assert_true(memory != MAP_FAILED);
    traffic_t *traffic = (traffic_t *) memory;
    rig.returns = (tsm_returns_t *) (memory + (sizeof(traffic_t) / TSM_CACHELINE + 1) *
                                     TSM_CACHELINE);
    traffic_start(traffic, CHILDREN, cells, messages);
    tsm_returns_init(rig.returns, cells, &rig.own, malloc(tsm_returns_own_size(cells)));
    for (uint32_t i = 0; i < CHILDREN; i++)
        child[i] = child_start(traffic, rig.returns, i);
    owner(traffic, &rig);
    for (int i = 0; i < CHILDREN; i++) {
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    traffic_end(traffic, &rig);
    free(rig.own.used);
    munmap(memory, size);
}

static void test_processes(void **state)
{
    (void) state;
    for (uint32_t cells = 1; cells <= CHILDREN * HANDS; cells = 3 * cells + 1) {
        processes(cells, 500 * (long) cells);
        unit_perturb_one_in = 7;
        processes(cells, 1000);
        unit_perturb_one_in = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_once),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_give),
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_collect),
        cmocka_unit_test(test_oldest),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_processes),
    };
    return cmocka_run_group_tests_name("returns", tests, NULL, NULL);
}
