/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What the benchmark programs share: clock, options, threads. It is plain MPI and pthreads, so the
 * same source measures every library. */
#ifndef BENCH_COMMON_H_INCLUDED
#define BENCH_COMMON_H_INCLUDED

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BENCH_MAX_THREADS 256
#define BENCH_MAX_POINTS 32

typedef struct {
    int n;
    int threads[BENCH_MAX_POINTS];
    int max;
} bench_points_t;

static inline double bench_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + 1e-9 * (double) ts.tv_nsec;
}

/* Rank 0 prints one line, and every process exits with status 2. All processes call it, after
 * MPI_Init. */
static inline void bench_usage_error(const char *fmt, ...)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        va_list ap;
        va_start(ap, fmt);
        vfprintf(stderr, fmt, ap);
        va_end(ap);
        fputc('\n', stderr);
    }
    MPI_Finalize();
    exit(2);
}

static inline long bench_int(const char *opt, const char *text, long lo, long hi)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (errno || end == text || *end || v < lo || v > hi)
        bench_usage_error("option %s: '%s' is not a number from %ld to %ld", opt, text, lo, hi);
    return v;
}

static inline double bench_seconds(const char *opt, const char *text)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v > 0.0 && v <= 3600.0))
        bench_usage_error("option %s: '%s' is not a time above 0, up to 3600 seconds", opt, text);
    return v;
}

/* getopt; an option that letters lacks, and a word that is none, end the program. */
static inline int bench_getopt(int argc, char **argv, const char *letters, const char *usage)
{
    opterr = 0;
    int c = getopt(argc, argv, letters);
    if (c == '?' || (c == -1 && optind != argc))
        bench_usage_error("usage: %s", usage);
    return c;
}

/* Reads a list like 1,2,4 of at most BENCH_MAX_POINTS numbers from lo to hi; returns how many. */
static inline int bench_int_list(const char *opt, const char *text, long lo, long hi, int *values)
{
    char *copy = strdup(text), *rest = copy, *s;
    int n = 0;
    while ((s = strsep(&rest, ",")) != NULL) {  /* unlike strtok, with what is empty */
        if (n == BENCH_MAX_POINTS)
            bench_usage_error("option %s: more than %d values", opt, BENCH_MAX_POINTS);
        values[n++] = (int) bench_int(opt, s, lo, hi);
    }
    free(copy);
    return n;
}

static inline void bench_thread_list(const char *opt, const char *text, bench_points_t * p)
{
    p->n = bench_int_list(opt, text, 1, BENCH_MAX_THREADS, p->threads);
    p->max = 0;
    for (int i = 0; i < p->n; i++)
        p->max = p->threads[i] > p->max ? p->threads[i] : p->max;
}

/* Starts MPI with this thread level; stops if it provides less. Returns the number of processes, and
 * this one's rank in *rank. */
static inline int bench_start_at(int level, int *argc, char ***argv, int *rank)
{
    int provided, size;
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < level)
        bench_usage_error("this library does not provide MPI_THREAD_MULTIPLE");
    return size;
}

static inline int bench_start(int *argc, char ***argv, int *rank)
{
    return bench_start_at(MPI_THREAD_MULTIPLE, argc, argv, rank);
}

/* The same for a program of two processes; returns the rank. */
static inline int bench_init_at(int level, int *argc, char ***argv)
{
    int rank, size = bench_start_at(level, argc, argv, &rank);
    if (size != 2)
        bench_usage_error("run with 2 processes, not %d", size);
    return rank;
}

static inline int bench_init(int *argc, char ***argv)
{
    return bench_init_at(MPI_THREAD_MULTIPLE, argc, argv);
}

/* Zeroed memory; ends the program if there is none. */
static inline void *bench_alloc(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* For wrong data: prints one line and ends the program with an error. Any thread may call it. */
static inline void bench_wrong(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    usleep(200000);             /* mpirun forwards nothing after the abort */
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The last byte of a message of more than one byte, where the first one is a mark. */
#define BENCH_END 90

static inline void bench_set_end(char *message, int bytes)
{
    if (bytes > 1)
        message[bytes - 1] = BENCH_END;
}

/* Whether a message of so many bytes that has come begins with this mark, and its last byte is right.
 * What it leaves there would be neither in the next message. */
static inline int bench_is_right(char *message, int bytes, int mark)
{
    const int right = message[0] == mark && (bytes == 1 || message[bytes - 1] == BENCH_END);

    message[bytes - 1] = -1;
    message[0] = -1;
    return right;
}

/* The threads of a barrier start together: *start is when the last of them came. A rate is all that
 * they do from then until the last one ends: shares of threads that run at different times, each over
 * its own time, would add up to more than the machine does. */
static inline void bench_start_together(pthread_barrier_t * line, double *start)
{
    if (pthread_barrier_wait(line) == PTHREAD_BARRIER_SERIAL_THREAD)
        *start = bench_now();
    pthread_barrier_wait(line);
}

/* Runs fn(arg + i * stride) in n threads and waits for all. */
static inline void bench_run_threads(int n, void *(*fn) (void *), void *arg, size_t stride)
{
    pthread_t tid[BENCH_MAX_THREADS];
    for (int i = 0; i < n; i++) {
        if (pthread_create(&tid[i], NULL, fn, (char *) arg + (size_t) i * stride)) {
            fprintf(stderr, "cannot create thread %d\n", i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < n; i++)
        pthread_join(tid[i], NULL);
}

#endif
