/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The cost of FUTEX_WAKE for the waking and the woken thread, for each pair of processors (TOPC,
 * figures 3 and 4). Two threads wake each other in turn. As in the paper, the signal time includes
 * the calls that found no thread asleep, which overestimates it, and the wake-up delay is the rest
 * of the round, which underestimates it. call_ns is the time of the successful call alone. */
#include "common.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#define USAGE "futex [-d seconds] [-r rounds] [-t processors]"

typedef struct side {
    TSM_ATOMIC(uint32_t) word;          /* stays 0: the wake-up itself is the message */
    char pad[TSM_CACHELINE - sizeof(uint32_t)];
    double signal, call;                /* seconds, sums */
    uint64_t signals;
    char pad2[TSM_CACHELINE];
} side_t;

typedef struct pair {
    int cpu[2];
    side_t side[2];
    TSM_ATOMIC(int) done;               /* set by the first before its last signal */
} pair_t;

static long futex(side_t *side, int op, uint32_t value)
{
    return syscall(SYS_futex, (void *) &side->word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Wake the other thread, which sleeps or is about to. */
static void signal_to(side_t *me, side_t *other)
{
    double start = bench_now(), last = start;

    while (futex(other, FUTEX_WAKE, 1) < 1)
        last = bench_now();
    double end = bench_now();
    me->signal += end - start;
    me->call += end - last;
    me->signals++;
}

/* Returns only when the other thread has woken this one. */
static void wait_for_signal(side_t *me)
{
    while (futex(me, FUTEX_WAIT, 0) != 0);
}

static void body(bench_team_t *team, int id, void *arg)
{
    pair_t *pair = arg;
    side_t *me = &pair->side[id], *other = &pair->side[1 - id];
    int done = 0;

    bench_pin(pair->cpu[id]);
    bench_ready(team);
    if (id == 1)
        wait_for_signal(me);
    while (!done) {
        if (id == 0 && bench_stopped(team))
            tsm_store(&pair->done, 1, TSM_RELAXED);
        done = tsm_load(&pair->done, TSM_RELAXED);
        signal_to(me, other);
        if (id == 0 || !done)
            wait_for_signal(me);
    }
}

static void report(const pair_t *pair, int id, double half, int round)
{
    const side_t *me = &pair->side[id];
    double n = (double) me->signals, signal_time = me->signal / n;

    json_begin("futex");
    json_int("from", bench_cpu(pair->cpu[id]));
    json_int("to", bench_cpu(pair->cpu[1 - id]));
    json_int("threads", 2);
    json_int("round", round);
    json_num("call_ns", me->call / n * 1e9);
    json_num("wake_ns", (half - signal_time) * 1e9);
    json_num("wake_over_signal", (half - signal_time) / signal_time);
    json_end(signal_time * 1e9, "ns");
}

static void run_one(int a, int b, double seconds, int round)
{
    pair_t *pair = bench_alloc(sizeof(*pair));

    pair->cpu[0] = a;
    pair->cpu[1] = b;
    double elapsed = bench_run(2, 0, seconds, body, pair);
    if (pair->side[0].signals == 0 || pair->side[1].signals == 0)
        bench_die(1, "futex: no round was finished in %g seconds", seconds);
    double half = elapsed / (double) (pair->side[0].signals + pair->side[1].signals);
    report(pair, 0, half, round);
    report(pair, 1, half, round);
    bench_free_all();
}

int main(int argc, char **argv)
{
    bench_options_t o = bench_parse(argc, argv, "d:r:t:", USAGE, (bench_options_t) {
                                    .seconds = 0.2,.rounds = 5,
                                    .threads = bench_ints('t', "8", 1, BENCH_MAX_THREADS)});
    int cpus = tsm_load_processors() < o.threads.v[0] ? tsm_load_processors() : (int) o.threads.v[0];

    if (cpus < 2)
        bench_die(1, "futex: there is one processor only, and a pair needs two");
    for (int round = 0; round < o.rounds; round++) {
        for (int a = 0; a < cpus; a++) {
            for (int b = a + 1; b < cpus; b++)
                run_one(a, b, o.seconds, round);
        }
    }
    return 0;
}
