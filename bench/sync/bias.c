/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The bias factor (TOPC, definitions 5.1 to 5.4): how often a lock goes back to the thread, or to
 * the processor, that had it last, over the same frequency in a fair lottery between the waiting
 * threads. 1 is a fair lottery, more is monopolization, and FIFO is near 0.
 *
 * A thread counts itself as waiting before it competes, and the thread that gets the lock reads the
 * counts. Both sums leave out acquisitions that no other thread waited for. Definition 5.3 includes
 * them, but they add the same to the lower sum of every lock. The counting slows the acquisitions
 * down, so the program reports no throughput. */
#include "locks.h"

#define USAGE "bias [-l lock,...] [-t threads,...] [-c cs_ns] [-p ps_ns] [-d seconds] " \
    "[-r rounds] [-P]"

typedef struct waiting {
    TSM_ATOMIC(uint32_t) threads;
    char pad[TSM_CACHELINE - sizeof(uint32_t)];
} waiting_t;

/* One level of the definitions: M, F and the last owner. Written under the lock. */
typedef struct level {
    double monopoly, fair;
    int last;
} level_t;

typedef struct shared {
    const lock_kind_t *kind;
    void *lock;
    uint64_t cs, ps;
    waiting_t all, cpu[CPU_SETSIZE];
    level_t thread, core;
    uint64_t contested, acquisitions;
} shared_t;

static bench_options_t opt;

static void count_level(level_t *level, int owner, uint32_t like_owner, uint32_t all)
{
    level->monopoly += owner == level->last;
    level->fair += (double) like_owner / (double) all;
}

/* By the holder, which still counts as waiting. */
static void count(shared_t *s, int id, int cpu)
{
    uint32_t all = tsm_load(&s->all.threads, TSM_RELAXED);
    uint32_t here = tsm_load(&s->cpu[cpu].threads, TSM_RELAXED);

    s->acquisitions++;
    if (all > 1) {
        s->contested++;
        count_level(&s->thread, id, 1, all);
        count_level(&s->core, cpu, here < all ? here : all, all);
    }
    s->thread.last = id;
    s->core.last = cpu;
}

static void body(bench_team_t *team, int id, void *arg)
{
    shared_t *s = arg;
    void *context = s->kind->context();

    bench_ready(team);
    while (!bench_stopped(team)) {
        int cpu = sched_getcpu();
        cpu = cpu < 0 || cpu >= CPU_SETSIZE ? 0 : cpu;
        tsm_fetch_add(&s->cpu[cpu].threads, 1, TSM_RELAXED);
        tsm_fetch_add(&s->all.threads, 1, TSM_RELAXED);
        s->kind->acquire(s->lock, context);
        count(s, id, cpu);
        tsm_fetch_add(&s->all.threads, -1, TSM_RELAXED);
        tsm_fetch_add(&s->cpu[cpu].threads, -1, TSM_RELAXED);
        bench_work(s->cs);
        s->kind->release(s->lock, context);
        bench_work(s->ps);
    }
}

static void report(const shared_t *s, const char *level_name, const level_t *level, int threads,
                   int round, double seconds)
{
    json_begin("bias");
    json_text("level", level_name);
    json_text("lock", s->kind->name);
    json_text("library", s->kind->library);
    json_int("threads", threads);
    json_int("cs_ns", opt.cs_ns);
    json_int("ps_ns", opt.ps_ns);
    json_int("pinned", opt.pin);
    json_int("round", round);
    json_num("seconds", seconds);
    json_num("contested", (double) s->contested / (double) (s->acquisitions ? s->acquisitions : 1));
    json_end(level->fair > 0.0 ? level->monopoly / level->fair : 0.0, "bias factor");
}

static void run_one(const lock_kind_t *kind, int threads, int round)
{
    shared_t *s = bench_alloc(sizeof(*s));

    s->kind = kind;
    s->lock = kind->create();
    s->cs = bench_rounds((double) opt.cs_ns);
    s->ps = bench_rounds((double) opt.ps_ns);
    s->thread.last = s->core.last = -1;
    double seconds = bench_run(threads, opt.pin, opt.seconds, body, s);
    report(s, "thread", &s->thread, threads, round, seconds);
    report(s, "core", &s->core, threads, round, seconds);
    bench_free_all();
}

int main(int argc, char **argv)
{
    opt = bench_parse(argc, argv, "l:t:c:p:d:r:P", USAGE, (bench_options_t) {
                      .seconds = 0.1,.rounds = 2,.cs_ns = 100,.ps_ns = 100,
                      .threads = bench_ints('t', "2,4,8", 1, BENCH_MAX_THREADS)});
    bench_check_names(opt.names, lock_name);
    bench_each_lock(&opt, run_one);
    return 0;
}
