/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Time of a put of thread i of process 0 to process 1 with the synchronization that makes it complete,
 * in a window of the two processes for each thread (MPI_Win_allocate):
 *   flush    put and flush; process 1 waits in MPI_Recv
 *   lock     exclusive lock, put, unlock; process 1 waits in MPI_Recv
 *   pscw     start, put, complete, with post and wait at process 1
 *   fence    both processes put, and then call fence
 * The first byte that is put tells process 1 whether it is the last time; it checks the last byte,
 * which has the number of the put, with flush and lock that of the last put. Puts go to two places in
 * turn, since process 1 reads one of them while the next put comes. */
#include "bench_common.h"

#define USAGE "rmasync [-m flush|lock|pscw|fence] [-s bytes] [-t 1,2,..] [-d seconds] [-j]"

#define WARM_UP 20

enum { FLUSH, LOCK, PSCW, FENCE, MODES };
static const char *const mode_name[MODES] = { "flush", "lock", "pscw", "fence" };

typedef struct {
    int bytes, mode, json;
    double duration;
    bench_points_t points;
} options_t;

typedef struct {
    int id;
    MPI_Comm comm;
    MPI_Win win;
    MPI_Group peer;
    char *memory, *buf;
    double begin, end;
    long n __attribute__((aligned(128)));       /* so many times; in no line of another thread's */
} worker_t;

static options_t opt;
static int rank;
static pthread_barrier_t start_line;
static double start_time;

static void put(worker_t * w, int stop)
{
    w->buf[0] = (char) stop;
    if (opt.bytes > 1)
        w->buf[opt.bytes - 1] = (char) (w->n + w->id);
    MPI_Put(w->buf, opt.bytes, MPI_CHAR, !rank, w->n % 2 * opt.bytes, opt.bytes, MPI_CHAR, w->win);
}

static void step(worker_t * w, int stop)
{
    if (opt.mode == LOCK)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
    else if (opt.mode == PSCW)
        MPI_Win_start(w->peer, 0, w->win);
    put(w, stop);
    if (opt.mode == FLUSH)
        MPI_Win_flush(1, w->win);
    else if (opt.mode == LOCK)
        MPI_Win_unlock(1, w->win);
    else if (opt.mode == PSCW)
        MPI_Win_complete(w->win);
    else
        MPI_Win_fence(0, w->win);
    w->n++;
}

static void *origin(void *arg)
{
    worker_t *w = arg;
    int stop;

    if (opt.mode == FLUSH)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->win);
    for (int i = 0; i < WARM_UP; i++)
        step(w, 0);
    bench_start_together(&start_line, &start_time);
    w->begin = bench_now();
    do {
        stop = bench_now() - start_time >= opt.duration;
        step(w, stop);
    } while (!stop);
    w->end = bench_now();
    if (opt.mode == FLUSH)
        MPI_Win_unlock(1, w->win);
    if (opt.mode == FLUSH || opt.mode == LOCK)
        MPI_Send(&w->n, 1, MPI_LONG, 1, 0, w->comm);
    return NULL;
}

/* What came with put number w->n. Returns its first byte. */
static int came(const worker_t * w)
{
    const char *data = w->memory + w->n % 2 * opt.bytes;

    if (opt.bytes > 1 && data[opt.bytes - 1] != (char) (w->n + w->id))
        bench_wrong("rmasync: the data of put %ld is wrong", w->n);
    return data[0];
}

static void wait_passively(worker_t * w)
{
    MPI_Recv(&w->n, 1, MPI_LONG, 0, 0, w->comm, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->win);
    w->n--;
    if (!came(w))
        bench_wrong("rmasync: the last put has not come");
    MPI_Win_unlock(1, w->win);
}

static void *target(void *arg)
{
    worker_t *w = arg;
    int stop = opt.mode == FLUSH || opt.mode == LOCK;

    if (stop)
        wait_passively(w);
    for (; !stop; w->n++) {
        if (opt.mode == PSCW) {
            MPI_Win_post(w->peer, 0, w->win);
            MPI_Win_wait(w->win);
        } else {
            put(w, 0);
            MPI_Win_fence(0, w->win);
        }
        stop = came(w);
    }
    return NULL;
}

/* Collective; the threads have not begun, or have ended. */
static void open_window(worker_t * w)
{
    const int peer = !rank;
    MPI_Group all;

    MPI_Comm_dup(MPI_COMM_WORLD, &w->comm);
    MPI_Comm_group(w->comm, &all);
    MPI_Group_incl(all, 1, &peer, &w->peer);
    MPI_Group_free(&all);
    MPI_Win_allocate(2 * opt.bytes, 1, MPI_INFO_NULL, w->comm, &w->memory, &w->win);
    w->buf = bench_alloc((size_t) opt.bytes);
    if (opt.mode == FENCE)
        MPI_Win_fence(0, w->win);
}

static void close_window(worker_t * w)
{
    if (opt.mode == FENCE)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    MPI_Win_free(&w->win);
    MPI_Group_free(&w->peer);
    MPI_Comm_free(&w->comm);
    free(w->buf);
}

static void report(int threads, const worker_t * w)
{
    double sum = 0.0;

    for (int i = 0; i < threads; i++)
        sum += (w[i].end - w[i].begin) / (double) (w[i].n - WARM_UP);
    if (opt.json)
        printf("{\"bench\": \"rmasync\", \"mode\": \"%s\", \"threads\": %d, \"bytes\": %d, "
               "\"value\": %.6g, \"unit\": \"us\"}\n", mode_name[opt.mode], threads, opt.bytes,
               1e6 * sum / threads);
    else
        printf("%8d %12.3f\n", threads, 1e6 * sum / threads);
    fflush(stdout);
}

static void run_point(int threads)
{
    worker_t w[BENCH_MAX_THREADS];

    memset(w, 0, sizeof(w));
    for (int i = 0; i < threads; i++) {
        w[i].id = i;
        open_window(&w[i]);
    }
    pthread_barrier_init(&start_line, NULL, (unsigned) threads);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_run_threads(threads, rank == 0 ? origin : target, w, sizeof(worker_t));
    pthread_barrier_destroy(&start_line);
    if (rank == 0)
        report(threads, w);
    for (int i = 0; i < threads; i++)
        close_window(&w[i]);
}

static int mode_of(const char *name)
{
    for (int m = 0; m < MODES; m++)
        if (!strcmp(name, mode_name[m]))
            return m;
    bench_usage_error("option -m: '%s' is not flush, lock, pscw or fence", name);
    return 0;
}

static void parse(int argc, char **argv)
{
    int c;

    opt = (options_t) {.bytes = 8,.duration = 0.5 };
    bench_thread_list("-t", "1,2,4,8,16", &opt.points);
    while ((c = bench_getopt(argc, argv, "s:t:d:m:j", USAGE)) != -1) {
        switch (c) {
            case 's': opt.bytes = (int) bench_int("-s", optarg, 1, 1 << 26); break;
            case 't': bench_thread_list("-t", optarg, &opt.points); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'm': opt.mode = mode_of(optarg); break;
            case 'j': opt.json = 1; break;
        }
    }
}

int main(int argc, char **argv)
{
    rank = bench_init(&argc, &argv);
    parse(argc, argv);
    if (rank == 0 && !opt.json)
        printf("# put of %d bytes, with %s\n# threads           us\n", opt.bytes, mode_name[opt.mode]);
    for (int i = 0; i < opt.points.n; i++)
        run_point(opt.points.threads[i]);
    MPI_Finalize();
    return 0;
}
