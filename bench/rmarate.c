/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One-sided operations a second: T threads of process 0 issue windows of operations to process 1, each
 * to memory of its own in one MPI window, and flush after each window; process 1 waits in MPI. The
 * memory is not shared (MPI_Win_create), so within a node the operations go as active messages;
 * MPIR_CVAR_NOLOCAL=1 measures the network. */
#include "bench_common.h"

enum { PUT, GET, ACC };
static const char *const mode_name[] = { "put", "get", "acc" };

typedef struct {
    int bytes, window, mode, json;
    double duration;
    bench_points_t points;
} options_t;

typedef struct {
    int id;
    char *buf;
    long ops;
    double seconds;
} worker_t;

static options_t opt;
static MPI_Win win;
static pthread_barrier_t start_line;

static void issue(const worker_t * w)
{
    const MPI_Aint at = (MPI_Aint) w->id * opt.bytes;
    const int n = opt.bytes;

    if (opt.mode == PUT)
        MPI_Put(w->buf, n, MPI_CHAR, 1, at, n, MPI_CHAR, win);
    else if (opt.mode == GET)
        MPI_Get(w->buf, n, MPI_CHAR, 1, at, n, MPI_CHAR, win);
    else
        MPI_Accumulate(w->buf, n, MPI_CHAR, 1, at, n, MPI_CHAR, MPI_REPLACE, win);
}

static void *origin(void *arg)
{
    worker_t *w = arg;
    double start, now;

    pthread_barrier_wait(&start_line);
    start = bench_now();
    do {
        for (int i = 0; i < opt.window; i++)
            issue(w);
        MPI_Win_flush(1, win);
        w->ops += opt.window;
        now = bench_now();
    } while (now - start < opt.duration);
    w->seconds = now - start;
    return NULL;
}

static void report(int threads, const worker_t * w)
{
    double rate = 0.0;
    long ops = 0;

    for (int i = 0; i < threads; i++) {
        rate += (double) w[i].ops / w[i].seconds;
        ops += w[i].ops;
    }
    rate *= 1e-6;
    if (opt.json)
        printf("{\"bench\": \"rmarate\", \"mode\": \"%s\", \"threads\": %d, \"bytes\": %d, "
               "\"window\": %d, \"operations\": %ld, \"value\": %.6g, \"unit\": \"M/s\"}\n",
               mode_name[opt.mode], threads, opt.bytes, opt.window, ops, rate);
    else
        printf("%8d %12.4f\n", threads, rate);
    fflush(stdout);
}

static void run_point(int threads)
{
    worker_t w[BENCH_MAX_THREADS];

    memset(w, 0, sizeof(w));
    for (int i = 0; i < threads; i++) {
        w[i].id = i;
        w[i].buf = bench_alloc((size_t) opt.bytes);
    }
    pthread_barrier_init(&start_line, NULL, (unsigned) threads);
    bench_run_threads(threads, origin, w, sizeof(worker_t));
    pthread_barrier_destroy(&start_line);
    report(threads, w);
    for (int i = 0; i < threads; i++)
        free(w[i].buf);
}

static int parse_mode(const char *s)
{
    for (int i = PUT; i <= ACC; i++) {
        if (!strcmp(s, mode_name[i]))
            return i;
    }
    bench_usage_error("option -m: '%s' is not put, get or acc", s);
    return PUT;
}

static void parse(int argc, char **argv)
{
    int c;

    opt = (options_t) {.bytes = 64,.window = 64,.mode = PUT,.duration = 0.5 };
    bench_thread_list("-t", "1,2,4,8,16", &opt.points);
    opterr = 0;
    while ((c = getopt(argc, argv, "s:w:t:d:m:j")) != -1) {
        switch (c) {
            case 's': opt.bytes = (int) bench_int("-s", optarg, 1, 1 << 26); break;
            case 'w': opt.window = (int) bench_int("-w", optarg, 1, 1 << 16); break;
            case 't': bench_thread_list("-t", optarg, &opt.points); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'm': opt.mode = parse_mode(optarg); break;
            case 'j': opt.json = 1; break;
            default: optind = argc + 1; break;
        }
        if (optind > argc)
            break;
    }
    if (optind != argc)
        bench_usage_error("usage: rmarate [-m put|get|acc] [-s bytes] [-w window] [-t 1,2,..] "
                          "[-d seconds] [-j]");
}

int main(int argc, char **argv)
{
    int rank = bench_init(&argc, &argv);
    char *mem;

    parse(argc, argv);
    mem = bench_alloc((size_t) opt.points.max * (size_t) opt.bytes);
    MPI_Win_create(mem, (MPI_Aint) opt.bytes * opt.points.max, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0 && !opt.json)
        printf("# %s, %d bytes, window %d\n# threads  million/s\n", mode_name[opt.mode], opt.bytes,
               opt.window);
    for (int i = 0; i < opt.points.n; i++) {
        if (rank == 0)
            run_point(opt.points.threads[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(mem);
    MPI_Finalize();
    return 0;
}
