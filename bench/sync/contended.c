/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* T threads take one lock again and again: acquisitions a second, and the fairness, which is the
 * most acquisitions of a thread over the fewest. The locks take turns. */
#include "locks.h"

#define USAGE "contended [-l lock,...] [-t threads,...] [-c cs_ns] [-p ps_ns] [-d seconds] " \
    "[-r rounds] [-P]"

typedef struct shared {
    const lock_kind_t *kind;
    void *lock;
    uint64_t cs, ps;                    /* in rounds of bench_work */
    bench_tally_t inside;               /* written under the lock */
    bench_tally_t tally[BENCH_MAX_THREADS];
} shared_t;

static bench_options_t opt;

static void body(bench_team_t *team, int id, void *arg)
{
    shared_t *s = arg;
    void *context = s->kind->context();
    uint64_t count = 0;

    bench_ready(team);
    while (!bench_stopped(team)) {
        tsm_load_touch();               /* as each call of a library that uses the locks does */
        s->kind->acquire(s->lock, context);
        s->inside.count++;
        bench_work(s->cs);
        s->kind->release(s->lock, context);
        count++;
        bench_work(s->ps);
    }
    s->tally[id].count = count;
}

static void line(const shared_t *s, const char *bench, int threads, int round, double seconds,
                 double value, const char *unit)
{
    json_begin(bench);
    json_text("lock", s->kind->name);
    json_text("library", s->kind->library);
    json_int("threads", threads);
    json_int("cs_ns", opt.cs_ns);
    json_int("ps_ns", opt.ps_ns);
    json_int("pinned", opt.pin);
    json_int("round", round);
    json_num("seconds", seconds);
    json_end(value, unit);
}

static void report(const shared_t *s, int threads, int round, double seconds)
{
    uint64_t sum = 0, least = UINT64_MAX, most = 0;

    for (int i = 0; i < threads; i++) {
        uint64_t count = s->tally[i].count;
        sum += count;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    if (sum != s->inside.count)
        bench_die(1, "%s: %lu acquisitions left %lu marks: no mutual exclusion", s->kind->name,
                  (unsigned long) sum, (unsigned long) s->inside.count);
    line(s, "throughput", threads, round, seconds, (double) sum / seconds * 1e-6,
         "million acquisitions/s");
    /* a thread that got nothing counts as one that got it once */
    if (threads > 1)
        line(s, "fairness", threads, round, seconds, (double) most / (double) (least ? least : 1),
             "max/min");
}

static void run_one(const lock_kind_t *kind, int threads, int round)
{
    shared_t *s = bench_alloc(sizeof(*s));

    s->kind = kind;
    s->lock = kind->create();
    s->cs = bench_rounds((double) opt.cs_ns);
    s->ps = bench_rounds((double) opt.ps_ns);
    double seconds = bench_run(threads, opt.pin, opt.seconds, body, s);
    report(s, threads, round, seconds);
    bench_free_all();
}

int main(int argc, char **argv)
{
    opt = bench_parse(argc, argv, "l:t:c:p:d:r:P", USAGE, (bench_options_t) {
                      .seconds = 0.2,.rounds = 3,.cs_ns = 100,.ps_ns = 100,
                      .threads = bench_ints('t', "1,2,4,8", 1, BENCH_MAX_THREADS)});
    bench_check_names(opt.names, lock_name);
    bench_each_lock(&opt, run_one);
    return 0;
}
