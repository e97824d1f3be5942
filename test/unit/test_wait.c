/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* tsm_wait.h: waits end, parked threads are woken, no wake is lost. */

#include "unit.h"

#include <errno.h>
#include <time.h>

#include "tsm_wait.h"

enum { WAITING, PARKED, DONE };

static const tsm_wait_policy_t park_at_once = { 0, 0, 1 };

typedef struct cell {
    TSM_ATOMIC(uint32_t) word;
    tsm_wait_policy_t policy;
    int data;                   /* plain: the wake must publish it */
    TSM_ATOMIC(int) seen;
} cell_t;

static void wait_body(int id, void *arg)
{
    cell_t *cell = arg;

    (void) id;
    tsm_wait_word(&cell->word, WAITING, PARKED, cell->policy);
    tsm_fetch_add(&cell->seen, cell->data, TSM_RELAXED);
}

static void cell_init(cell_t *cell, tsm_wait_policy_t policy)
{
    tsm_store(&cell->word, WAITING, TSM_RELAXED);
    tsm_store(&cell->seen, 0, TSM_RELAXED);
    cell->policy = policy;
    cell->data = 0;
}

/* Thread 0 wakes the others, which wait, once one is parked. */
static void parked_body(int id, void *arg)
{
    cell_t *cell = arg;

    if (id > 0) {
        wait_body(id, arg);
        return;
    }
    while (tsm_load(&cell->word, TSM_RELAXED) != PARKED)
        sched_yield();
    for (int i = 0; i < 20; i++) {
        tsm_futex_(&cell->word, FUTEX_WAKE, INT_MAX);   /* spurious: no thread may leave */
        sched_yield();
    }
    if (tsm_load(&cell->seen, TSM_RELAXED) != 0)
        return;
    cell->data = 1;
    tsm_wake_word(&cell->word, DONE, PARKED);
}

static void test_parked_is_woken(void **state)
{
    cell_t cell;

    (void) state;
    for (size_t s = 1; s < UNIT_TEAM_SIZES; s++) {
        cell_init(&cell, park_at_once);
        unit_team(unit_team_sizes[s], parked_body, &cell);
        assert_int_equal(tsm_load(&cell.word, TSM_RELAXED), DONE);
        assert_int_equal(tsm_load(&cell.seen, TSM_RELAXED), unit_team_sizes[s] - 1);
    }
}

/* Takes the place of the C library's, which tsm_nap() calls. The kernel's count of sleeps would not do:
 * on a busy machine the time of a nap may be over before the thread sleeps. */
static TSM_ATOMIC(int) naps;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
    tsm_fetch_add(&naps, 1, TSM_RELAXED);
    return clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest) ? -1 : 0;
}

static int naps_of(int yields, int crowded)
{
    tsm_store(&naps, 0, TSM_RELAXED);
    tsm_load_override(crowded);
    for (int i = 0; i < yields; i++)
        tsm_yield();
    tsm_load_override(-1);
    return tsm_load(&naps, TSM_RELAXED);
}

static void test_yields_sleep_now_and_then(void **state)
{
    enum { NAPS = 4 };

    (void) state;
    assert_int_equal(naps_of(NAPS * TSM_YIELDS_PER_NAP, 1), NAPS);
    assert_true(naps_of(NAPS * TSM_YIELDS_PER_NAP, 0) < NAPS);
    assert_int_equal(naps_of(NAPS * TSM_LONE_YIELDS_PER_NAP, 0), NAPS);
}

static void test_wake_before_wait(void **state)
{
    cell_t cell;

    (void) state;
    cell_init(&cell, park_at_once);
    errno = 77;
    tsm_wake_word(&cell.word, DONE, PARKED);
    tsm_wait_word(&cell.word, WAITING, PARKED, park_at_once);
    tsm_futex_(&cell.word, FUTEX_WAIT, PARKED);         /* fails with EAGAIN inside */
    assert_int_equal(errno, 77);
    /* the flag comes too late: the park itself must notice */
    tsm_wait_word_park_(&cell.word, WAITING, PARKED);
    assert_int_equal(tsm_load(&cell.word, TSM_RELAXED), DONE);
}

#define SIDES 2

typedef struct pingpong {
    cell_t side[SIDES];
    long rounds;
    long ball;                  /* plain: passed to and fro by the wakes */
    long broken;
} pingpong_t;

static void pingpong_body(int id, void *arg)
{
    pingpong_t *game = arg;
    cell_t *mine = &game->side[id], *theirs = &game->side[1 - id];

    for (long i = 0; i < game->rounds; i++) {
        if (id == 1 || i > 0)
            tsm_wait_word(&mine->word, WAITING, PARKED, mine->policy);
        tsm_store(&mine->word, WAITING, TSM_RELAXED);
        if (game->ball++ != 2 * i + id)
            game->broken++;
        tsm_wake_word(&theirs->word, DONE, PARKED);
    }
}

static void pingpong(tsm_wait_policy_t policy)
{
    pingpong_t game = { .rounds = unit_scaled(20000) };

    cell_init(&game.side[0], policy);
    cell_init(&game.side[1], policy);
    unit_team(SIDES, pingpong_body, &game);
    assert_int_equal(game.broken, 0);
    assert_int_equal(game.ball, SIDES * game.rounds);
}

/* The wake falls before, into and after the park, many times over: at most after one round of spins
 * where threads are said to outnumber the processors, else hardly ever. */
static void test_no_wake_is_lost(void **state)
{
    (void) state;
    pingpong(park_at_once);
    pingpong((tsm_wait_policy_t) {0, 1, 1});
    for (int crowded = 0; crowded <= 1; crowded++) {
        tsm_load_override(crowded);
        pingpong((tsm_wait_policy_t) {1, 0, 1});
        pingpong((tsm_wait_policy_t) {100, 0, 1});
        pingpong(TSM_WAIT_PARK);
        pingpong(TSM_WAIT_POLL);
    }
    tsm_load_override(-1);
}

/* The counter: each side sleeps on its own and counts the other's on. */
typedef struct counting {
    TSM_ATOMIC(uint32_t) side[SIDES];
    tsm_wait_policy_t policy;
    uint64_t limit_ns;          /* of each sleep; 0: by the policy, without a limit */
    long rounds;
    long ball;                  /* plain: passed to and fro by the wakes */
    long broken;
} counting_t;

static void counting_wait(counting_t *game, int id, uint32_t seen)
{
    if (game->limit_ns == 0)
        tsm_wait_count(&game->side[id], seen, game->policy);
    while (tsm_count_read(&game->side[id]) == seen)
        tsm_wait_count_for(&game->side[id], seen, game->limit_ns);
}

static void counting_body(int id, void *arg)
{
    counting_t *game = arg;

    for (long i = 0; i < game->rounds; i++) {
        if (id == 1 || i > 0)
            counting_wait(game, id, (uint32_t) (i - (id == 0)) * TSM_COUNT_ONE);
        if (game->ball++ != 2 * i + id)
            game->broken++;
        tsm_wake_count(&game->side[1 - id]);
    }
}

static void counting(tsm_wait_policy_t policy, uint64_t limit_ns)
{
    counting_t game = {.policy = policy,.limit_ns = limit_ns,.rounds = unit_scaled(20000) };

    unit_team(SIDES, counting_body, &game);
    assert_int_equal(game.broken, 0);
    assert_int_equal(game.ball, SIDES * game.rounds);
    counting_wait(&game, 0, (uint32_t) (game.rounds - 1) * TSM_COUNT_ONE);
    for (int i = 0; i < SIDES; i++)
        assert_int_equal(tsm_load(&game.side[i], TSM_RELAXED), game.rounds * TSM_COUNT_ONE);
}

static void test_no_count_is_lost(void **state)
{
    (void) state;
    counting(park_at_once, 0);
    counting((tsm_wait_policy_t) {0, 1, 1}, 0);
    for (int crowded = 0; crowded <= 1; crowded++) {
        tsm_load_override(crowded);
        counting((tsm_wait_policy_t) {100, 0, 1}, 0);
        counting(TSM_WAIT_PARK, 0);
        counting(TSM_WAIT_POLL, 0);
    }
    tsm_load_override(-1);
    counting(park_at_once, 1000);       /* most sleeps end by their limit */
    counting(park_at_once, 3600 * UINT64_C(1000000000));        /* no sleep does */
}

static void unparked_body(int id, void *arg)
{
    cell_t *cell = arg;

    if (id > 0) {
        wait_body(id, arg);
        return;
    }
    for (int i = 0; i < 1000; i++) {
        sched_yield();
        if (tsm_load(&cell->word, TSM_RELAXED) != WAITING)
            return;
    }
    cell->data = 1;
    tsm_wake_word(&cell->word, DONE, PARKED);
}

static void test_poll_never_parks(void **state)
{
    cell_t cell;

    (void) state;
    cell_init(&cell, TSM_WAIT_POLL);
    unit_team(3, unparked_body, &cell);
    assert_int_equal(tsm_load(&cell.seen, TSM_RELAXED), 2);
}

static void until_body(int id, void *arg)
{
    cell_t *cell = arg;

    if (id == 0) {
        cell->data = 5;
        tsm_store(&cell->word, DONE, TSM_RELEASE);
    } else {
        tsm_wait_until(tsm_load(&cell->word, TSM_ACQUIRE) == DONE, cell->policy);
        tsm_fetch_add(&cell->seen, cell->data, TSM_RELAXED);
    }
}

static void test_until(void **state)
{
    cell_t cell;

    (void) state;
    for (long i = unit_scaled(200); i > 0; i--) {
        cell_init(&cell, i % 2 ? TSM_WAIT_POLL : TSM_WAIT_PARK);
        unit_team(3, until_body, &cell);
        assert_int_equal(tsm_load(&cell.seen, TSM_RELAXED), 10);
    }
}

static int steps_before_park(int crowded)
{
    tsm_wait_state_t wait = tsm_wait_begin((tsm_wait_policy_t) {5, 2, 1});
    int steps = 0;

    tsm_load_override(crowded);
    while (!tsm_wait_step(&wait, 3))
        steps++;
    tsm_load_override(-1);
    return steps;
}

/* Two steps of pauses and two yields; while each thread has a processor, the rounds in between. */
static void test_steps_are_bounded(void **state)
{
    (void) state;
    if (tsm_load_processors() == 1) {
        assert_int_equal(steps_before_park(0), 2);
        assert_int_equal(steps_before_park(1), 2);
    } else {
        assert_int_equal(steps_before_park(0), 4 + 3 * (TSM_WAIT_PAUSES / 5));
        assert_int_equal(steps_before_park(1), 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_are_bounded),
        cmocka_unit_test(test_yields_sleep_now_and_then),
        cmocka_unit_test(test_wake_before_wait),
        cmocka_unit_test(test_parked_is_woken),
        cmocka_unit_test(test_poll_never_parks),
        cmocka_unit_test(test_until),
        cmocka_unit_test(test_no_wake_is_lost),
        cmocka_unit_test(test_no_count_is_lost),
    };
    return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
