/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Flushes of one-sided operations that go as active messages (src/ch4/transport/am_counts.h), which
 * run under a lock: so one thread takes random steps for many. Operations have the number of the
 * step in which they begin. A flush that returns too early leaves one that is older than its first
 * look; one that ends must do so as soon as two generations of older operations have ended. */

#include "unit.h"

typedef int MPIR_cc_t;
#define MPIR_cc_set(counter_, value_) (*(counter_) = (value_))
#define MPIR_cc_inc(counter_) ((*(counter_))++)
#define MPIR_cc_get(counter_) (counter_)
#define MPL_STATIC_INLINE_PREFIX static inline

#include "../../src/ch4/transport/am_counts.h"

#define OPERATIONS 64
#define FLUSHES 4
#define ALWAYS 2                        /* operations that stay under way */

typedef struct {
    long begun;                         /* its step, or 0: not under way */
    MPIR_cc_t *counter;
} operation_t;

typedef struct {
    MPIDI_am_flush_t flush;
    long begun;                         /* step of its first look, or 0: not begun */
    long first;                         /* step of the look at which all older than that had ended */
} flusher_t;

static MPIDI_am_counts_t counts;
static operation_t operations[OPERATIONS];
static flusher_t flushers[FLUSHES];
static int under_way, early, late;
static long ended, ended_busy;

static int clear(void **state)
{
    (void) state;
    MPIDI_am_counts_init(&counts);
    for (int i = 0; i < OPERATIONS; i++)
        operations[i].begun = 0;
    for (int i = 0; i < FLUSHES; i++)
        flushers[i].begun = 0;
    under_way = early = late = 0;
    ended = ended_busy = 0;
    return 0;
}

static int draw(int below)
{
    static uint64_t state = 1;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int) ((state >> 20) % (uint64_t) below);
}

static void begin(int i, long now)
{
    operations[i].counter = MPIDI_am_counts_begin(&counts);
    operations[i].begun = now;
    under_way++;
}

static void end(int i)
{
    (*operations[i].counter)--;
    operations[i].begun = 0;
    under_way--;
}

/* The operation that began first, or -1. */
static int oldest(void)
{
    int first = -1;

    for (int i = 0; i < OPERATIONS; i++) {
        if (operations[i].begun &&
            (first < 0 || operations[i].begun < operations[first].begun))
            first = i;
    }
    return first;
}

static int all_ended_before(long step)
{
    int i = oldest();

    return i < 0 || operations[i].begun > step;
}

static void look(flusher_t * f, long now)
{
    int must;

    if (!f->begun) {
        f->flush = (MPIDI_am_flush_t) { 0 };
        f->begun = now;
        f->first = 0;
    }
    must = f->first && all_ended_before(f->first);
    if (MPIDI_am_counts_flushed(&counts, &f->flush)) {
        early += !all_ended_before(f->begun);
        ended++;
        ended_busy += under_way > 0;
        f->begun = 0;
    } else {
        late += must;
        if (!f->first && all_ended_before(f->begun))
            f->first = now;
    }
}

/* Operations end in any order, or the oldest first; a preempted flush looks rarely. */
static void random_steps(long steps, int in_order, int preempted, int room)
{
    for (long now = 1; now <= steps; now++) {
        int i = draw(OPERATIONS);

        switch (draw(3)) {
            case 0:
                if (!operations[i].begun && under_way < room)
                    begin(i, now);
                break;
            case 1:
                if (in_order)
                    i = oldest();
                if (i >= 0 && operations[i].begun && (under_way > ALWAYS || draw(100) == 0))
                    end(i);
                break;
            default:
                if (i % FLUSHES != 0 || !preempted || draw(50) == 0)
                    look(&flushers[i % FLUSHES], now);
        }
    }
    assert_int_equal(early, 0);
    assert_int_equal(late, 0);
    assert_true(ended_busy > steps / 1000);
    assert_true(MPIDI_am_counts_any(&counts) == (under_way > 0));
}

static void test_random(void **state)
{
    (void) state;
    for (int kind = 0; kind < 12; kind++) {
        static const int room[] = { 3, 8, OPERATIONS };

        clear(NULL);
        random_steps(unit_scaled(200000), kind & 1, kind & 2, room[kind / 4]);
    }
}

static void test_nothing_under_way(void **state)
{
    MPIDI_am_flush_t flush = { 0 };

    (void) state;
    assert_int_equal(MPIDI_am_counts_flushed(&counts, &flush), 1);
    assert_int_equal(counts.generation, 0);
    assert_int_equal(MPIDI_am_counts_any(&counts), 0);
}

/* Both generations are in use when a flush begins: it waits for both and no third. */
static void test_two_generations(void **state)
{
    MPIDI_am_flush_t one = { 0 }, two = { 0 };

    (void) state;
    begin(0, 1);
    assert_int_equal(MPIDI_am_counts_flushed(&counts, &one), 0);
    begin(1, 2);
    assert_int_equal(MPIDI_am_counts_flushed(&counts, &two), 0);
    begin(2, 3);                        /* shares the generation of 1 */
    end(0);
    assert_int_equal(MPIDI_am_counts_flushed(&counts, &one), 1);
    assert_int_equal(MPIDI_am_counts_flushed(&counts, &two), 0);
    begin(3, 4);
    end(1);
    assert_int_equal(MPIDI_am_counts_flushed(&counts, &two), 0);
    end(2);
    assert_int_equal(MPIDI_am_counts_flushed(&counts, &two), 1);
    assert_int_equal(under_way, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nothing_under_way, clear),
        cmocka_unit_test_setup(test_two_generations, clear),
        cmocka_unit_test_setup(test_random, clear),
    };

    return cmocka_run_group_tests_name("am_counts", tests, NULL, NULL);
}
