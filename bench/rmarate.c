/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One-sided operations a second: T threads of process 0 issue windows of operations to the other
 * processes in turn, each to memory of its own in one MPI window, and flush after each window; the
 * others wait in MPI. An operation moves the data of a layout (-l):
 *   contiguous   one block
 *   strided      blocks of 64 bytes with gaps of 64 bytes at the target: one operation, a datatype
 *   batch        the same blocks, one operation for each; all together count as one
 * After each point process 0 checks the data, with gets of its own. The memory is not shared
 * (MPI_Win_create), so within a node the operations go as active messages; MPIR_CVAR_NOLOCAL=1
 * measures the network. */
#include "bench_common.h"

#define USAGE "rmarate [-m put|get|acc] [-l contiguous|strided|batch] [-s bytes] " \
    "[-w window] [-t 1,2,..] [-d seconds] [-j]"

enum { PUT, GET, ACC };
static const char *const mode_name[] = { "put", "get", "acc" };

enum { CONTIGUOUS, STRIDED, BATCH };
static const char *const layout_name[] = { "contiguous", "strided", "batch" };

#define BLOCK 64
#define WARM_UP_WINDOWS 4

typedef struct {
    int bytes, window, mode, layout, json;
    double duration;
    bench_points_t points;
} options_t;

typedef struct {
    int id;
    char *buf;
    long ops;
    double end;
    char fill;                  /* first byte of the data of this point */
} worker_t;

static options_t opt;
static MPI_Win win;
static pthread_barrier_t start_line;
static double start_time;

static MPI_Datatype at_target = MPI_CHAR;       /* one block, or all with gaps */
static int size;

/* Bytes from block to block at the target, and of the memory of a thread. */
static int stride(void)
{
    return opt.layout == CONTIGUOUS ? opt.bytes : 2 * BLOCK;
}

static MPI_Aint extent(void)
{
    return opt.layout == CONTIGUOUS ? opt.bytes : 2 * (MPI_Aint) opt.bytes;
}

static void issue_one(int mode, void *buf, int n, int target, MPI_Aint at, int count,
                      MPI_Datatype type)
{
    if (mode == PUT)
        MPI_Put(buf, n, MPI_CHAR, target, at, count, type, win);
    else if (mode == GET)
        MPI_Get(buf, n, MPI_CHAR, target, at, count, type, win);
    else
        MPI_Accumulate(buf, n, MPI_CHAR, target, at, count, type, MPI_REPLACE, win);
}

static void issue(int mode, const worker_t * w, char *buf, int target)
{
    const MPI_Aint at = (MPI_Aint) w->id * extent();

    if (opt.layout == CONTIGUOUS)
        issue_one(mode, buf, opt.bytes, target, at, opt.bytes, MPI_CHAR);
    else if (opt.layout == STRIDED)
        issue_one(mode, buf, opt.bytes, target, at, 1, at_target);
    else
        for (int i = 0; i < opt.bytes / BLOCK; i++)
            issue_one(mode, buf + i * BLOCK, BLOCK, target, at + i * stride(), BLOCK, MPI_CHAR);
}

static char byte_at(const worker_t * w, int i)
{
    return (char) (w->fill + w->id + i);
}

/* Fills what the operations read: the origin, or for gets each target. */
static void prepare(worker_t * w)
{
    for (int i = 0; i < opt.bytes; i++)
        w->buf[i] = byte_at(w, i);
    for (int t = 1; t < size && opt.mode == GET; t++)
        issue(PUT, w, w->buf, t);
    MPI_Win_flush_all(win);
    if (opt.mode == GET)
        memset(w->buf, 0, (size_t) opt.bytes);
}

static void check(const worker_t * w, int targets)
{
    char *got = bench_alloc((size_t) opt.bytes);
    for (int t = 1; t <= targets; t++) {
        if (opt.mode != GET)
            issue(GET, w, got, t);
        MPI_Win_flush_all(win);
        for (int i = 0; i < opt.bytes; i++) {
            if ((opt.mode == GET ? w->buf : got)[i] != byte_at(w, i))
                bench_wrong("rmarate: byte %d of thread %d is wrong", i, w->id);
        }
    }
    free(got);
}

static void issue_window(worker_t * w)
{
    for (int i = 0; i < opt.window; i++)
        issue(opt.mode, w, w->buf, 1 + (int) ((w->ops + i) % (size - 1)));
    if (size == 2)
        MPI_Win_flush(1, win);
    else
        MPI_Win_flush_all(win);
    w->ops += opt.window;
}

static void *origin(void *arg)
{
    worker_t *w = arg;

    for (int i = 0; i < WARM_UP_WINDOWS; i++)
        issue_window(w);
    w->ops = 0;
    bench_start_together(&start_line, &start_time);
    do {
        issue_window(w);
        w->end = bench_now();
    } while (w->end - start_time < opt.duration);
    return NULL;
}

static void report(int threads, const worker_t * w)
{
    double end = 0.0, rate;
    long ops = 0;

    for (int i = 0; i < threads; i++) {
        end = w[i].end > end ? w[i].end : end;
        ops += w[i].ops;
    }
    rate = 1e-6 * (double) ops / (end - start_time);
    if (opt.json)
        printf("{\"bench\": \"rmarate\", \"mode\": \"%s\", \"threads\": %d, \"bytes\": %d, "
               "\"window\": %d, \"layout\": \"%s\", \"processes\": %d, \"operations\": %ld, "
               "\"value\": %.6g, \"unit\": \"M/s\"}\n",
               mode_name[opt.mode], threads, opt.bytes, opt.window,
               layout_name[opt.layout], size, ops, rate);
    else
        printf("%8d %12.4f\n", threads, rate);
    fflush(stdout);
}

static void run_point(int threads, int point)
{
    worker_t w[BENCH_MAX_THREADS];

    memset(w, 0, sizeof(w));
    for (int i = 0; i < threads; i++) {
        w[i].id = i;
        w[i].fill = (char) (1 + 7 * point);
        w[i].buf = bench_alloc((size_t) opt.bytes);
        prepare(&w[i]);
    }
    pthread_barrier_init(&start_line, NULL, (unsigned) threads);
    bench_run_threads(threads, origin, w, sizeof(worker_t));
    pthread_barrier_destroy(&start_line);
    report(threads, w);
    for (int i = 0; i < threads; i++) {
        check(&w[i], w[i].ops < size - 1 ? (int) w[i].ops : size - 1);
        free(w[i].buf);
    }
}

static int one_of(const char *option, const char *s, const char *const *names)
{
    for (int i = 0; i < 3; i++) {
        if (!strcmp(s, names[i]))
            return i;
    }
    bench_usage_error("option %s: '%s' is not %s, %s or %s", option, s, names[0], names[1], names[2]);
    return 0;
}

static void parse(int argc, char **argv)
{
    int c;

    opt = (options_t) {.bytes = 64,.window = 64,.mode = PUT,.duration = 0.5 };
    bench_thread_list("-t", "1,2,4,8,16", &opt.points);
    while ((c = bench_getopt(argc, argv, "s:w:t:d:m:l:j", USAGE)) != -1) {
        switch (c) {
            case 's': opt.bytes = (int) bench_int("-s", optarg, 1, 1 << 26); break;
            case 'w': opt.window = (int) bench_int("-w", optarg, 1, 1 << 16); break;
            case 't': bench_thread_list("-t", optarg, &opt.points); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'm': opt.mode = one_of("-m", optarg, mode_name); break;
            case 'l': opt.layout = one_of("-l", optarg, layout_name); break;
            case 'j': opt.json = 1; break;
        }
    }
    if (opt.layout != CONTIGUOUS && opt.bytes % BLOCK)
        bench_usage_error("option -s: with -l strided and batch a multiple of %d", BLOCK);
}

int main(int argc, char **argv)
{
    int rank;
    char *mem;

    size = bench_start(&argc, &argv, &rank);
    if (size < 2)
        bench_usage_error("run with 2 processes or more");
    parse(argc, argv);
    mem = bench_alloc((size_t) opt.points.max * (size_t) extent());
    if (opt.layout == STRIDED) {
        MPI_Type_vector(opt.bytes / BLOCK, BLOCK, stride(), MPI_CHAR, &at_target);
        MPI_Type_commit(&at_target);
    }
    MPI_Win_create(mem, extent() * opt.points.max, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0 && !opt.json)
        printf("# %s, %d bytes, window %d\n# threads  million/s\n", mode_name[opt.mode], opt.bytes,
               opt.window);
    for (int i = 0; i < opt.points.n; i++) {
        if (rank == 0)
            run_point(opt.points.threads[i], i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (opt.layout == STRIDED)
        MPI_Type_free(&at_target);
    free(mem);
    MPI_Finalize();
    return 0;
}
