/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Message rate of T threads between two processes.
 *   pairs   thread i of rank 0 sends to thread i of rank 1 with tag i
 *   fanout  one thread of rank 0 sends to T threads of rank 1, tag i each
 * MPI_Waitall completes a window of MPI_Isend or MPI_Irecv, and the receiver acknowledges it with 4
 * bytes. In a stream (-u) it acknowledges only the last window, so receivers that fall behind get
 * more messages than they have posted receives for.
 * The sender's clock ends a point: the first byte of a window's last message is 1 then, so the two
 * processes need not agree on the time. */
#include "bench_common.h"

enum { PAIRS, FANOUT };
#define ACK_TAG(i) (BENCH_MAX_THREADS + (i))
#define WARM_UP_WINDOWS 16

typedef struct {
    int bytes, window, mode, stream, json;
    double duration;
    long count;                 /* messages per receiving thread; 0: measure by duration */
    bench_points_t points;
} options_t;

typedef struct {
    int id, npeers;             /* first tag, and how many (fanout: all of them) */
    char *buf, *last;           /* sender: every message but the last, and the last, of a window */
    MPI_Request *req;
    long messages;
    double end;
} worker_t;

static options_t opt;
static int rank;
static pthread_barrier_t start_line;
static double start_time;

static void send_window(worker_t * w, int stop)
{
    int n = 0;
    w->last[0] = (char) stop;
    for (int i = 0; i < opt.window; i++) {
        const char *b = i == opt.window - 1 ? w->last : w->buf;
        for (int p = 0; p < w->npeers; p++)
            MPI_Isend(b, opt.bytes, MPI_CHAR, 1, w->id + p, MPI_COMM_WORLD, &w->req[n++]);
    }
    MPI_Waitall(n, w->req, MPI_STATUSES_IGNORE);
    for (int p = 0; p < w->npeers && (stop || !opt.stream); p++) {
        int ack;
        MPI_Recv(&ack, 1, MPI_INT, 1, ACK_TAG(w->id + p), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static int recv_window(worker_t * w)
{
    const char *last = w->buf + (size_t) (opt.window - 1) * opt.bytes;
    int ack = 0;

    for (int i = 0; i < opt.window; i++)
        MPI_Irecv(w->buf + (size_t) i * opt.bytes, opt.bytes, MPI_CHAR, 0, w->id,
                  MPI_COMM_WORLD, &w->req[i]);
    MPI_Waitall(opt.window, w->req, MPI_STATUSES_IGNORE);
    if (*last || !opt.stream)
        MPI_Send(&ack, 1, MPI_INT, 0, ACK_TAG(w->id), MPI_COMM_WORLD);
    return *last;
}

static void *sender(void *arg)
{
    worker_t *w = arg;
    long windows = (opt.count + opt.window - 1) / opt.window, done = 0;
    int stop;

    for (int i = 0; i < WARM_UP_WINDOWS && opt.count == 0; i++)
        send_window(w, 0);
    if (pthread_barrier_wait(&start_line) == PTHREAD_BARRIER_SERIAL_THREAD)
        start_time = bench_now();
    pthread_barrier_wait(&start_line);
    do {
        stop = opt.count ? done + 1 >= windows : bench_now() - start_time >= opt.duration;
        send_window(w, stop);
        done++;
    } while (!stop);
    w->end = bench_now();
    w->messages = done * opt.window * w->npeers;
    return NULL;
}

static void *receiver(void *arg)
{
    while (!recv_window(arg));
    return NULL;
}

static void *alloc(size_t n)
{
    void *p = calloc(1, n);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static void report(int threads, const worker_t * w, int nsenders)
{
    long messages = 0;
    double end = 0.0;
    for (int i = 0; i < nsenders; i++) {
        messages += w[i].messages;
        end = w[i].end > end ? w[i].end : end;
    }
    double seconds = end - start_time, rate = (double) messages / seconds;
    if (opt.json)
        printf("{\"bench\": \"msgrate\", \"mode\": \"%s\", \"threads\": %d, \"bytes\": %d, "
               "\"window\": %d, \"stream\": %d, \"messages\": %ld, \"seconds\": %.6f, "
               "\"value\": %.6g, \"unit\": \"million messages/s\"}\n",
               opt.mode == PAIRS ? "pairs" : "fanout", threads, opt.bytes, opt.window, opt.stream,
               messages, seconds, rate * 1e-6);
    else
        printf("%8d %12.4f\n", threads, rate * 1e-6);
    fflush(stdout);
}

static void run_point(int threads)
{
    int nsenders = opt.mode == PAIRS ? threads : 1;
    int mine = rank == 0 ? nsenders : threads;
    int npeers = rank == 0 ? threads / nsenders : 1;
    worker_t *w = alloc(sizeof(worker_t) * (size_t) mine);

    for (int i = 0; i < mine; i++) {
        w[i].id = i;
        w[i].npeers = npeers;
        w[i].buf = alloc((size_t) opt.bytes * (rank == 0 ? 1 : (size_t) opt.window));
        w[i].last = alloc((size_t) opt.bytes);
        w[i].req = alloc(sizeof(MPI_Request) * (size_t) opt.window * (size_t) npeers);
    }
    pthread_barrier_init(&start_line, NULL, (unsigned) nsenders);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_run_threads(mine, rank == 0 ? sender : receiver, w, sizeof(worker_t));
    pthread_barrier_destroy(&start_line);
    if (rank == 0)
        report(threads, w, nsenders);
    for (int i = 0; i < mine; i++) {
        free(w[i].buf);
        free(w[i].last);
        free(w[i].req);
    }
    free(w);
}

static int parse_mode(const char *s)
{
    if (!strcmp(s, "pairs"))
        return PAIRS;
    if (strcmp(s, "fanout"))
        bench_usage_error("option -m: '%s' is neither pairs nor fanout", s);
    return FANOUT;
}

static void parse(int argc, char **argv)
{
    int c;
    opt = (options_t) {.bytes = 64,.window = 64,.mode = PAIRS,.duration = 0.5 };
    bench_thread_list("-t", "1,2,4,8,16", &opt.points);
    opterr = 0;
    while ((c = getopt(argc, argv, "s:w:t:m:d:n:uj")) != -1) {
        switch (c) {
            case 's': opt.bytes = (int) bench_int("-s", optarg, 1, 1 << 26); break;
            case 'w': opt.window = (int) bench_int("-w", optarg, 1, 1 << 16); break;
            case 't': bench_thread_list("-t", optarg, &opt.points); break;
            case 'm': opt.mode = parse_mode(optarg); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'n': opt.count = bench_int("-n", optarg, 1, 1L << 40); break;
            case 'u': opt.stream = 1; break;
            case 'j': opt.json = 1; break;
            default: optind = argc + 1; break;
        }
        if (optind > argc)
            break;
    }
    if (optind != argc)
        bench_usage_error("usage: msgrate [-m pairs|fanout] [-s bytes] [-w window] "
                          "[-t 1,2,..] [-d seconds | -n messages per thread] [-u] [-j]");
}

int main(int argc, char **argv)
{
    rank = bench_init(&argc, &argv);
    parse(argc, argv);
    if (rank == 0 && !opt.json)
        printf("# %s, %d bytes, window %d%s\n# threads  million messages/s\n",
               opt.mode == PAIRS ? "pairs" : "fanout", opt.bytes, opt.window,
               opt.stream ? ", not acknowledged" : "");
    for (int i = 0; i < opt.points.n; i++)
        run_point(opt.points.threads[i]);
    MPI_Finalize();
    return 0;
}
