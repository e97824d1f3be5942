/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The locks of locks.def as MPICH uses them, through tsm_lock.h, against the bare Pthread mutex:
 * nanoseconds of a pair on one thread, and acquisitions a second of T threads. The locks take
 * turns. At the end the program prints a table of medians as multiples of the mutex's. */
#include "lock_kind.h"

#define USAGE "lock_kinds [-l lock,...] [-t threads,...] [-c cs_ns] [-p ps_ns] [-d seconds] " \
    "[-r rounds] [-P]"

#define PAIRS 4096
#define MAX_ROUNDS 64

extern const lock_loops_t loops_0;
#define TSM_LOCK_KIND(NAME_, name_, number_, priority_, help_) \
    extern const lock_loops_t loops_##number_;
#include "lock/locks.def"
#undef TSM_LOCK_KIND

static const struct kind {
    const char *name;
    const lock_loops_t *loops;
} kinds[] = {
    { "pthread", &loops_0 },
#define TSM_LOCK_KIND(NAME_, name_, number_, priority_, help_) { #name_, &loops_##number_ },
#include "lock/locks.def"
#undef TSM_LOCK_KIND
};
#define KINDS ((int) (sizeof(kinds) / sizeof(kinds[0])))

typedef struct shared {
    const lock_loops_t *loops;
    void *lock;
    uint64_t cs, ps;                    /* in rounds of bench_work */
    bench_tally_t inside;               /* written under the lock */
    bench_tally_t tally[BENCH_MAX_THREADS];
} shared_t;

static bench_options_t opt;
static double result[KINDS][BENCH_MAX_POINTS + 1][MAX_ROUNDS];

static const char *kind_name(int i)
{
    return i < KINDS ? kinds[i].name : NULL;
}

static void body(bench_team_t *team, int id, void *arg)
{
    shared_t *s = arg;

    bench_ready(team);
    s->tally[id].count = s->loops->contend(s->lock, team, &s->inside.count, s->cs, s->ps);
}

/* Million acquisitions a second. */
static double contended(int k, int threads)
{
    static shared_t s;
    uint64_t sum = 0;

    memset(&s, 0, sizeof(s));
    s.loops = kinds[k].loops;
    s.lock = s.loops->create();
    s.cs = bench_rounds((double) opt.cs_ns);
    s.ps = bench_rounds((double) opt.ps_ns);
    double seconds = bench_run(threads, opt.pin, opt.seconds, body, &s);
    for (int i = 0; i < threads; i++)
        sum += s.tally[i].count;
    if (sum != s.inside.count)
        bench_die(1, "%s: no mutual exclusion", kinds[k].name);
    s.loops->destroy(s.lock);
    return (double) sum / seconds * 1e-6;
}

/* Nanoseconds for a pair, the median of some loops. */
static double uncontended(int k)
{
    enum { LOOPS_OF_PAIRS = 25 };
    double seconds[LOOPS_OF_PAIRS];
    void *lock = kinds[k].loops->create();

    for (int i = 0; i < LOOPS_OF_PAIRS; i++)
        seconds[i] = kinds[k].loops->pairs(lock, PAIRS);
    kinds[k].loops->destroy(lock);
    return bench_median(seconds, LOOPS_OF_PAIRS) / PAIRS * 1e9;
}

static void line(int k, int threads, int round, double value)
{
    json_begin(threads ? "lock_kinds" : "lock_kinds_pair");
    json_text("lock", kinds[k].name);
    json_int("threads", threads ? threads : 1);
    json_int("cs_ns", opt.cs_ns);
    json_int("ps_ns", opt.ps_ns);
    json_int("round", round);
    json_end(value, threads ? "million acquisitions/s" : "ns/pair");
}

static void one_round(int round)
{
    for (int point = 0; point <= opt.threads.n; point++) {
        for (int i = 0; i < KINDS; i++) {
            int k = round % 2 ? KINDS - 1 - i : i;
            int threads = point ? (int) opt.threads.v[point - 1] : 0;
            if (!bench_named(opt.names, kinds[k].name))
                continue;
            result[k][point][round] = threads ? contended(k, threads) : uncontended(k);
            line(k, threads, round, result[k][point][round]);
        }
    }
}

/* The median over the rounds of k's value divided by the mutex's in the same round. */
static double ratio(int k, int point)
{
    double r[MAX_ROUNDS];

    for (int round = 0; round < opt.rounds; round++)
        r[round] = result[k][point][round] / result[0][point][round];
    return bench_median(r, opt.rounds);
}

static void table(void)
{
    fprintf(stderr, "%-9s %9s %8s", "lock", "ns/pair", "ratio");
    for (int p = 0; p < opt.threads.n; p++)
        fprintf(stderr, " %5ld thr", opt.threads.v[p]);
    fprintf(stderr, "\n");
    for (int k = 0; k < KINDS; k++) {
        if (!bench_named(opt.names, kinds[k].name))
            continue;
        double seconds[MAX_ROUNDS];
        memcpy(seconds, result[k][0], sizeof(seconds));
        fprintf(stderr, "%-9s %9.1f %8.2f", kinds[k].name, bench_median(seconds, opt.rounds),
                ratio(k, 0));
        for (int p = 1; p <= opt.threads.n; p++)
            fprintf(stderr, " %9.2f", ratio(k, p));
        fprintf(stderr, "\n");
    }
}

int main(int argc, char **argv)
{
    opt = bench_parse(argc, argv, "l:t:c:p:d:r:P", USAGE, (bench_options_t) {
                      .seconds = 0.1,.rounds = 7,.cs_ns = 100,.ps_ns = 100,
                      .threads = bench_ints('t', "1,2,4,8,16", 1, BENCH_MAX_THREADS)});
    bench_check_names(opt.names, kind_name);
    if (opt.rounds > MAX_ROUNDS)
        bench_die(2, "at most %d rounds", MAX_ROUNDS);
    if (!bench_named(opt.names, "pthread"))
        bench_die(2, "-l must name pthread, which the others are compared with");
    bench_not_alone();
    for (int round = 0; round < opt.rounds; round++)
        one_round(round);
    table();
    return 0;
}
