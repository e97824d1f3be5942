/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* T threads use one object through a lock, a combiner or a server. The program measures million
 * operations a second, latency, and combining rate (thesis, figures 6.4 to 6.8 and 7.5 to 7.11).
 * The thread of a server is not among the T. The kinds take turns; so do the values of a sweep.
 *   counter  one fetch-and-add             array   -i increments over 64 counters
 *   stack    push and pop in turn          queue   enqueue and dequeue in turn
 *   queue2   the same, with an instance of the lock or combiner for each end
 * fetch_add (counter) and wfq (queue) are the atomic instruction and tsm_wfq.h, for comparison. */
#include "structures.h"
#include "queue/tsm_wfq.h"

#define USAGE "objects [-o counter,array,stack,queue,queue2] [-l kind,...] [-t threads,...] " \
    "[-i increments,...] [-m max_combine,...] [-b backoff,...] [-s 0,1] [-p ps_ns] [-d seconds] " \
    "[-r rounds] [-P]"

typedef struct point {
    const char *what;
    int threads, round;
    long iterations, max_combine, backoff, streaming;
} point_t;

typedef struct run {
    const point_t *at;
    sync_kind_t kind;
    void *sync[2];                      /* both ends of queue2; else the first */
    object_t *object;
    queue2_t *queue2;
    tsm_wfq_t *wfq;
    uint64_t ps;
    bench_tally_t count[BENCH_MAX_THREADS];     /* operations */
    bench_tally_t balance[BENCH_MAX_THREADS];   /* sum of what was put in minus what was got */
} run_t;

typedef void (*body_t)(bench_team_t *team, int id, void *arg);

static bench_options_t opt;

/* ---- what a thread does ---- */

static void body_single(bench_team_t *team, int id, void *arg)
{
    run_t *run = arg;
    int array = !strcmp(run->at->what, "array");
    request_t *request = bench_alloc(sizeof(*request));
    void *handle = run->kind.attach(run->sync[0], id);
    uint64_t count = 0;

    request->object = run->object;
    request->input = array ? (uint64_t) run->at->iterations : 1;
    bench_ready(team);
    while (!bench_stopped(team)) {
        run->kind.apply(run->sync[0], handle, array ? &op_sweep : &op_add, request);
        count++;
        bench_work(run->ps);
    }
    run->kind.detach(run->sync[0], handle);
    run->count[id].count = count;
}

/* Values that differ and are never 0. */
static uint64_t value_of(int id, uint64_t count)
{
    return ((uint64_t) id + 1) << 40 | count;
}

static void body_pairs(bench_team_t *team, int id, void *arg)
{
    run_t *run = arg;
    int stack = !strcmp(run->at->what, "stack");
    request_t *request = bench_alloc(sizeof(*request));
    void *handle = run->kind.attach(run->sync[0], id);
    uint64_t count = 0, balance = 0;

    request->object = run->object;
    bench_ready(team);
    for (; !bench_stopped(team); count += 2) {
        request->input = value_of(id, count);
        balance += request->input;
        run->kind.apply(run->sync[0], handle, stack ? &op_push : &op_enqueue, request);
        bench_work(run->ps);
        balance -= run->kind.apply(run->sync[0], handle, stack ? &op_pop : &op_dequeue, request);
        bench_work(run->ps);
    }
    run->kind.detach(run->sync[0], handle);
    run->count[id].count = count;
    run->balance[id].count = balance;
}

static void body_queue2(bench_team_t *team, int id, void *arg)
{
    run_t *run = arg;
    request_t *request = bench_alloc(sizeof(*request));
    void *head = run->kind.attach(run->sync[0], id), *tail = run->kind.attach(run->sync[1], id);
    node_t *node = bench_alloc(sizeof(*node));
    uint64_t count = 0, balance = 0;

    request->object = run->queue2;
    bench_ready(team);
    for (; !bench_stopped(team); count += 2) {
        node->value = value_of(id, count);
        balance += node->value;
        request->input = (uintptr_t) node;
        run->kind.apply(run->sync[1], tail, &op_enqueue2, request);
        bench_work(run->ps);
        node = (node_t *) (uintptr_t) run->kind.apply(run->sync[0], head, &op_dequeue2, request);
        if (node == NULL)
            bench_die(1, "queue2 over %s lost an element", run->kind.name);
        balance -= node->value;
        bench_work(run->ps);
    }
    run->kind.detach(run->sync[0], head);
    run->kind.detach(run->sync[1], tail);
    run->count[id].count = count;
    run->balance[id].count = balance;
}

static void body_fetch_add(bench_team_t *team, int id, void *arg)
{
    run_t *run = arg;
    uint64_t count = 0;

    bench_ready(team);
    for (; !bench_stopped(team); count++) {
        tsm_fetch_add(&run->object->counter, 1, TSM_ACQ_REL);
        bench_work(run->ps);
    }
    run->count[id].count = count;
}

static void body_wfq(bench_team_t *team, int id, void *arg)
{
    run_t *run = arg;
    tsm_wfq_handle_t *handle = tsm_wfq_attach(run->wfq);
    uint64_t count = 0, balance = 0;

    bench_ready(team);
    for (; !bench_stopped(team); count += 2) {
        uint64_t value = value_of(id, count);
        balance += value;
        if (tsm_wfq_enqueue(run->wfq, handle, (void *) (uintptr_t) value))
            bench_die(1, "out of memory");
        bench_work(run->ps);
        balance -= (uintptr_t) tsm_wfq_dequeue(run->wfq, handle);
        bench_work(run->ps);
    }
    tsm_wfq_detach(handle);
    run->count[id].count = count;
    run->balance[id].count = balance;
}

/* ---- set up, check, report ---- */

/* No thread uses the object any more. Stops unless it holds exactly what it should. */
static void check(run_t *run, uint64_t total)
{
    uint64_t left = 0, sum = tsm_load(&run->object->counter, TSM_RELAXED);
    int sums = !strcmp(run->at->what, "counter") || !strcmp(run->at->what, "array");
    object_t *o = run->object;

    for (int i = 0; i < ARRAY_COUNTERS; i++)
        sum += o->array[i];
    for (int i = 0; i < run->at->threads; i++)
        left += run->balance[i].count;
    for (node_t *n = o->top; n; n = next_of(n))
        left -= n->value;
    for (node_t *n = next_of(o->first); n; n = next_of(n))
        left -= n->value;
    if (!strcmp(run->at->what, "array"))
        total *= (uint64_t) run->at->iterations;
    if (left != 0 || (sums && sum != total))
        bench_die(1, "%s over %s: operations were lost or done twice", run->at->what,
                  run->kind.name);
}

static void report(const run_t *run, double seconds, uint64_t total)
{
    const point_t *at = run->at;
    const turns_t *a = &run->object->turns, *b = &run->queue2->head_turns,
        *c = &run->queue2->tail_turns;
    uint64_t operations = a->operations + b->operations + c->operations;
    uint64_t changes = a->changes + b->changes + c->changes;
    double n = (double) (total ? total : 1);

    json_begin("object");
    json_text("object", at->what);
    json_text("lock", run->kind.name);
    json_int("threads", at->threads);
    json_int("cs_ns", 0);
    json_int("ps_ns", opt.ps_ns);
    json_int("pinned", opt.pin);
    json_int("iterations", at->iterations);
    json_int("max_combine", at->max_combine);
    json_int("backoff", at->backoff);
    json_int("streaming", at->streaming);
    json_int("round", at->round);
    json_num("seconds", seconds);
    json_num("latency_ns", seconds * 1e9 * at->threads / n - (double) opt.ps_ns);
    if (changes)
        json_num("combining_rate", (double) operations / (double) changes);
    json_end(n / seconds * 1e-6, "million operations/s");
}

static void run_body(run_t *run, body_t body)
{
    uint64_t total = 0;
    double seconds = bench_run(run->at->threads, opt.pin, opt.seconds, body, run);

    for (int i = 0; i < run->at->threads; i++)
        total += run->count[i].count;
    if (run->kind.destroy) {
        run->kind.destroy(run->sync[0]);
        if (run->sync[1] != NULL)
            run->kind.destroy(run->sync[1]);
    }
    check(run, total);
    report(run, seconds, total);
}

static run_t *run_create(const point_t *at)
{
    run_t *run = bench_alloc(sizeof(*run));

    run->at = at;
    run->object = object_create();
    run->queue2 = queue2_create();
    run->ps = bench_rounds((double) opt.ps_ns);
    return run;
}

static void run_kind(const point_t *at, sync_kind_t kind)
{
    run_t *run = run_create(at);
    sync_param_t param = { at->threads, (uint32_t) at->max_combine, (uint32_t) at->backoff,
                           (int) at->streaming };
    int queue2 = !strcmp(at->what, "queue2");
    int pairs = !strcmp(at->what, "stack") || !strcmp(at->what, "queue");

    run->kind = kind;
    run->sync[0] = kind.create(&kind, &param);
    run->sync[1] = queue2 ? kind.create(&kind, &param) : NULL;
    run_body(run, queue2 ? body_queue2 : pairs ? body_pairs : body_single);
    bench_free_all();
}

/* The two that need no lock. */
static void run_free(const point_t *at)
{
    int counter = !strcmp(at->what, "counter") && bench_named(opt.names, "fetch_add");
    int queue = !strcmp(at->what, "queue") && bench_named(opt.names, "wfq");

    if (!counter && !queue)
        return;
    run_t *run = run_create(at);
    run->kind.name = counter ? "fetch_add" : "wfq";
    if (queue) {
        run->wfq = bench_alloc(sizeof(*run->wfq));
        if (tsm_wfq_init(run->wfq, (size_t) at->threads, SIZE_MAX))
            bench_die(1, "out of memory");
    }
    run_body(run, counter ? body_fetch_add : body_wfq);
    if (queue)
        tsm_wfq_destroy(run->wfq);
    bench_free_all();
}

/* ---- which points ---- */

static const char *what_name(int i)
{
    static const char *const names[] = { "counter", "array", "stack", "queue", "queue2" };
    return i < 5 ? names[i] : NULL;
}

static const char *kind_name(int i)
{
    if (i < SYNC_KINDS)
        return sync_kind(i).name;
    return i == SYNC_KINDS ? "fetch_add" : i == SYNC_KINDS + 1 ? "wfq" : NULL;
}

/* Streaming answers cannot be combined with data that two servers touch (tsm_shm_server.h). */
static int is_sound(const point_t *at, const sync_kind_t *kind)
{
    return !(at->streaming && !strcmp(at->what, "queue2") && kind->create == sync_shm_create);
}

static void run_point(const point_t *at)
{
    if (at->round % 2)
        run_free(at);
    for (int i = 0; i < SYNC_KINDS; i++) {
        sync_kind_t kind = sync_kind(bench_turn(i, SYNC_KINDS, at->round));
        if (bench_named(opt.names, kind.name) && is_sound(at, &kind))
            run_kind(at, kind);
    }
    if (at->round % 2 == 0)
        run_free(at);
}

/* The sweep of one object and number of threads. */
static void run_sweep(point_t at)
{
    const bench_list_t one = { 1, { 1 } };
    const bench_list_t *iterations = strcmp(at.what, "array") ? &one : &opt.iterations;

    for (int i = 0; i < iterations->n; i++) {
        at.iterations = iterations->v[i];
        for (int m = 0; m < opt.max_combine.n; m++) {
            at.max_combine = opt.max_combine.v[m];
            for (int b = 0; b < opt.backoff.n; b++) {
                at.backoff = opt.backoff.v[b];
                for (int s = 0; s < opt.streaming.n; s++) {
                    at.streaming = opt.streaming.v[s];
                    run_point(&at);
                }
            }
        }
    }
}

int main(int argc, char **argv)
{
    opt = bench_parse(argc, argv, "o:l:t:i:m:b:s:p:d:r:P", USAGE, (bench_options_t) {
                      .seconds = 0.1,.rounds = 3,.ps_ns = 50,.what = "counter",
                      .threads = bench_ints('t', "1,2,4,8", 1, BENCH_MAX_THREADS - 1),
                      .iterations = bench_ints('i', "1,5,15,50,200", 0, 1000000),
                      .max_combine = bench_ints('m', "200", 1, 1 << 30),
                      .backoff = bench_ints('b', "0", 0, 1 << 20),
                      .streaming = bench_ints('s', "0", 0, 1)});
    bench_check_names(opt.names, kind_name);
    bench_check_names(opt.what, what_name);
    for (int round = 0; round < opt.rounds; round++) {
        for (int t = 0; t < opt.threads.n; t++) {
            for (int w = 0; what_name(w); w++) {
                if (bench_named(opt.what, what_name(w)))
                    run_sweep((point_t) {.what = what_name(w),.round = round,
                                         .threads = (int) opt.threads.v[t]});
            }
        }
    }
    return 0;
}
