/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What the programs here share: options, threads that start and stop together, sections of a given
 * length, memory, JSON lines. */
#ifndef BENCH_SYNC_COMMON_H_INCLUDED
#define BENCH_SYNC_COMMON_H_INCLUDED

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tsm_atomic.h"
#include "tsm_load.h"

#define BENCH_MAX_THREADS 256
#define BENCH_MAX_POINTS 32

/* Not every program uses all of this. */
#define BENCH_SHARED static inline __attribute__((unused))

/* ---- time, errors, memory ---- */

BENCH_SHARED double bench_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + 1e-9 * (double) ts.tv_nsec;
}

/* One line, then the end. status 2: bad use; 1: the measurement went wrong. */
__attribute__((noreturn, format(printf, 2, 3)))
BENCH_SHARED void bench_die(int status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(status);
}

/* Two lines, because some processors fetch lines in pairs. */
#define BENCH_ALIGN (2 * TSM_CACHELINE)

typedef struct bench_block {
    struct bench_block *next;
    char pad[BENCH_ALIGN - sizeof(void *)];
} bench_block_t;

static bench_block_t *bench_blocks;
static pthread_mutex_t bench_blocks_lock = PTHREAD_MUTEX_INITIALIZER;

/* How often all memory has been freed. What was made earlier does not exist any more. */
static int bench_era __attribute__((unused));

/* Zeroed memory in lines of its own until bench_free_all(). In some locks nodes wander between
 * threads, so they cannot be freed one by one. */
BENCH_SHARED void *bench_alloc(size_t bytes)
{
    size_t room = (bytes + BENCH_ALIGN - 1) / BENCH_ALIGN * BENCH_ALIGN;
    bench_block_t *block = aligned_alloc(BENCH_ALIGN, sizeof(*block) + room);
    if (!block)
        bench_die(1, "out of memory");
    memset(block + 1, 0, room);
    pthread_mutex_lock(&bench_blocks_lock);
    block->next = bench_blocks;
    bench_blocks = block;
    pthread_mutex_unlock(&bench_blocks_lock);
    return block + 1;
}

BENCH_SHARED void bench_free_all(void)
{
    while (bench_blocks) {
        bench_block_t *next = bench_blocks->next;
        free(bench_blocks);
        bench_blocks = next;
    }
    bench_era++;
}

/* ---- sections ---- */

/* This is work and not waiting: a preempted thread does the rest later. */
BENCH_SHARED void bench_work(uint64_t rounds)
{
    for (; rounds > 0; rounds--)
        __asm__ __volatile__("" : "+r"(rounds));
}

/* The rounds of bench_work that take this many nanoseconds: the fastest of some measurements. */
BENCH_SHARED uint64_t bench_rounds(double ns)
{
    static double per_ns;
    const uint64_t sample = 500000;

    for (int i = 0; per_ns <= 0.0 || i < 10; i++) {
        double start = bench_now();
        bench_work(sample);
        double rate = (double) sample / ((bench_now() - start) * 1e9);
        per_ns = rate > per_ns ? rate : per_ns;
    }
    return (uint64_t) (ns * per_ns + 0.5);
}

BENCH_SHARED int bench_compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* Sorts v. A few values from a preempted thread do not change it. */
BENCH_SHARED double bench_median(double *v, int n)
{
    qsort(v, (size_t) n, sizeof(*v), bench_compare);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* ---- options ---- */

typedef struct bench_list {
    int n;
    long v[BENCH_MAX_POINTS];
} bench_list_t;

/* A program lists the letters that it knows; the other options keep their defaults, unused. */
typedef struct bench_options {
    bench_list_t threads;               /* -t */
    double seconds;                     /* -d, of one run */
    int rounds;                         /* -r, each with one run of each competitor */
    long cs_ns, ps_ns;                  /* -c, -p */
    int pin;                            /* -P: thread i to the i-th processor allowed */
    const char *names;                  /* -l, NULL for all */
    const char *what;                   /* -o */
    bench_list_t iterations;            /* -i */
    bench_list_t max_combine;           /* -m */
    bench_list_t backoff;               /* -b */
    bench_list_t streaming;             /* -s */
} bench_options_t;

BENCH_SHARED long bench_int(int opt, const char *text, long lo, long hi)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || end == text || *end || v < lo || v > hi)
        bench_die(2, "option -%c: '%s' is not a number from %ld to %ld", opt, text, lo, hi);
    return v;
}

BENCH_SHARED double bench_seconds(int opt, const char *text)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v > 0.0 && v <= 3600.0))
        bench_die(2, "option -%c: '%s' is not a time above 0, up to 3600 seconds", opt, text);
    return v;
}

BENCH_SHARED bench_list_t bench_ints(int opt, const char *text, long lo, long hi)
{
    bench_list_t list = { 0 };
    char *copy = strdup(text), *rest = copy, *s;
    while ((s = strsep(&rest, ",")) != NULL) {  /* unlike strtok, with what is empty */
        if (list.n == BENCH_MAX_POINTS)
            bench_die(2, "option -%c: more than %d values", opt, BENCH_MAX_POINTS);
        list.v[list.n++] = bench_int(opt, s, lo, hi);
    }
    free(copy);
    return list;
}

/* 1 if name is in the comma-separated list. A NULL list contains every name. */
BENCH_SHARED int bench_named(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *s = list; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
        if (!strncmp(s, name, len) && (s[len] == ',' || s[len] == '\0'))
            return 1;
    }
    return list == NULL;
}

/* Stops the program unless known(0), known(1), ..., NULL has each name of the list. */
BENCH_SHARED void bench_check_names(const char *list, const char *(*known)(int))
{
    char *copy = list ? strdup(list) : NULL, *save = NULL;
    for (char *s = copy ? strtok_r(copy, ",", &save) : NULL; s; s = strtok_r(NULL, ",", &save)) {
        int i = 0;
        while (known(i) && strcmp(known(i), s))
            i++;
        if (!known(i)) {
            fprintf(stderr, "unknown name '%s', not one of", s);
            for (i = 0; known(i); i++)
                fprintf(stderr, " %s", known(i));
            bench_die(2, " ");
        }
    }
    free(copy);
}

BENCH_SHARED void bench_option(bench_options_t *o, int c, const char *text)
{
    switch (c) {
        case 't': o->threads = bench_ints(c, text, 1, BENCH_MAX_THREADS); break;
        case 'd': o->seconds = bench_seconds(c, text); break;
        case 'r': o->rounds = (int) bench_int(c, text, 1, 1000); break;
        case 'c': o->cs_ns = bench_int(c, text, 0, 1000000000); break;
        case 'p': o->ps_ns = bench_int(c, text, 0, 1000000000); break;
        case 'P': o->pin = 1; break;
        case 'l': o->names = text; break;
        case 'o': o->what = text; break;
        case 'i': o->iterations = bench_ints(c, text, 0, 1000000); break;
        case 'm': o->max_combine = bench_ints(c, text, 1, 1 << 30); break;
        case 'b': o->backoff = bench_ints(c, text, 0, 1 << 20); break;
        default: o->streaming = bench_ints(c, text, 0, 1); break;
    }
}

/* letters: those known to this program, as for getopt. */
BENCH_SHARED bench_options_t bench_parse(int argc, char **argv, const char *letters,
                                         const char *usage, bench_options_t defaults)
{
    bench_options_t o = defaults;
    int c;
    opterr = 0;
    while ((c = getopt(argc, argv, letters)) != -1) {
        if (c == '?' || c == ':')
            bench_die(2, "usage: %s", usage);
        bench_option(&o, c, optarg);
    }
    if (optind != argc)
        bench_die(2, "usage: %s", usage);
    tsm_load_touch();                   /* this thread, which is not bound, counts as well */
    return o;
}

/* ---- threads ---- */

typedef struct bench_team {
    pthread_barrier_t start;
    TSM_ATOMIC(int) stop;
    int pin;
    void (*body)(struct bench_team *team, int id, void *arg);
    void *arg;
} bench_team_t;

typedef struct bench_member {
    pthread_t thread;
    bench_team_t *team;
    int id;
    double started;
} bench_member_t;

static _Thread_local bench_member_t *bench_me;

/* The n-th processor that we may use, counted modulo their number. */
BENCH_SHARED int bench_cpu(int n)
{
    static cpu_set_t set;
    static int count;
    if (count == 0) {
        sched_getaffinity(getpid(), sizeof(set), &set);
        count = CPU_COUNT(&set);
    }
    if (count == 0)
        bench_die(1, "cannot read the affinity mask");
    n %= count;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set) && n-- == 0)
            return cpu;
    }
    return 0;
}

BENCH_SHARED void bench_pin(int n)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(bench_cpu(n), &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
        bench_die(1, "cannot bind a thread to processor %d", bench_cpu(n));
}

/* A body calls this when it is set up, and then works until bench_stopped(). */
BENCH_SHARED void bench_ready(bench_team_t *team)
{
    pthread_barrier_wait(&team->start);
    bench_me->started = bench_now();
}

BENCH_SHARED int bench_stopped(bench_team_t *team)
{
    return tsm_load(&team->stop, TSM_RELAXED);
}

BENCH_SHARED void *bench_member_main(void *arg)
{
    bench_me = arg;
    if (bench_me->team->pin)
        bench_pin(bench_me->id);
    bench_me->team->body(bench_me->team, bench_me->id, bench_me->team->arg);
    return NULL;
}

/* Run body on n threads for this many seconds. Returns the seconds from the first thread's start to
 * the stop. The threads do a few operations after the stop, which count. */
BENCH_SHARED double bench_run(int n, int pin, double seconds,
                              void (*body)(bench_team_t *, int, void *), void *arg)
{
    bench_team_t team = {.pin = pin,.body = body,.arg = arg };
    bench_member_t member[BENCH_MAX_THREADS];
    double first, stopped;

    pthread_barrier_init(&team.start, NULL, (unsigned) n + 1);
    for (int i = 0; i < n; i++) {
        member[i].team = &team;
        member[i].id = i;
        if (pthread_create(&member[i].thread, NULL, bench_member_main, &member[i]))
            bench_die(1, "cannot create thread %d", i);
    }
    pthread_barrier_wait(&team.start);
    struct timespec ts = { (time_t) seconds, (long) ((seconds - (double) (time_t) seconds) * 1e9) };
    while (nanosleep(&ts, &ts) && errno == EINTR);
    tsm_store(&team.stop, 1, TSM_RELAXED);
    stopped = bench_now();
    for (int i = 0; i < n; i++)
        pthread_join(member[i].thread, NULL);
    pthread_barrier_destroy(&team.start);
    first = member[0].started;
    for (int i = 1; i < n; i++)
        first = member[i].started < first ? member[i].started : first;
    return stopped - first;
}

BENCH_SHARED void *bench_idle(void *arg)
{
    for (;;)
        pause();
    return arg;
}

/* For programs that measure one thread: start another one, which sleeps. With only one thread the C
 * library leaves out the atomic instructions of its mutex. */
BENCH_SHARED void bench_not_alone(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, bench_idle, NULL))
        bench_die(1, "cannot create a thread");
}

/* A thread's count, in a line of its own. */
typedef struct bench_tally {
    uint64_t count;
    char pad[2 * TSM_CACHELINE - sizeof(uint64_t)];
} bench_tally_t;

/* ---- output ---- */

BENCH_SHARED void json_begin(const char *bench)
{
    printf("{\"bench\": \"%s\", \"cores\": %d", bench, tsm_load_processors());
}

BENCH_SHARED void json_text(const char *key, const char *value)
{
    printf(", \"%s\": \"%s\"", key, value);
}

BENCH_SHARED void json_int(const char *key, long value)
{
    printf(", \"%s\": %ld", key, value);
}

BENCH_SHARED void json_num(const char *key, double value)
{
    printf(", \"%s\": %.6g", key, value);
}

BENCH_SHARED void json_end(double value, const char *unit)
{
    printf(", \"value\": %.6g, \"unit\": \"%s\"}\n", value, unit);
    fflush(stdout);
}

#endif
