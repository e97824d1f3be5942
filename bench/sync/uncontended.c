/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One thread acquires and releases a free lock: nanoseconds for the pair. Each lock is inlined in a
 * loop of its own, and the loops take turns. A loop is much shorter than a time slice, and the
 * result is the median of several, so other programs disturb it little. */
#include "locks.h"

#define PAIRS 10000
#define LOOPS 21
#define USAGE "uncontended [-l lock,...] [-r rounds] [-P]"

#define KEEP() __asm__ __volatile__("" : : : "memory")

#define LOOP(name_, library_) \
    __attribute__((noinline)) static double loop_##name_(void *lock, void *context) \
    { \
        double start = bench_now(); \
        for (long i = 0; i < PAIRS; i++) { \
            lk_##name_##_acquire(lock, context); \
            KEEP(); \
            lk_##name_##_release(lock, context); \
            KEEP(); \
        } \
        return bench_now() - start; \
    }
BENCH_LOCKS(LOOP)

#define ROW(name_, library_) loop_##name_,
static double (*const loops[])(void *lock, void *context) = { BENCH_LOCKS(ROW) };

/* Seconds for one loop of the kind. */
static double measure(int kind, void *lock, void *context)
{
    double seconds[LOOPS];

    for (int i = 0; i < LOOPS; i++)
        seconds[i] = loops[kind](lock, context);
    return bench_median(seconds, LOOPS);
}

static void report(const lock_kind_t *kind, int round, double seconds)
{
    json_begin("uncontended");
    json_text("lock", kind->name);
    json_text("library", kind->library);
    json_int("threads", 1);
    json_int("round", round);
    json_end(seconds / PAIRS * 1e9, "ns/pair");
}

int main(int argc, char **argv)
{
    bench_options_t o = bench_parse(argc, argv, "l:r:P", USAGE, (bench_options_t) {.rounds = 25 });
    void *lock[LOCK_KINDS], *context[LOCK_KINDS];

    bench_check_names(o.names, lock_name);
    bench_not_alone();
    if (o.pin)
        bench_pin(0);
    for (int k = 0; k < LOCK_KINDS; k++) {
        lock[k] = lock_kinds[k].create();
        context[k] = lock_kinds[k].context();
    }
    /* round -1 warms up */
    for (int round = -1; round < o.rounds; round++) {
        for (int i = 0; i < LOCK_KINDS; i++) {
            int k = bench_turn(i, LOCK_KINDS, round);
            if (!bench_named(o.names, lock_kinds[k].name))
                continue;
            double seconds = measure(k, lock[k], context[k]);
            if (round >= 0)
                report(&lock_kinds[k], round, seconds);
        }
    }
    bench_free_all();
    return 0;
}
