/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Nanoseconds from one acquisition to the next (TOPC, section 4.2 and figure 5).
 *   normal       T threads at one lock, empty sections; a thread may get the lock twice in a row
 *   round_robin  T threads in a ring of T + 1 locks. A thread that holds lock i takes the next one
 *                before it releases i, so one lock changes hands at a time, and never to the same
 *                thread */
#include "locks.h"

#define USAGE "handoff [-o normal,round_robin] [-l lock,...] [-t threads,...] [-d seconds] " \
    "[-r rounds] [-P]"

typedef struct ring {
    const lock_kind_t *kind;
    void *lock[BENCH_MAX_THREADS + 1];
    int locks;
    bench_tally_t tally[BENCH_MAX_THREADS];
} ring_t;

static bench_options_t opt;

static void body_normal(bench_team_t *team, int id, void *arg)
{
    ring_t *ring = arg;
    void *context = ring->kind->context();
    uint64_t count = 0;

    bench_ready(team);
    while (!bench_stopped(team)) {
        ring->kind->acquire(ring->lock[0], context);
        ring->kind->release(ring->lock[0], context);
        count++;
    }
    ring->tally[id].count = count;
}

/* A thread that stops releases its lock, so that the threads behind it reach their own stop. */
static void body_round_robin(bench_team_t *team, int id, void *arg)
{
    ring_t *ring = arg;
    void *have = ring->kind->context(), *want = ring->kind->context();
    int here = id;
    uint64_t count = 0;

    ring->kind->acquire(ring->lock[here], have);
    bench_ready(team);
    while (!bench_stopped(team)) {
        int next = here + 1 < ring->locks ? here + 1 : 0;
        ring->kind->acquire(ring->lock[next], want);
        ring->kind->release(ring->lock[here], have);
        void *spare = have;
        have = want;
        want = spare;
        here = next;
        count++;
    }
    ring->kind->release(ring->lock[here], have);
    ring->tally[id].count = count;
}

static void run_one(const lock_kind_t *kind, const char *pattern, int threads, int round)
{
    ring_t *ring = bench_alloc(sizeof(*ring));
    int normal = !strcmp(pattern, "normal");
    uint64_t sum = 0;

    ring->kind = kind;
    ring->locks = normal ? 1 : threads + 1;
    for (int i = 0; i < ring->locks; i++)
        ring->lock[i] = kind->create();
    double seconds = bench_run(threads, opt.pin, opt.seconds,
                               normal ? body_normal : body_round_robin, ring);
    for (int i = 0; i < threads; i++)
        sum += ring->tally[i].count;
    json_begin("handoff");
    json_text("pattern", pattern);
    json_text("lock", kind->name);
    json_text("library", kind->library);
    json_int("threads", threads);
    json_int("cs_ns", 0);
    json_int("ps_ns", 0);
    json_int("pinned", opt.pin);
    json_int("round", round);
    json_num("seconds", seconds);
    json_end(seconds / (double) (sum ? sum : 1) * 1e9, "ns");
    bench_free_all();
}

static const char *pattern_name(int i)
{
    static const char *const names[] = { "normal", "round_robin" };
    return i < 2 ? names[i] : NULL;
}

static void run_round(int round, int threads)
{
    for (int p = 0; pattern_name(p); p++) {
        for (int i = 0; i < LOCK_KINDS; i++) {
            const lock_kind_t *kind = &lock_kinds[bench_turn(i, LOCK_KINDS, round)];
            if (bench_named(opt.what, pattern_name(p)) && bench_named(opt.names, kind->name))
                run_one(kind, pattern_name(p), threads, round);
        }
    }
}

int main(int argc, char **argv)
{
    opt = bench_parse(argc, argv, "o:l:t:d:r:P", USAGE, (bench_options_t) {
                      .seconds = 0.05,.rounds = 3,
                      .threads = bench_ints('t', "2,4,8", 1, BENCH_MAX_THREADS)});
    bench_check_names(opt.names, lock_name);
    bench_check_names(opt.what, pattern_name);
    for (int round = 0; round < opt.rounds; round++) {
        for (int t = 0; t < opt.threads.n; t++)
            run_round(round, (int) opt.threads.v[t]);
    }
    return 0;
}
