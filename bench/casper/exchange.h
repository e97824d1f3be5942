/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What the benchmarks of ghost processes share. A program gives the list of messages that this
 * process sends and receives in an iteration (exchange_t); exchange_measure times them
 *   pure       post all, wait for all
 *   alone      compute, without messages
 *   together   post all, compute, wait for all
 * in turn, round after round, so that drift of the machine meets all three alike. The computation is
 * a number of work units and not a time, so time that something else takes from it shows. The data of
 * each round is its own, and all of it is checked after each phase that moved it. */
#ifndef EXCHANGE_H_INCLUDED
#define EXCHANGE_H_INCLUDED

#define _GNU_SOURCE             /* sched_setaffinity */
#include "../bench_common.h"

#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>

#define EXCHANGE_ROUNDS 9       /* measured; results are medians of them */
#define EXCHANGE_MOST    (1 << 26)      /* bytes of a message */
#define EXCHANGE_USAGE   "[-s bytes,..] [-d seconds] [-p free|own|idle] [-m malloc|mpi] [-o bytes] " \
    "[-j] [-h]"
#define EXCHANGE_OPTIONS "s:d:p:m:o:jh"
#define EXCHANGE_SIZES   "0,64,1024,4096,8192,65536,262144,1048576,4194304"

enum { PLACE_FREE, PLACE_OWN, PLACE_IDLE };
static const char *const exchange_places[] = { "free", "own", "idle" };

enum { MEMORY_MALLOC, MEMORY_MPI };
static const char *const exchange_memories[] = { "malloc", "mpi" };

typedef struct {
    int n, json, place, memory;
    int threshold;              /* smaller messages are not offloaded; 0: all are */
    int sizes[BENCH_MAX_POINTS];
    double duration;            /* seconds of a point */
} exchange_options_t;

/* What a program says about itself. */
typedef struct {
    const char *what, *sizes;   /* sizes: the default of -s */
    const char *usage;          /* name and own options */
    const char *own_letters, *own_help;
    const char *columns;        /* what -h says of them; NULL: those of exchange_report */
    int memory;                 /* the default of -m */
} exchange_about_t;

typedef struct {
    int is_send, peer, tag, bytes;
    char *buf;                  /* owned by the exchange */
} exchange_msg_t;

typedef struct {
    int rank, size;             /* of this process in MPI_COMM_WORLD */
    int sleeps;                 /* this process sleeps in place of computing */
    int memory;                 /* of the messages */
    int computing;              /* processes that compute */
    int n, room, sends;
    exchange_msg_t *msg;        /* receives come first */
    MPI_Request *req;
} exchange_t;

/* Times are in us, for an iteration, the mean of the processes that compute. */
typedef struct {
    double post, wait;          /* pure; post: for one operation */
    double pure;                /* both */
    double alone;               /* computation without messages */
    double together;            /* all of an iteration with both */
    double computing;           /* the computation in it */
    double overlap;             /* % of pure that the computation hides */
    double slowdown;            /* % that the computation takes longer beside messages */
    double taken;               /* % that it takes longer than undisturbed, without messages */
    double rate;                /* million messages/s of all processes, pure */
} exchange_result_t;

/* ---- start and options ---- */

/* Binds the calling thread, and decides whether this process computes; after exchange_parse. */
static inline void exchange_place(exchange_t * e, int place)
{
    cpu_set_t may, one;
    e->sleeps = place == PLACE_IDLE && e->rank % 2;
    e->computing = place == PLACE_IDLE ? (e->size + 1) / 2 : e->size;
    prctl(PR_SET_TIMERSLACK, 1);
    if (place == PLACE_FREE || sched_getaffinity(0, sizeof(may), &may))
        return;
    int nth = e->rank % CPU_COUNT(&may);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &may) && nth-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof(one), &one);
            return;
        }
    }
}

/* No receive has wildcards: without this CSP_MATCHING=tag offloads nothing. Assertions alone, given to
 * a communicator that exists, do not do that (doc/casper.md). */
static inline void exchange_hint(MPI_Comm comm)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    if (!getenv("CSP_ASYNC_CONFIG"))
        MPI_Info_set(info, "wildcard_used", "none");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

/* Stops if there are ghosts, but the communicator is left to MPICH: the run would say nothing of
 * them. */
static inline void exchange_check_offload(MPI_Comm comm)
{
    MPI_Info info;
    char value[16] = "";
    int has_ghosts;

    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, "async_config", sizeof(value) - 1, value, &has_ghosts);
    MPI_Info_free(&info);
    if (has_ghosts && strcmp(value, "true") && !getenv("CSP_ASYNC_CONFIG"))
        bench_usage_error("there are ghosts, but they do not offload");
}

/* Both ends of a message must know whether it is offloaded, and do: no receive here has more room than
 * its message has bytes. */
static inline void exchange_threshold(MPI_Comm comm, int bytes)
{
    MPI_Info info;
    char text[16];

    snprintf(text, sizeof(text), "%d", bytes);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Info_set(info, "offload_min_msgsz", text);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

/* Help needs no second process. */
static inline int exchange_wants_help(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "-h") == 0;
}

/* Starts MPI; stops if there are fewer than `least` processes. */
static inline void exchange_start(int *argc, char ***argv, int least, exchange_t * e)
{
    memset(e, 0, sizeof(*e));
    MPI_Init(argc, argv);
    exchange_hint(MPI_COMM_WORLD);
    exchange_check_offload(MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &e->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &e->size);
    if (e->size < least && !exchange_wants_help(*argc, *argv))
        bench_usage_error("run with %d processes or more (and ghosts), not %d", least, e->size);
}

static inline int exchange_place_of(const char *text)
{
    for (int i = 0; i <= PLACE_IDLE; i++) {
        if (strcmp(text, exchange_places[i]) == 0)
            return i;
    }
    bench_usage_error("option -p: '%s' is not free, own or idle", text);
    return PLACE_FREE;
}

static inline int exchange_memory_of(const char *text)
{
    for (int i = 0; i <= MEMORY_MPI; i++) {
        if (strcmp(text, exchange_memories[i]) == 0)
            return i;
    }
    bench_usage_error("option -m: '%s' is not malloc or mpi", text);
    return MEMORY_MALLOC;
}

#define EXCHANGE_COLUMNS \
    "Columns: times in us, of the processes that compute\n" \
    "  overlap   % of the pure communication that the computation hides\n" \
    "  slowdown  % that the same computation takes longer beside the messages\n" \
    "  taken     % that it takes longer even without messages: what other users of its\n" \
    "            processor and the threads of the library take\n"

/* Rank 0 prints what the program measures and its options; ends with status 0. */
static inline void exchange_help(const exchange_about_t * about)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%s\nusage: %s " EXCHANGE_USAGE "\n%s"
               "  -s  bytes of a message, a list (%s)\n"
               "  -d  seconds for each size (0.5)\n"
               "  -p  free: the users are not bound (default); own: after MPI_Init process i is\n"
               "      bound to processor i, ghosts and the library's threads are not; idle: likewise,\n"
               "      and odd processes sleep while the others compute: they leave their processor\n"
               "      to ghosts\n"
               "  -m  memory of the messages: malloc, or mpi: of MPI_Alloc_mem (%s)\n"
               "  -o  bytes of the smallest message that is offloaded to ghosts (0)\n"
               "  -j  JSON lines\n"
               "%s",
               about->what, about->usage, about->own_help, about->sizes,
               exchange_memories[about->memory], about->columns ? about->columns : EXCHANGE_COLUMNS);
    MPI_Finalize();
    exit(0);
}

/* Reads the options. own: takes an option of the program's own; 0 if it has none such. */
static inline void exchange_parse(int argc, char **argv, const exchange_about_t * about,
                                  int (*own) (int c), exchange_options_t * o)
{
    char letters[32];
    int c, good = 1;
    *o = (exchange_options_t) {.duration = 0.5,.memory = about->memory };
    o->n = bench_int_list("-s", about->sizes, 0, EXCHANGE_MOST, o->sizes);
    snprintf(letters, sizeof(letters), "%s%s", EXCHANGE_OPTIONS, about->own_letters);
    opterr = 0;
    while (good && (c = getopt(argc, argv, letters)) != -1) {
        switch (c) {
            case 's': o->n = bench_int_list("-s", optarg, 0, EXCHANGE_MOST, o->sizes); break;
            case 'd': o->duration = bench_seconds("-d", optarg); break;
            case 'p': o->place = exchange_place_of(optarg); break;
            case 'm': o->memory = exchange_memory_of(optarg); break;
            case 'o': o->threshold = (int) bench_int("-o", optarg, 0, EXCHANGE_MOST); break;
            case 'j': o->json = 1; break;
            case 'h': exchange_help(about); break;
            default: good = own(c); break;
        }
    }
    if (!good || optind != argc)
        bench_usage_error("usage: %s " EXCHANGE_USAGE, about->usage);
    if (o->threshold > 0)
        exchange_threshold(MPI_COMM_WORLD, o->threshold);
}

/* ---- the list of messages ---- */

/* All zeros; MPI ends if there is none. */
static inline char *exchange_alloc(const exchange_t * e, size_t bytes)
{
    char *buf;
    if (e->memory == MEMORY_MALLOC)
        return bench_alloc(bytes);
    MPI_Alloc_mem((MPI_Aint) bytes, MPI_INFO_NULL, &buf);
    return memset(buf, 0, bytes);
}

static inline void exchange_free(const exchange_t * e, char *buf)
{
    if (e->memory == MEMORY_MALLOC)
        free(buf);
    else
        MPI_Free_mem(buf);
}

/* Adds `count` messages to or from `peer`. Receives are added before sends, so that they are posted
 * first. */
static inline void exchange_add(exchange_t * e, int is_send, int peer, int tag, int bytes, int count)
{
    if (e->n + count > e->room) {
        e->room = 2 * (e->n + count);
        e->msg = realloc(e->msg, (size_t) e->room * sizeof(*e->msg));
        e->req = realloc(e->req, (size_t) e->room * sizeof(*e->req));
        if (!e->msg || !e->req)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < count; i++)
        e->msg[e->n++] = (exchange_msg_t) {
            .is_send = is_send,.peer = peer,.tag = tag,.bytes = bytes,
            .buf = exchange_alloc(e, (size_t) bytes + 1)
        };
    e->sends += is_send * count;
}

static inline void exchange_clear(exchange_t * e)
{
    for (int i = 0; i < e->n; i++)
        exchange_free(e, e->msg[i].buf);
    e->n = e->sends = 0;
}

static inline void exchange_end(exchange_t * e)
{
    free(e->msg);
    free(e->req);
    MPI_Finalize();
}

/* ---- data ---- */

/* The number of message i among those of its peer, tag and direction: what MPI's order is about. */
static inline int exchange_number(const exchange_t * e, int i)
{
    int n = 0;
    for (int k = 0; k < i; k++)
        n += e->msg[k].peer == e->msg[i].peer && e->msg[k].tag == e->msg[i].tag &&
            e->msg[k].is_send == e->msg[i].is_send;
    return n;
}

/* Byte `at` of a message; it depends on who sends it, where it goes, its number and the phase. */
static inline char exchange_byte(uint64_t seed, int at)
{
    uint64_t x = (seed + (uint64_t) at / 8 + 1) * 0x9e3779b97f4a7c15u;
    return (char) ((x ^ (x >> 29)) >> (8 * (at & 7)));
}

static inline uint64_t exchange_seed(const exchange_t * e, int i, int phase)
{
    const exchange_msg_t *m = &e->msg[i];
    uint64_t from = (uint64_t) (m->is_send ? e->rank : m->peer);
    uint64_t to = (uint64_t) (m->is_send ? m->peer : e->rank);
    return (((from * 4099 + to) * 4099 + (uint64_t) m->tag) * 4099 +
            (uint64_t) exchange_number(e, i)) * 65537 + (uint64_t) phase;
}

static inline void exchange_fill(exchange_t * e, int phase)
{
    for (int i = 0; i < e->n; i++) {
        uint64_t seed = exchange_seed(e, i, phase);
        exchange_msg_t *m = &e->msg[i];
        for (int at = 0; at < m->bytes; at++)
            m->buf[at] = m->is_send ? exchange_byte(seed, at) : (char) ~exchange_byte(seed, at);
    }
}

/* Returns how many messages are wrong, and prints where the first one is. */
static inline int exchange_check(const exchange_t * e, int phase)
{
    int wrong = 0;
    for (int i = 0; i < e->n; i++) {
        const exchange_msg_t *m = &e->msg[i];
        uint64_t seed = exchange_seed(e, i, phase);
        int at = 0;
        while (at < m->bytes && m->buf[at] == exchange_byte(seed, at))
            at++;
        if (at < m->bytes && wrong++ == 0)
            fprintf(stderr, "process %d: byte %d of %d bytes %s process %d is wrong\n", e->rank, at,
                    m->bytes, m->is_send ? "to" : "from", m->peer);
    }
    return wrong;
}

/* ---- computation ---- */

#define EXCHANGE_UNIT 32        /* steps of a work unit, some 50 ns */

static volatile uint64_t exchange_sink;

static inline void exchange_compute(long units)
{
    uint64_t x = exchange_sink | 1;
    for (long i = 0; i < units * EXCHANGE_UNIT; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    exchange_sink = x;
}

/* Work units of a us when nothing disturbs: the best of some tries. The same in all processes. */
static inline double exchange_units_per_us(void)
{
    const long units = 4000;
    double best = 0.0, of_all;
    for (int i = 0; i < 30; i++) {
        double start = bench_now();
        exchange_compute(units);
        double rate = (double) units / (1e6 * (bench_now() - start));
        best = rate > best ? rate : best;
    }
    MPI_Allreduce(&best, &of_all, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return of_all;
}

/* ---- timing ---- */

typedef struct {
    double post, compute, wait;
    double wrong;               /* messages */
} exchange_times_t;

static inline void exchange_sleep(double us)
{
    struct timespec ts = {.tv_sec = (time_t) (us / 1e6),.tv_nsec = (long) (us * 1e3) % 1000000000 };
    nanosleep(&ts, NULL);
}

/* How to sleep for us: a sleep lasts longer than asked for, and the others would wait for that. */
static inline double exchange_nap(double us)
{
    const double asked = 50.0;
    const int times = 20;
    double start = bench_now();
    for (int i = 0; i < times; i++)
        exchange_sleep(asked);
    double late = 1e6 * (bench_now() - start) / times - asked;
    return us > late ? us - late : 0.0;
}

/* What an iteration computes: so many units; a process that sleeps asks for so many us. */
typedef struct {
    long units;
    double nap;
} exchange_work_t;

/* n iterations; adds up the seconds of their parts. */
static inline exchange_times_t exchange_run(exchange_t * e, long n, exchange_work_t work,
                                            int with_messages)
{
    exchange_times_t t = { 0.0, 0.0, 0.0, 0.0 };
    for (long k = 0; k < n; k++) {
        double start = bench_now();
        for (int i = 0; with_messages && i < e->n; i++) {
            const exchange_msg_t *m = &e->msg[i];
            if (m->is_send)
                MPI_Isend(m->buf, m->bytes, MPI_CHAR, m->peer, m->tag, MPI_COMM_WORLD, &e->req[i]);
            else
                MPI_Irecv(m->buf, m->bytes, MPI_CHAR, m->peer, m->tag, MPI_COMM_WORLD, &e->req[i]);
        }
        double posted = bench_now();
        if (!e->sleeps)
            exchange_compute(work.units);
        else if (work.nap > 0.0)
            exchange_sleep(work.nap);
        double computed = bench_now();
        if (with_messages)
            MPI_Waitall(e->n, e->req, MPI_STATUSES_IGNORE);
        double end = bench_now();
        t.post += posted - start;
        t.compute += computed - posted;
        t.wait += end - computed;
    }
    return t;
}

/* As exchange_run, all processes together, the data checked. Returns the mean of the processes that
 * compute, in us for an iteration. Wrong data ends the program with status 1. */
static inline exchange_times_t exchange_phase(exchange_t * e, long n, exchange_work_t work,
                                              int with_messages)
{
    static int phase;
    exchange_times_t mine, all;
    phase = (phase + 1) % 65537;
    if (with_messages)
        exchange_fill(e, phase);
    MPI_Barrier(MPI_COMM_WORLD);
    mine = exchange_run(e, n, work, with_messages);
    if (e->sleeps)
        memset(&mine, 0, sizeof(mine));
    if (with_messages)
        mine.wrong = exchange_check(e, phase);
    MPI_Allreduce(&mine, &all, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (all.wrong > 0.0) {
        MPI_Finalize();
        exit(1);
    }
    double scale = 1e6 / ((double) n * e->computing);
    return (exchange_times_t) {.post = all.post * scale,.compute = all.compute * scale,
        .wait = all.wait * scale
    };
}

static inline int exchange_by_size(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static inline double exchange_median(const double *values)
{
    double v[EXCHANGE_ROUNDS];
    memcpy(v, values, sizeof(v));
    qsort(v, EXCHANGE_ROUNDS, sizeof(v[0]), exchange_by_size);
    return v[EXCHANGE_ROUNDS / 2];
}

static inline double exchange_sum(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Iterations of a phase, by the time of one in us, so that all phases take `duration` seconds. */
static inline long exchange_iterations(double us, double duration)
{
    double n = 1e6 * duration / (us * 3 * EXCHANGE_ROUNDS);
    return n < 1.0 ? 1 : n > 100000.0 ? 100000 : (long) n;
}

/* Measures the messages of e. compute_us: how long to compute in an iteration if nothing disturbs;
 * 0: as long as the pure communication takes. All processes call it; all get the result. */
static inline exchange_result_t exchange_measure(exchange_t * e, double duration, double compute_us)
{
    enum { POST, WAIT, PURE, ALONE, TOGETHER, COMPUTING, OVERLAP, SLOWDOWN, TAKEN,
        FIELDS
    };
    double of_round[FIELDS][EXCHANGE_ROUNDS], value[FIELDS];
    const exchange_work_t no_work = { 0, 0.0 };
    double pure = 1e6;
    for (int i = 0; i < 3; i++) {       /* each try knows better than the last */
        exchange_times_t t = exchange_phase(e, i ? exchange_iterations(pure, duration) : 3, no_work,
                                            1);
        pure = t.post + t.wait;
    }
    double us = compute_us > 0.0 ? compute_us : pure;
    const double per_us = exchange_units_per_us();
    const exchange_work_t work = {
        .units = (long) (us * per_us) + 1,.nap = exchange_nap(us)
    };
    long n = exchange_iterations(us > pure ? us : pure, duration);

    for (int r = 0; r < EXCHANGE_ROUNDS; r++) {
        exchange_times_t p = exchange_phase(e, n, no_work, 1);
        exchange_times_t a = exchange_phase(e, n, work, 0);
        exchange_times_t b = exchange_phase(e, n, work, 1);
        double together = b.post + b.compute + b.wait;
        pure = p.post + p.wait;
        of_round[POST][r] = p.post;
        of_round[WAIT][r] = p.wait;
        of_round[PURE][r] = pure;
        of_round[ALONE][r] = a.compute;
        of_round[TOGETHER][r] = together;
        of_round[COMPUTING][r] = b.compute;
        of_round[OVERLAP][r] = 100.0 * (1.0 - (together - a.compute) / pure);
        of_round[SLOWDOWN][r] = 100.0 * (b.compute / a.compute - 1.0);
        of_round[TAKEN][r] = 100.0 * (a.compute * per_us / (double) work.units - 1.0);
    }
    for (int i = 0; i < FIELDS; i++)
        value[i] = exchange_median(of_round[i]);
    return (exchange_result_t) {
        .post = value[POST] * e->computing / exchange_sum(e->sleeps ? 0 : e->n),.wait = value[WAIT],
        .pure = value[PURE],.alone = value[ALONE],.together = value[TOGETHER],
        .computing = value[COMPUTING],.overlap = value[OVERLAP],.slowdown = value[SLOWDOWN],
        .taken = value[TAKEN],.rate = exchange_sum(e->sends) / value[PURE]
    };
}

/* ---- report ---- */

static inline void exchange_header(const exchange_t * e, const exchange_options_t * o)
{
    if (e->rank == 0 && !o->json)
        printf("# %d processes\n#  bytes      post      wait      pure   compute  together "
               "computing overlap%% slowdown%%  taken%%      M/s\n", e->size);
}

/* Rank 0 prints a line. value, unit: what the program is about; more: JSON fields of its own. */
static inline void exchange_report(const exchange_t * e, const exchange_options_t * o,
                                   const char *bench, int bytes, const char *more,
                                   const exchange_result_t * r, double value, const char *unit)
{
    if (e->rank)
        return;
    if (o->json)
        printf("{\"bench\": \"%s\", \"bytes\": %d, \"users\": %d, \"place\": \"%s\", "
               "\"memory\": \"%s\", \"threshold\": %d, %s"
               "\"value\": %.6g, \"unit\": \"%s\", \"post_us\": %.6g, \"wait_us\": %.6g, "
               "\"pure_us\": %.6g, \"alone_us\": %.6g, \"together_us\": %.6g, "
               "\"computing_us\": %.6g, \"overlap\": %.6g, \"slowdown\": %.6g, "
               "\"taken\": %.6g, \"rate\": %.6g}\n",
               bench, bytes, e->size, exchange_places[o->place], exchange_memories[o->memory],
               o->threshold, more, value, unit, r->post, r->wait, r->pure, r->alone, r->together,
               r->computing, r->overlap, r->slowdown, r->taken, r->rate);
    else
        printf("%8d %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %8.1f %9.1f %7.1f %8.4f\n", bytes, r->post,
               r->wait, r->pure, r->alone, r->together, r->computing, r->overlap, r->slowdown,
               r->taken, r->rate);
    fflush(stdout);
}

/* ---- a whole program ---- */

/* What a program does for each size: add its messages; what it computes in us, 0: as long as the
 * messages take; what it reports, and in which unit; JSON fields of its own. */
typedef struct {
    void (*add) (exchange_t * e, int bytes);
    double compute_us;
    double (*value) (const exchange_result_t * r);
    const char *bench, *unit, *more;
} exchange_program_t;

/* After the options: measures and reports all sizes, and ends MPI. */
static inline void exchange_run_sizes(exchange_t * e, const exchange_options_t * o,
                                      const exchange_program_t * p)
{
    exchange_place(e, o->place);
    e->memory = o->memory;
    for (int i = 0; i < o->n; i++) {
        p->add(e, o->sizes[i]); /* may refuse the number of processes */
        if (i == 0)
            exchange_header(e, o);
        exchange_result_t r = exchange_measure(e, o->duration, p->compute_us);
        exchange_report(e, o, p->bench, o->sizes[i], p->more, &r, p->value(&r), p->unit);
        exchange_clear(e);
    }
    exchange_end(e);
}

/* The option -w: messages before a wait. */
static int exchange_window = 1;

static inline int exchange_window_option(int c)
{
    if (c != 'w')
        return 0;
    exchange_window = (int) bench_int("-w", optarg, 1, 1024);
    return 1;
}

/* A window of messages to process i ^ 1, and as many from it. */
static inline void exchange_add_pairs(exchange_t * e, int bytes)
{
    if (e->size % 2)
        bench_usage_error("run with an even number of processes (and ghosts), not %d", e->size);
    exchange_add(e, 0, e->rank ^ 1, 0, bytes, exchange_window);
    exchange_add(e, 1, e->rank ^ 1, 0, bytes, exchange_window);
}

static inline const char *exchange_window_field(void)
{
    static char text[32];
    snprintf(text, sizeof(text), "\"window\": %d, ", exchange_window);
    return text;
}

#endif
