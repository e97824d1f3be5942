/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Message rate of T threads between two processes, or between each of P / 2 pairs of processes: i
 * sends to i + P / 2.
 *   pairs   thread i of rank 0 sends to thread i of rank 1 with tag i
 *   fanout  one thread of rank 0 sends to T threads of rank 1, tag i each
 *   fanin   T threads of rank 0 send to one thread of rank 1, tag i each, or all with tag 0 (-e)
 * MPI_Waitall completes a window of MPI_Isend or MPI_Irecv, and the receiver acknowledges it with 4
 * bytes. Its receives name the sender, or are from any source (-a). In a stream (-u) it acknowledges
 * only the last window, so receivers that fall behind get more messages than they have posted receives
 * for.
 * The sender's clock ends a point: the first byte of a window's last message is 1 then (with -e of
 * all its messages), so the two processes need not agree on the time. The receiver checks that no
 * other message has it, and the last byte of each message.
 * All sending processes start their clocks after a common barrier. The time of a rate is from the first
 * start to the last end, if they have one clock. */
#include "bench_common.h"

#include <stdatomic.h>

#define USAGE "msgrate [-m pairs|fanout|fanin] [-s bytes] [-w window] [-t 1,2,..] " \
    "[-d seconds | -n messages for each thread of the side with many] [-u] [-e] [-a] [-p] [-j]"

enum { PAIRS, FANOUT, FANIN, MODES };
static const char *const mode_name[] = { "pairs", "fanout", "fanin" };

#define ACK_TAG(i) (BENCH_MAX_THREADS + (i))
#define WARM_UP_WINDOWS 16

typedef struct {
    int bytes, window, mode, stream, json, post, equal_tags, any_source;
    double duration;
    long count;                 /* messages for each thread of the side with many; 0: by duration */
    bench_points_t points;
} options_t;

typedef struct {
    int id, npeers;             /* first tag, and how many: all where one thread has T peers */
    char *buf, *last;           /* sender: every message but the last, and the last, of a window */
    MPI_Request *req;
    long messages;
    double end, posting;        /* posting: seconds in MPI_Isend */
} worker_t;

static options_t opt;
static int rank, size, sends, peer;
static MPI_Comm senders;        /* the sending processes; MPI_COMM_NULL in the others */
static int one_clock;           /* several pairs of processes, all on one node */
static pthread_barrier_t start_line;
static double start_time;
static atomic_long last_window; /* fanin: the number of the last one; 0: not known yet */

static int tag_of(const worker_t * w, int p)
{
    return opt.equal_tags ? 0 : w->id + p;
}

static void send_window(worker_t * w, int stop)
{
    int n = 0;
    double begin = opt.post ? bench_now() : 0.0;

    w->last[0] = (char) stop;
    for (int i = 0; i < opt.window; i++) {
        const char *b = opt.equal_tags || i == opt.window - 1 ? w->last : w->buf;
        for (int p = 0; p < w->npeers; p++)
            MPI_Isend(b, opt.bytes, MPI_CHAR, peer, tag_of(w, p), MPI_COMM_WORLD, &w->req[n++]);
    }
    w->posting += opt.post ? bench_now() - begin : 0.0;
    MPI_Waitall(n, w->req, MPI_STATUSES_IGNORE);
    for (int p = 0; p < w->npeers && (stop || !opt.stream); p++) {
        int ack;
        MPI_Recv(&ack, 1, MPI_INT, peer, ACK_TAG(w->id + p), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* n messages have come: those of the last place of a window begin with `stop`, with -e all do, others
 * with 0. */
static void check_window(const worker_t * w, int n, int stop)
{
    for (int i = 0; i < n; i++) {
        int marked = opt.equal_tags || i >= n - w->npeers;
        if (!bench_is_right(w->buf + (size_t) i * opt.bytes, opt.bytes, marked && stop))
            bench_wrong("msgrate: message %d of a window is wrong", i);
    }
}

static int recv_window(worker_t * w)
{
    int n = 0, ack = 0, stop;

    for (int i = 0; i < opt.window; i++) {
        for (int p = 0; p < w->npeers; p++, n++)
            MPI_Irecv(w->buf + (size_t) n * opt.bytes, opt.bytes, MPI_CHAR,
                      opt.any_source ? MPI_ANY_SOURCE : peer, tag_of(w, p), MPI_COMM_WORLD,
                      &w->req[n]);
    }
    MPI_Waitall(n, w->req, MPI_STATUSES_IGNORE);
    stop = w->buf[(size_t) (n - 1) * opt.bytes];
    check_window(w, n, stop);
    for (int p = 0; p < w->npeers && (stop || !opt.stream); p++)
        MPI_Send(&ack, 1, MPI_INT, peer, ACK_TAG(w->id + p), MPI_COMM_WORLD);
    return stop;
}

static int time_is_over(long done)
{
    return opt.count ? done * opt.window >= opt.count : bench_now() - start_time >= opt.duration;
}

/* Whether this window, after `done` others, is the last one. fanin: all senders must stop with the
 * same window. The first sender names it one window ahead; no other sender begins that window before
 * the receiver has seen the first one's message. */
static int is_last(const worker_t * w, long done)
{
    if (opt.mode != FANIN)
        return time_is_over(done + 1);
    if (w->id == 0 && !atomic_load(&last_window) && time_is_over(done + 2))
        atomic_store(&last_window, done + 1);
    return done > 0 && atomic_load(&last_window) == done;
}

/* All threads of all sending processes, after their warm-ups. Processes that measure one after the
 * other would each have the machine for itself, and their rates add up to more than it does. */
static void start_together(void)
{
    if (size > 2 && pthread_barrier_wait(&start_line) == PTHREAD_BARRIER_SERIAL_THREAD)
        MPI_Barrier(senders);
    bench_start_together(&start_line, &start_time);
}

static void *sender(void *arg)
{
    worker_t *w = arg;
    long done = 0;
    int stop;

    for (int i = 0; i < WARM_UP_WINDOWS && opt.count == 0; i++)
        send_window(w, 0);
    w->posting = 0.0;
    start_together();
    do {
        stop = is_last(w, done);
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

/* From the first start of a sending process to the last end. Without a common clock: the longest time
 * of one, which misses by how much they leave the barrier apart. In process 0. */
static double time_of_all(double end)
{
    double times[2] = { one_clock ? -start_time : 0.0, one_clock ? end : end - start_time };

    MPI_Reduce(rank ? times : MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, 0, senders);
    return times[0] + times[1];
}

static void report(int threads, const worker_t * w, int nsenders)
{
    long messages = 0;
    double end = 0.0, posting = 0.0, seconds, value;

    for (int i = 0; i < nsenders; i++) {
        messages += w[i].messages;
        posting += w[i].posting;
        end = w[i].end > end ? w[i].end : end;
    }
    seconds = time_of_all(end);
    MPI_Reduce(rank ? &messages : MPI_IN_PLACE, &messages, 1, MPI_LONG, MPI_SUM, 0, senders);
    MPI_Reduce(rank ? &posting : MPI_IN_PLACE, &posting, 1, MPI_DOUBLE, MPI_SUM, 0, senders);
    if (rank)
        return;
    value = 1e-6 * (double) messages / seconds;
    if (opt.post)
        value = 1e6 * posting / (double) messages;
    if (opt.json)
        printf("{\"bench\": \"%s\", \"mode\": \"%s\", \"threads\": %d, \"bytes\": %d, "
               "\"window\": %d, \"stream\": %d, \"equal_tags\": %d, \"processes\": %d, "
               "\"messages\": %ld, \"seconds\": %.6f, \"value\": %.6g, \"unit\": \"%s\"}\n",
               opt.post ? "isend" : "msgrate", mode_name[opt.mode], threads, opt.bytes,
               opt.window, opt.stream, opt.equal_tags, size, messages, seconds, value,
               opt.post ? "us" : "million messages/s");
    else
        printf("%8d %12.4f\n", threads, value);
    fflush(stdout);
}

static void run_point(int threads)
{
    int nsenders = opt.mode == FANOUT ? 1 : threads, nreceivers = opt.mode == FANIN ? 1 : threads;
    int mine = sends ? nsenders : nreceivers;
    int npeers = threads / mine;
    worker_t *w = bench_alloc(sizeof(worker_t) * (size_t) mine);

    for (int i = 0; i < mine; i++) {
        w[i].id = i;
        w[i].npeers = npeers;
        w[i].buf = bench_alloc((size_t) opt.bytes *
                         (sends ? 1 : (size_t) opt.window * (size_t) npeers));
        w[i].last = bench_alloc((size_t) opt.bytes);
        if (sends) {
            bench_set_end(w[i].buf, opt.bytes);
            bench_set_end(w[i].last, opt.bytes);
        }
        w[i].req = bench_alloc(sizeof(MPI_Request) * (size_t) opt.window * (size_t) npeers);
    }
    atomic_store(&last_window, 0);
    pthread_barrier_init(&start_line, NULL, (unsigned) nsenders);
    MPI_Barrier(MPI_COMM_WORLD);
    bench_run_threads(mine, sends ? sender : receiver, w, sizeof(worker_t));
    pthread_barrier_destroy(&start_line);
    if (sends)
        report(threads, w, nsenders);
    for (int i = 0; i < mine; i++) {
        free(w[i].buf);
        free(w[i].last);
        free(w[i].req);
    }
    free(w);
}

static int are_on_one_node(void)
{
    MPI_Comm node;
    int there;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &there);
    MPI_Comm_free(&node);
    return there == size;
}

static int parse_mode(const char *s)
{
    for (int i = 0; i < MODES; i++) {
        if (!strcmp(s, mode_name[i]))
            return i;
    }
    bench_usage_error("option -m: '%s' is not pairs, fanout or fanin", s);
    return PAIRS;
}

static void parse(int argc, char **argv)
{
    int c;
    opt = (options_t) {.bytes = 64,.window = 64,.mode = PAIRS,.duration = 0.5 };
    bench_thread_list("-t", "1,2,4,8,16", &opt.points);
    while ((c = bench_getopt(argc, argv, "s:w:t:m:d:n:ueapj", USAGE)) != -1) {
        switch (c) {
            case 's': opt.bytes = (int) bench_int("-s", optarg, 1, 1 << 26); break;
            case 'w': opt.window = (int) bench_int("-w", optarg, 1, 1 << 16); break;
            case 't': bench_thread_list("-t", optarg, &opt.points); break;
            case 'm': opt.mode = parse_mode(optarg); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'n': opt.count = bench_int("-n", optarg, 1, 1L << 40); break;
            case 'u': opt.stream = 1; break;
            case 'e': opt.equal_tags = 1; break;
            case 'a': opt.any_source = 1; break;
            case 'p': opt.post = 1; break;
            case 'j': opt.json = 1; break;
        }
    }
    if (opt.stream && opt.mode == FANIN)
        bench_usage_error("option -u: not with -m fanin, whose senders need the acknowledgements");
    if (opt.equal_tags && opt.mode != FANIN)
        bench_usage_error("option -e: only with -m fanin (flood: one sender, equal tags)");
    if (opt.any_source && size > 2)
        bench_usage_error("option -a: with 2 processes only; pairs have the same tags");
}

int main(int argc, char **argv)
{
    size = bench_start(&argc, &argv, &rank);
    if (size % 2)
        bench_usage_error("run with an even number of processes, not %d", size);
    sends = rank < size / 2;
    peer = sends ? rank + size / 2 : rank - size / 2;
    parse(argc, argv);
    MPI_Comm_split(MPI_COMM_WORLD, sends ? 0 : MPI_UNDEFINED, rank, &senders);
    one_clock = size > 2 && are_on_one_node();
    if (rank == 0 && !opt.json)
        printf("# %s, %d bytes, window %d%s\n# threads  %s\n", mode_name[opt.mode], opt.bytes,
               opt.window, opt.stream ? ", not acknowledged" : "",
               opt.post ? "us for one MPI_Isend" : "million messages/s");
    for (int i = 0; i < opt.points.n; i++)
        run_point(opt.points.threads[i]);
    if (sends)
        MPI_Comm_free(&senders);
    MPI_Finalize();
    return 0;
}
