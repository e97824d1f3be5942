/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* How data gets into a cell (src/ch4/transport/ring/ring_way.h): the faster way is found, and found
 * again when it changes; a few copies go the other way; the time of another thread changes nothing. */

#include "unit.h"

#include <stdlib.h>

#include "../../src/ch4/transport/ring/ring_way.h"

#define RANKS 3

/* So many copies, each of which takes what its way takes; the cell of a timed one comes back with the
 * `late'th copy behind it at the latest, as all do then. Returns how many went past the caches. */
static int late_copies(MPIDI_POSIX_ring_way_t *way, int late, int n, uint64_t ordinary, uint64_t past)
{
    int away = 0, timed, pending = 0;
    MPIDI_POSIX_ring_timing_t timing = { way, NULL, 0, 0 };
    uint32_t theirs = 0;

    for (int i = 0; i < n; i++) {
        int one = MPIDI_POSIX_ring_way_choose(way, !pending, &timed);
        uint64_t ns = one ? past : ordinary;
        MPIDI_POSIX_ring_way_sent(way, one, timed);
        if (timed) {
            assert_false(pending);
            pending = 1;
            theirs = (uint32_t) (ns / 2);
            timing = (MPIDI_POSIX_ring_timing_t) { way, &theirs, ns - ns / 2, one };
        }
        away += one;
        if (pending && i % late == late - 1) {
            MPIDI_POSIX_ring_way_end(&timing);
            pending = 0;
        }
    }
    if (pending)
        MPIDI_POSIX_ring_way_end(&timing);
    return away;
}

static int copies(MPIDI_POSIX_ring_way_t *way, int n, uint64_t ordinary, uint64_t past)
{
    return late_copies(way, 1, n, ordinary, past);
}

#define OTHER(n_) ((n_) / MPIDI_POSIX_RING_WAY_OTHER + 1)

static void test_faster(void **state)
{
    MPIDI_POSIX_ring_way_t near = { {0}, 0, 0, 0 }, far = { {0}, 0, 0, 0 };

    (void) state;
    assert_in_range(copies(&near, 5000, 1000, 2000), 1, OTHER(5000) + 1);
    assert_in_range(5000 - copies(&far, 5000, 8000, 2000), 1, OTHER(5000) + 1);
}

/* The machine changes: after some hundred copies the other way is taken, both times. */
static void test_changes(void **state)
{
    MPIDI_POSIX_ring_way_t way = { {0}, 0, 0, 0 };

    (void) state;
    copies(&way, 1000, 700, 1600);
    for (int i = 0; i < 5; i++) {
        copies(&way, 1000, 8000, 1700);
        assert_in_range(5000 - copies(&way, 5000, 8000, 1700), 1, OTHER(5000));
        copies(&way, 1000, 700, 1600);
        assert_in_range(copies(&way, 5000, 700, 1600), 1, OTHER(5000));
    }
}

/* Cells come back a round at a time, whose length divides the numbers of copies after which one is
 * timed: the other way has its turn nevertheless. The first look was wrong, in either direction. */
static void test_late(void **state)
{
    (void) state;
    for (int late = 1; late <= 4 * MPIDI_POSIX_RING_WAY_OTHER; late *= 2) {
        MPIDI_POSIX_ring_way_t way = { {0}, 0, 0, 0 };
        const int some = 4 * late, settled = 40 * (late + MPIDI_POSIX_RING_WAY_OTHER);
        late_copies(&way, late, some, 18000, 1700);
        late_copies(&way, late, settled, 700, 1600);
        assert_in_range(late_copies(&way, late, settled, 700, 1600), 1, OTHER(settled));
        late_copies(&way, late, settled, 18000, 1590);
        assert_in_range(settled - late_copies(&way, late, settled, 18000, 1590), 1, OTHER(settled));
    }
}

/* While none can be timed, nothing goes the way that was not found to be faster. */
static void test_pending(void **state)
{
    MPIDI_POSIX_ring_way_t way = { {0}, 0, 0, 0 };
    int timed;

    (void) state;
    for (int known = 0; known < 4; known++) {
        way.ns[0] = known & 1 ? 700 : 0;
        way.ns[1] = known & 2 ? 1600 : 0;
        for (int i = 0; i < 3 * MPIDI_POSIX_RING_WAY_OTHER; i++) {
            assert_int_equal(MPIDI_POSIX_ring_way_choose(&way, 0, &timed), 0);
            assert_int_equal(timed, 0);
            MPIDI_POSIX_ring_way_sent(&way, 0, 0);
        }
    }
    assert_int_equal(MPIDI_POSIX_ring_way_choose(&way, 1, &timed), 1);
    assert_int_equal(timed, 1);
}

/* One time in ten is that of a thread that had the processor meanwhile. */
static void test_interrupted(void **state)
{
    MPIDI_POSIX_ring_way_t way = { {0}, 0, 0, 0 };
    int away = 0;

    (void) state;
    copies(&way, 500, 1000, 2000);
    for (int i = 0; i < 200; i++) {
        MPIDI_POSIX_ring_way_add(&way.ns[0], UINT64_MAX / 4);
        away += copies(&way, 9 * MPIDI_POSIX_RING_WAY_TIMED, 1000, 2000);
    }
    assert_in_range(away, 1, OTHER(200 * 9 * MPIDI_POSIX_RING_WAY_TIMED));
}

/* A time never wraps, however long, and a copy of no time at all counts. */
static void test_limits(void **state)
{
    uint32_t ns = 0;

    (void) state;
    MPIDI_POSIX_ring_way_add(&ns, UINT64_MAX / 8);
    assert_int_equal(ns, UINT32_MAX);
    MPIDI_POSIX_ring_way_add(&ns, UINT64_MAX / 8);
    assert_int_equal(ns, UINT32_MAX);
    for (int i = 0; i < 40; i++)
        MPIDI_POSIX_ring_way_add(&ns, 0);
    assert_int_equal(ns, 0);
}

/* Each receiver and class of sizes has its own. */
static void test_classes(void **state)
{
    MPIDI_POSIX_ring_ways_t *ways = calloc(1, MPIDI_POSIX_ring_ways_size(RANKS));
    MPIDI_POSIX_ring_way_t *last = NULL;
    int classes = 0;

    (void) state;
    assert_non_null(ways);
    for (int rank = 0; rank < RANKS; rank++) {
        for (size_t size = MPIDI_POSIX_RING_WAY_LEAST; size < 10000000; size++) {
            MPIDI_POSIX_ring_way_t *way = MPIDI_POSIX_ring_way_of(ways, rank, size);
            assert_in_range((char *) way - (char *) ways, 0,
                            MPIDI_POSIX_ring_ways_size(RANKS) - sizeof(*way));
            if (way != last)
                classes += last == NULL || way == last + 1;
            last = way;
        }
    }
    assert_int_equal(classes, RANKS * MPIDI_POSIX_RING_WAY_SIZES);
    free(ways);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faster),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_pending),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests_name("way", tests, NULL, NULL);
}
