/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* How long one MPI_Isend keeps its thread while T - 1 other threads of the process use MPI: median,
 * percentiles and maximum. A call above SLOW_US counts as preempted if the kernel took the processor
 * from the thread meanwhile (involuntary context switches), which no library can help. */
#define _GNU_SOURCE             /* RUSAGE_THREAD */
#include "bench_common.h"

#include <stdint.h>
#include <sys/resource.h>

#define USAGE "posttime [-m wait|poll|pairs] [-s bytes] [-t 1,2,..] " \
    "[-d seconds | -n calls] [-j]"

#define WINDOW 64
#define SLOW_US 100
#define MAX_CALLS (1L << 22)

enum { WAIT, POLL, PAIRS };
static const char *const modes[] = { "wait", "poll", "pairs" };

/* tags; the others' messages have OTHERS + the number of the thread */
enum { POSTED, ACK, OTHERS };

typedef struct {
    int bytes, json, mode;
    double duration;
    long count;                 /* calls; 0: measure by duration */
    bench_points_t points;
} options_t;

static options_t opt;
static int rank;

static uint32_t *took_ns;       /* of each call */
static long calls, slow, preempted;
static volatile int stop;       /* the poster has ended */

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static long preemptions(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

static void timed_isend(const char *buf, MPI_Request * r)
{
    long before = preemptions();
    int64_t start = now_ns();
    MPI_Isend(buf, opt.bytes, MPI_CHAR, 1, POSTED, MPI_COMM_WORLD, r);
    int64_t took = now_ns() - start;
    took_ns[calls++] = (uint32_t) (took > UINT32_MAX ? UINT32_MAX : took);
    if (took > SLOW_US * 1000) {
        slow++;
        preempted += preemptions() > before;
    }
}

/* One window; the acknowledgement carries whether it was the last one. */
static void post_window(const char *buf, int last)
{
    MPI_Request r[WINDOW];
    for (int i = 0; i < WINDOW; i++)
        timed_isend(buf, &r[i]);
    MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
    MPI_Send(&last, 1, MPI_INT, 1, ACK, MPI_COMM_WORLD);
    MPI_Recv(&last, 1, MPI_INT, 1, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void post(void)
{
    char *buf = bench_alloc((size_t) opt.bytes);
    double start = bench_now();
    calls = slow = preempted = 0;
    int last;
    do {
        last = calls + 2 * WINDOW > MAX_CALLS ||
            (opt.count ? calls + WINDOW >= opt.count : bench_now() - start >= opt.duration);
        post_window(buf, last);
    } while (!last);
    free(buf);
}

static void take_posted(void)
{
    char *buf = bench_alloc((size_t) opt.bytes * WINDOW);
    int last;
    do {
        MPI_Request r[WINDOW];
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(buf + (size_t) i * (size_t) opt.bytes, opt.bytes, MPI_CHAR, 0, POSTED,
                      MPI_COMM_WORLD, &r[i]);
        MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
        MPI_Recv(&last, 1, MPI_INT, 0, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&last, 1, MPI_INT, 0, ACK, MPI_COMM_WORLD);
    } while (!last);
    free(buf);
}

/* Rank 0, another thread: wait or poll for a message that comes at the end, or send until then. */
static void disturb(int id)
{
    int end = 0, flag = 0;
    MPI_Request r;
    if (opt.mode == PAIRS) {
        do {
            end = stop;
            MPI_Send(&end, 1, MPI_INT, 1, OTHERS + id, MPI_COMM_WORLD);
            MPI_Recv(&flag, 1, MPI_INT, 1, OTHERS + id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } while (!end);
        return;
    }
    MPI_Irecv(&end, 1, MPI_INT, 1, OTHERS + id, MPI_COMM_WORLD, &r);
    while (opt.mode == POLL && !flag)
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void answer(int id)
{
    int end;
    do {
        MPI_Recv(&end, 1, MPI_INT, 0, OTHERS + id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&end, 1, MPI_INT, 0, OTHERS + id, MPI_COMM_WORLD);
    } while (!end);
}

static void *poster_side(void *arg)
{
    int id = *(int *) arg;
    if (id > 0) {
        disturb(id);
    } else {
        post();
        stop = 1;
    }
    return NULL;
}

static void *receiver_side(void *arg)
{
    int id = *(int *) arg;
    if (id > 0)
        answer(id);
    else
        take_posted();
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return (x > y) - (x < y);
}

static double percentile(double p)
{
    long i = (long) (p / 100.0 * (double) calls);
    return 1e-3 * took_ns[i < calls ? i : calls - 1];
}

static void report(int threads)
{
    qsort(took_ns, (size_t) calls, sizeof(*took_ns), by_size);
    if (opt.json)
        printf("{\"bench\": \"posttime\", \"mode\": \"%s\", \"threads\": %d, \"bytes\": %d, "
               "\"operations\": %ld, \"value\": %.6g, \"unit\": \"us for one MPI_Isend, median\", "
               "\"p99\": %.6g, \"p99_9\": %.6g, \"p99_99\": %.6g, \"longest\": %.6g, "
               "\"over_100us\": %ld, \"preempted\": %ld}\n",
               modes[opt.mode], threads, opt.bytes, calls, percentile(50), percentile(99),
               percentile(99.9), percentile(99.99), percentile(100), slow, preempted);
    else
        printf("%8d %9ld %8.3f %8.3f %8.3f %9.3f %10.3f %8ld %8ld\n", threads, calls,
               percentile(50), percentile(99), percentile(99.9), percentile(99.99),
               percentile(100), slow, preempted);
    fflush(stdout);
}

static void run_point(int threads)
{
    int id[BENCH_MAX_THREADS];
    stop = 0;
    for (int i = 0; i < threads; i++)
        id[i] = i;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        bench_run_threads(threads, poster_side, id, sizeof(id[0]));
        report(threads);
    } else if (opt.mode == PAIRS) {
        bench_run_threads(threads, receiver_side, id, sizeof(id[0]));
    } else {
        take_posted();
        for (int i = 1; i < threads; i++)
            MPI_Send(&id[i], 1, MPI_INT, 0, OTHERS + i, MPI_COMM_WORLD);
    }
}

static int mode_of(const char *text)
{
    for (int i = 0; i <= PAIRS; i++) {
        if (strcmp(text, modes[i]) == 0)
            return i;
    }
    bench_usage_error("option -m: '%s' is not wait, poll or pairs", text);
    return WAIT;
}

static void parse(int argc, char **argv)
{
    int c;
    opt = (options_t) {.bytes = 64,.duration = 0.5 };
    bench_thread_list("-t", "1,2,8", &opt.points);
    while ((c = bench_getopt(argc, argv, "m:s:t:d:n:j", USAGE)) != -1) {
        switch (c) {
            case 'm': opt.mode = mode_of(optarg); break;
            case 's': opt.bytes = (int) bench_int("-s", optarg, 1, 1 << 20); break;
            case 't': bench_thread_list("-t", optarg, &opt.points); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'n': opt.count = bench_int("-n", optarg, 1, MAX_CALLS); break;
            case 'j': opt.json = 1; break;
        }
    }
}

int main(int argc, char **argv)
{
    rank = bench_init(&argc, &argv);
    parse(argc, argv);
    took_ns = bench_alloc((MAX_CALLS + WINDOW) * sizeof(*took_ns));
    if (rank == 0 && !opt.json)
        printf("# us for one MPI_Isend of %d bytes, while the other threads %s\n"
               "# threads    calls   median     99 %%   99.9 %%   99.99 %%    maximum >%d us  "
               "preempted\n", opt.bytes, opt.mode == PAIRS ? "exchange messages" : modes[opt.mode],
               SLOW_US);
    for (int i = 0; i < opt.points.n; i++)
        run_point(opt.points.threads[i]);
    free(took_ns);
    MPI_Finalize();
    return 0;
}
