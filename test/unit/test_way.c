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

/* So many copies, each of which takes what its way takes. Returns how many went past the caches. */
static int copies(MPIDI_POSIX_ring_way_t *way, int n, uint64_t ordinary, uint64_t past)
{
    int away = 0, timed;

    for (int i = 0; i < n; i++) {
        int one = MPIDI_POSIX_ring_way_choose(way, &timed);
        if (timed) {
            uint32_t theirs = (uint32_t) ((one ? past : ordinary) / 2);
            MPIDI_POSIX_ring_timing_t timing = { way, &theirs, (one ? past : ordinary) - theirs, one };
            MPIDI_POSIX_ring_way_end(&timing);
        }
        away += one;
    }
    return away;
}

#define OTHER(n_) ((n_) / MPIDI_POSIX_RING_WAY_OTHER + 1)

static void test_faster(void **state)
{
    MPIDI_POSIX_ring_way_t near = { {0}, 0 }, far = { {0}, 0 };

    (void) state;
    assert_in_range(copies(&near, 5000, 1000, 2000), 1, OTHER(5000) + 1);
    assert_in_range(5000 - copies(&far, 5000, 8000, 2000), 1, OTHER(5000) + 1);
}

/* An ordinary copy takes longer after others past the caches: that does not keep these. */
static void test_stays_not(void **state)
{
    MPIDI_POSIX_ring_way_t way = { {0}, 0 };

    (void) state;
    copies(&way, 1000, 8000, 2000);
    copies(&way, 1000, 3400, 2000);
    assert_in_range(copies(&way, 5000, 3400, 2000), 1, OTHER(5000));
}

/* The machine changes: after some hundred copies the other way is taken, both times. */
static void test_changes(void **state)
{
    MPIDI_POSIX_ring_way_t way = { {0}, 0 };

    (void) state;
    copies(&way, 1000, 700, 1600);
    for (int i = 0; i < 5; i++) {
        copies(&way, 1000, 8000, 1700);
        assert_in_range(5000 - copies(&way, 5000, 8000, 1700), 1, OTHER(5000));
        copies(&way, 1000, 700, 1600);
        assert_in_range(copies(&way, 5000, 700, 1600), 1, OTHER(5000));
    }
}

/* One time in ten is that of a thread that had the processor meanwhile. */
static void test_interrupted(void **state)
{
    MPIDI_POSIX_ring_way_t way = { {0}, 0 };
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
        cmocka_unit_test(test_stays_not),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests_name("way", tests, NULL, NULL);
}
