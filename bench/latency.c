/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Blocking ping-pong of T threads with tag i each; prints the mean one-way time, or
 * with -r the round trips a second of all threads together.
 *   pairs    thread i with thread i of the other process
 *   server   with the one thread of the other process, which answers as messages come
 * With -p both sides call MPI_Probe, from any source, before each receive.
 * Rank 0's clock ends a point: the first byte of a ping is 1 then. The pinger checks the first byte of
 * its answer, and that the last one has the number of its ping: both are other ones in the buffer
 * before. */
#include "bench_common.h"

#define USAGE "latency [-m pairs|server] [-s bytes] [-t 1,2,..] " \
    "[-d seconds | -n round trips per thread] [-p] [-r] [-j]"

#define WARM_UP 100

typedef struct {
    int bytes, json, server, rate, probe;
    double duration;
    long count;                 /* round trips per thread; 0: measure by duration */
    bench_points_t points;
} options_t;

typedef struct {
    int id;
    char *buf;
    long trips;
    double begin, end;
} worker_t;

static options_t opt;
static int rank;
static pthread_barrier_t start_line;
static double start_time;

static void receive(worker_t * w, int source)
{
    if (opt.probe)
        MPI_Probe(MPI_ANY_SOURCE, w->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(w->buf, opt.bytes, MPI_CHAR, source, w->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void round_trip(worker_t * w, int stop)
{
    char number = (char) (w->trips + w->id);

    w->buf[0] = (char) stop;
    if (opt.bytes > 1)
        w->buf[opt.bytes - 1] = number;
    MPI_Send(w->buf, opt.bytes, MPI_CHAR, 1, w->id, MPI_COMM_WORLD);
    w->buf[opt.bytes - 1] = (char) ~number;
    w->buf[0] = -1;
    receive(w, 1);
    if (w->buf[0] != stop || (opt.bytes > 1 && w->buf[opt.bytes - 1] != number))
        bench_wrong("latency: an answer is wrong");
}

static void *pinger(void *arg)
{
    worker_t *w = arg;
    int stop;
    for (int i = 0; i < WARM_UP && opt.count == 0; i++)
        round_trip(w, 0);
    bench_start_together(&start_line, &start_time);
    w->begin = bench_now();
    do {
        stop = opt.count ? w->trips + 1 >= opt.count : bench_now() - start_time >= opt.duration;
        round_trip(w, stop);
        w->trips++;
    } while (!stop);
    w->end = bench_now();
    return NULL;
}

static void *ponger(void *arg)
{
    worker_t *w = arg;
    int stop;
    do {
        receive(w, 0);
        stop = w->buf[0];
        MPI_Send(w->buf, opt.bytes, MPI_CHAR, 0, w->id, MPI_COMM_WORLD);
    } while (!stop);
    return NULL;
}

/* The one thread of mode server: answers until so many threads have stopped. */
static void serve(int threads)
{
    char *buf = bench_alloc((size_t) opt.bytes);
    while (threads > 0) {
        MPI_Status from;
        MPI_Recv(buf, opt.bytes, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &from);
        MPI_Send(buf, opt.bytes, MPI_CHAR, 0, from.MPI_TAG, MPI_COMM_WORLD);
        threads -= buf[0];
    }
    free(buf);
}

static const char *unit(void)
{
    return opt.rate ? "million round trips/s" : "us one way";
}

/* The mean of the threads' latencies, each over its own time, in which a thread that gets no processor
 * weighs most; or the round trips of all threads together, over the time from the common start to the
 * last one's end. */
static void report(int threads, const worker_t * w)
{
    double sum = 0.0, end = 0.0;
    long trips = 0;
    for (int i = 0; i < threads; i++) {
        sum += (w[i].end - w[i].begin) / (2.0 * (double) w[i].trips);
        end = w[i].end > end ? w[i].end : end;
        trips += w[i].trips;
    }
    double rate = (double) trips / (end - start_time);
    double value = opt.rate ? 1e-6 * rate : 1e6 * sum / threads;
    if (opt.json)
        printf("{\"bench\": \"latency\", \"mode\": \"%s\", \"threads\": %d, \"bytes\": %d, "
               "\"round_trips\": %ld, \"value\": %.6g, \"unit\": \"%s\"}\n",
               opt.server ? "server" : "pairs", threads, opt.bytes, trips, value, unit());
    else
        printf("%8d %12.3f\n", threads, value);
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
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank && opt.server)
        serve(threads);
    else
        bench_run_threads(threads, rank == 0 ? pinger : ponger, w, sizeof(worker_t));
    pthread_barrier_destroy(&start_line);
    if (rank == 0)
        report(threads, w);
    for (int i = 0; i < threads; i++)
        free(w[i].buf);
}

static int is_server(const char *mode)
{
    if (strcmp(mode, "pairs") && strcmp(mode, "server"))
        bench_usage_error("option -m: '%s' is not pairs or server", mode);
    return *mode == 's';
}

static void parse(int argc, char **argv)
{
    int c;
    opt = (options_t) {.bytes = 8,.duration = 0.5 };
    bench_thread_list("-t", "1,2,4,8,16", &opt.points);
    while ((c = bench_getopt(argc, argv, "s:t:d:n:m:prj", USAGE)) != -1) {
        switch (c) {
            case 's': opt.bytes = (int) bench_int("-s", optarg, 1, 1 << 26); break;
            case 't': bench_thread_list("-t", optarg, &opt.points); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'n': opt.count = bench_int("-n", optarg, 1, 1L << 40); break;
            case 'm': opt.server = is_server(optarg); break;
            case 'p': opt.probe = 1; break;
            case 'r': opt.rate = 1; break;
            case 'j': opt.json = 1; break;
        }
    }
    if (opt.probe && opt.server)
        bench_usage_error("option -p: not with -m server, which receives as messages come");
}

int main(int argc, char **argv)
{
    rank = bench_init(&argc, &argv);
    parse(argc, argv);
    if (rank == 0 && !opt.json)
        printf("# ping-pong, %d bytes\n# threads  %s\n", opt.bytes, unit());
    for (int i = 0; i < opt.points.n; i++)
        run_point(opt.points.threads[i]);
    MPI_Finalize();
    return 0;
}
