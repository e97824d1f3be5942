/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One sender to T receiving threads with one tag (TOPC, figures 7 and 9): any thread takes any
 * message. The sender sends rounds of T windows and waits for its own sends only; receivers fill one
 * window after the other. Messages of the last round carry a mark, and a receiver whose window has
 * one stops: each window that is open then needs at most its own size of marked messages, so the
 * round suffices for all. The rate is that of the threads together, until the last of them stops;
 * what is left over the receiving process takes itself. It checks that as many messages came as were
 * sent, and the first and the last byte of each. */
#include "bench_common.h"

#define USAGE "flood [-s bytes] [-w window] [-t 1,2,..] [-d seconds] [-j]"

enum { DATA_TAG, COUNT_TAG, TIME_TAG };

typedef struct {
    int bytes, window, json;
    double duration;
    bench_points_t points;
} options_t;

typedef struct {
    long received;
    char *buf;
    MPI_Request *req;
} worker_t;

static options_t opt;
static int rank;

/* Returns its mark. */
static int check(char *message)
{
    const int mark = message[0] != 0;

    if (!bench_is_right(message, opt.bytes, mark))
        bench_wrong("flood: a message is wrong");
    return mark;
}

static void *receiver(void *arg)
{
    worker_t *w = arg;
    int marked = 0;

    while (!marked) {
        for (int i = 0; i < opt.window; i++)
            MPI_Irecv(w->buf + (size_t) i * opt.bytes, opt.bytes, MPI_CHAR, 0, DATA_TAG,
                      MPI_COMM_WORLD, &w->req[i]);
        MPI_Waitall(opt.window, w->req, MPI_STATUSES_IGNORE);
        for (int i = 0; i < opt.window; i++)
            marked |= check(w->buf + (size_t) i * opt.bytes);
        w->received += opt.window;
    }
    return NULL;
}

static void receive_all(int threads)
{
    worker_t w[BENCH_MAX_THREADS];
    long sent, received = 0, counts[2];

    for (int i = 0; i < threads; i++) {
        w[i].received = 0;
        w[i].buf = bench_alloc((size_t) opt.window * (size_t) opt.bytes);
        w[i].req = bench_alloc((size_t) opt.window * sizeof(MPI_Request));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = bench_now();
    bench_run_threads(threads, receiver, w, sizeof(worker_t));
    seconds = bench_now() - seconds;
    for (int i = 0; i < threads; i++)
        received += w[i].received;
    counts[0] = received;
    MPI_Recv(&sent, 1, MPI_LONG, 0, COUNT_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (; received < sent; received++) {
        MPI_Recv(w[0].buf, opt.bytes, MPI_CHAR, 0, DATA_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!check(w[0].buf))
            bench_wrong("flood: a message that is left over is wrong: it has no mark");
    }
    counts[1] = received;
    MPI_Send(counts, 2, MPI_LONG, 0, COUNT_TAG, MPI_COMM_WORLD);
    MPI_Send(&seconds, 1, MPI_DOUBLE, 0, TIME_TAG, MPI_COMM_WORLD);
    for (int i = 0; i < threads; i++) {
        free(w[i].buf);
        free(w[i].req);
    }
}

static void report(int threads, long messages, double seconds)
{
    double rate = 1e-6 * (double) messages / seconds;
    if (opt.json)
        printf("{\"bench\": \"flood\", \"threads\": %d, \"bytes\": %d, \"window\": %d, "
               "\"messages\": %ld, \"seconds\": %.6f, \"value\": %.6g, "
               "\"unit\": \"million messages/s\"}\n", threads, opt.bytes, opt.window, messages,
               seconds, rate);
    else
        printf("%8d %12.4f\n", threads, rate);
    fflush(stdout);
}

static void send_all(int threads)
{
    int n = threads * opt.window, last = 0;
    char *buf = bench_alloc((size_t) opt.bytes);
    MPI_Request *req = bench_alloc((size_t) n * sizeof(MPI_Request));
    long sent = 0, counts[2];   /* counts: what the threads received, and all */
    double seconds;

    bench_set_end(buf, opt.bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = bench_now();
    while (!last) {
        last = bench_now() - start >= opt.duration;
        buf[0] = (char) last;
        for (int i = 0; i < n; i++)
            MPI_Isend(buf, opt.bytes, MPI_CHAR, 1, DATA_TAG, MPI_COMM_WORLD, &req[i]);
        MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
        sent += n;
    }
    MPI_Send(&sent, 1, MPI_LONG, 1, COUNT_TAG, MPI_COMM_WORLD);
    MPI_Recv(counts, 2, MPI_LONG, 1, COUNT_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&seconds, 1, MPI_DOUBLE, 1, TIME_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (counts[1] != sent)
        bench_wrong("flood: %ld messages came of %ld", counts[1], sent);
    report(threads, counts[0], seconds);
    free(buf);
    free(req);
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
    rank = bench_init(&argc, &argv);
    parse(argc, argv);
    if (rank == 0 && !opt.json)
        printf("# one tag, %d bytes, window %d\n# threads  million messages/s\n", opt.bytes,
               opt.window);
    for (int i = 0; i < opt.points.n; i++) {
        if (rank == 0)
            send_all(opt.points.threads[i]);
        else
            receive_all(opt.points.threads[i]);
    }
    MPI_Finalize();
    return 0;
}
