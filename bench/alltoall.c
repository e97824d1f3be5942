/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* All-to-all windows (TOPC, figure 11): thread i of each process exchanges a window of messages with
 * thread i of every other process, with tag i: MPI_Irecv and MPI_Isend for all, then MPI_Waitall.
 * Prints million messages/s of all processes. A point is a number of windows that process 0 chooses so
 * that it takes the time; each message has its number, which its receiver checks. */
#include "bench_common.h"

#define USAGE "alltoall [-s bytes] [-w window] [-t 1,2,..] [-d seconds] [-j]"

typedef struct {
    int bytes, window, json;
    double duration;
    bench_points_t points;
} options_t;

typedef struct {
    int id;
    long windows, next, wrong;  /* next: the number of the next window, over all runs of a point */
    char *out, *in;             /* out: a message for each place of a window */
    MPI_Request *req;
} worker_t;

static options_t opt;
static int rank, size;

/* The last byte of the message in this place of this window. Before it the message has the window's
 * number, or as much of it as fits. */
static char last_byte(int from, int thread, long window, int place)
{
    return (char) (from * 31 + thread * 7 + window * 3 + place);
}

static size_t number_bytes(void)
{
    size_t room = (size_t) opt.bytes - 1;
    return room < sizeof(long) ? room : sizeof(long);
}

static void write_message(char *msg, int thread, long window, int place)
{
    memcpy(msg, &window, number_bytes());
    msg[opt.bytes - 1] = last_byte(rank, thread, window, place);
}

static int is_wrong(const char *msg, int from, int thread, long window, int place)
{
    return memcmp(msg, &window, number_bytes()) != 0 ||
        msg[opt.bytes - 1] != last_byte(from, thread, window, place);
}

static void exchange(worker_t * w, long window)
{
    int n = 0, place = 0;

    for (int p = 0; p < size; p++) {
        for (int i = 0; i < opt.window && p != rank; i++, place++)
            MPI_Irecv(w->in + (size_t) place * opt.bytes, opt.bytes, MPI_CHAR, p, w->id,
                      MPI_COMM_WORLD, &w->req[n++]);
    }
    for (int i = 0; i < opt.window; i++)
        write_message(w->out + (size_t) i * opt.bytes, w->id, window, i);
    for (int p = 0; p < size; p++) {
        for (int i = 0; i < opt.window && p != rank; i++)
            MPI_Isend(w->out + (size_t) i * opt.bytes, opt.bytes, MPI_CHAR, p, w->id,
                      MPI_COMM_WORLD, &w->req[n++]);
    }
    MPI_Waitall(n, w->req, MPI_STATUSES_IGNORE);
    place = 0;
    for (int p = 0; p < size; p++) {
        for (int i = 0; i < opt.window && p != rank; i++, place++)
            w->wrong += is_wrong(w->in + (size_t) place * opt.bytes, p, w->id, window, i);
    }
}

static void *worker(void *arg)
{
    worker_t *w = arg;
    for (long i = 0; i < w->windows; i++)
        exchange(w, w->next++);
    return NULL;
}

/* So many windows of all threads; returns the seconds, of process 0 in all processes. */
static double run_windows(int threads, worker_t * w, long windows)
{
    long wrong = 0;

    for (int i = 0; i < threads; i++)
        w[i].windows = windows;
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = bench_now();
    bench_run_threads(threads, worker, w, sizeof(worker_t));
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = bench_now() - seconds;
    for (int i = 0; i < threads; i++)
        wrong += w[i].wrong;
    if (wrong)
        bench_wrong("alltoall: %ld messages are wrong", wrong);
    MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return seconds;
}

static void report(int threads, long windows, double seconds)
{
    long messages = windows * threads * opt.window * size * (size - 1);
    double rate = 1e-6 * (double) messages / seconds;
    if (opt.json)
        printf("{\"bench\": \"alltoall\", \"threads\": %d, \"processes\": %d, \"bytes\": %d, "
               "\"window\": %d, \"messages\": %ld, \"seconds\": %.6f, \"value\": %.6g, "
               "\"unit\": \"million messages/s\"}\n", threads, size, opt.bytes, opt.window,
               messages, seconds, rate);
    else
        printf("%8d %12.4f\n", threads, rate);
    fflush(stdout);
}

static void run_point(int threads)
{
    worker_t w[BENCH_MAX_THREADS];
    size_t n = (size_t) opt.window * (size_t) (size - 1);
    long windows = 1;
    double seconds;

    for (int i = 0; i < threads; i++) {
        w[i] = (worker_t) {.id = i,.out = bench_alloc((size_t) opt.window * (size_t) opt.bytes),
            .in = bench_alloc(n * (size_t) opt.bytes),.req = bench_alloc(2 * n * sizeof(MPI_Request))
        };
    }
    /* the last step of the warm-up tells how many windows fill the time */
    while ((seconds = run_windows(threads, w, windows)) < 0.2 * opt.duration)
        windows *= 2;
    windows = 1 + (long) ((double) windows * opt.duration / seconds);
    seconds = run_windows(threads, w, windows);
    if (rank == 0)
        report(threads, windows, seconds);
    for (int i = 0; i < threads; i++) {
        free(w[i].out);
        free(w[i].in);
        free(w[i].req);
    }
}

static void parse(int argc, char **argv)
{
    int c;
    opt = (options_t) {.bytes = 64,.window = 64,.duration = 0.5 };
    bench_thread_list("-t", "1,2,4,8,16", &opt.points);
    while ((c = bench_getopt(argc, argv, "s:w:t:d:j", USAGE)) != -1) {
        switch (c) {
            case 's': opt.bytes = (int) bench_int("-s", optarg, 1, 1 << 26); break;
            case 'w': opt.window = (int) bench_int("-w", optarg, 1, 1 << 16); break;
            case 't': bench_thread_list("-t", optarg, &opt.points); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'j': opt.json = 1; break;
        }
    }
}

int main(int argc, char **argv)
{
    size = bench_start(&argc, &argv, &rank);
    if (size < 2)
        bench_usage_error("run with 2 processes or more");
    parse(argc, argv);
    if (rank == 0 && !opt.json)
        printf("# %d processes, %d bytes, window %d\n# threads  million messages/s\n", size,
               opt.bytes, opt.window);
    for (int i = 0; i < opt.points.n; i++)
        run_point(opt.points.threads[i]);
    MPI_Finalize();
    return 0;
}
