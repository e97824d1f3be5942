/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What receives that are posted ahead cost: process 1 posts N receives with tags of their own (1 to
 * N), then the two exchange pings with another tag, which the library must find behind them. Prints
 * the one-way time, the longest of a few round trips before the timed ones, and the time to post one
 * receive. Then the messages of the N receives are sent in the order of posting, and process 1 checks
 * their data. */
#include "bench_common.h"

#define USAGE "posted [-n receives,..] [-d seconds] [-j]"

#define PING_TAG 0
#define MOST 1000000
#define BATCH 1024              /* messages that are sent before process 1 answers */
#define WARMUP 16               /* round trips; in the first one the library's table may grow */

static struct {
    int json, npoints;
    int points[BENCH_MAX_POINTS];
    double duration;
} opt;

/* times of a point, and the number of timed round trips */
typedef struct {
    double us, first_us, post_ns;
    long trips;
} times_t;

static int rank;

/* Process 0 says whether it is the last one. Returns what both know then. */
static int round_trip(int last)
{
    if (rank == 0) {
        MPI_Send(&last, 1, MPI_INT, 1, PING_TAG, MPI_COMM_WORLD);
        MPI_Recv(&last, 1, MPI_INT, 1, PING_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&last, 1, MPI_INT, 0, PING_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&last, 1, MPI_INT, 0, PING_TAG, MPI_COMM_WORLD);
    }
    return last;
}

/* the time of the longest one */
static double warm_up_us(void)
{
    double longest = 0;

    for (int i = 0; i < WARMUP; i++) {
        double us = bench_now();
        round_trip(0);
        us = 1e6 * (bench_now() - us);
        longest = us > longest ? us : longest;
    }
    return longest;
}

static void ping_pong(times_t * t)
{
    double start = bench_now();
    int last = 0;

    while (!last) {
        last = round_trip(bench_now() - start >= opt.duration);
        t->trips++;
    }
    t->us = 1e6 * (bench_now() - start) / (2.0 * (double) t->trips);
}

static void send_posted(int n)
{
    for (int i = 1; i <= n; i++) {
        MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        if (i % BATCH == 0 || i == n)
            MPI_Recv(NULL, 0, MPI_INT, 1, PING_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void take_posted(int n, const int *data, MPI_Request * req)
{
    for (int i = 0; i < n; i++) {
        MPI_Wait(&req[i], MPI_STATUS_IGNORE);
        if (data[i] != i + 1)
            bench_wrong("posted: receive %d is wrong, it has %d", i + 1, data[i]);
        if ((i + 1) % BATCH == 0 || i + 1 == n)
            MPI_Send(NULL, 0, MPI_INT, 0, PING_TAG, MPI_COMM_WORLD);
    }
}

static void report(int n, const times_t * t)
{
    if (opt.json)
        printf("{\"bench\": \"posted\", \"posted\": %d, \"post_ns\": %.5g, \"first_us\": %.5g, "
               "\"round_trips\": %ld, \"value\": %.6g, \"unit\": \"us one way\"}\n", n, t->post_ns,
               t->first_us, t->trips, t->us);
    else
        printf("%8d %12.3f %12.3f %12.1f\n", n, t->us, t->first_us, t->post_ns);
    fflush(stdout);
}

static void run_point(int n)
{
    int *data = bench_alloc((size_t) n * sizeof(int));
    MPI_Request *req = bench_alloc((size_t) n * sizeof(MPI_Request));
    times_t t = { .post_ns = bench_now() };

    for (int i = 0; i < n && rank == 1; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 0, i + 1, MPI_COMM_WORLD, &req[i]);
    t.post_ns = 1e9 * (bench_now() - t.post_ns) / n;
    MPI_Bcast(&t.post_ns, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    t.first_us = warm_up_us();
    ping_pong(&t);
    if (rank == 0) {
        send_posted(n);
        report(n, &t);
    } else {
        take_posted(n, data, req);
    }
    free(data);
    free(req);
}

static void parse(int argc, char **argv)
{
    int c;
    opt.duration = 0.5;
    opt.npoints = bench_int_list("-n", "1,10,100,1000,10000", 1, MOST, opt.points);
    while ((c = bench_getopt(argc, argv, "n:d:j", USAGE)) != -1) {
        switch (c) {
            case 'n': opt.npoints = bench_int_list("-n", optarg, 1, MOST, opt.points); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'j': opt.json = 1; break;
        }
    }
}

int main(int argc, char **argv)
{
    int *tag_ub, flag;

    rank = bench_init(&argc, &argv);
    parse(argc, argv);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    for (int i = 0; i < opt.npoints; i++) {
        if (flag && opt.points[i] > *tag_ub)
            bench_usage_error("this library has tags to %d only", *tag_ub);
    }
    if (rank == 0 && !opt.json)
        printf("# receives  us one way     first_us  ns to post one\n");
    for (int i = 0; i < opt.npoints; i++)
        run_point(opt.points[i]);
    MPI_Finalize();
    return 0;
}
