/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What the applications share: main with options, help and report, the team of OpenMP threads, and
 * random numbers by index, which every process can compute without the others. */
#ifndef APPS_H_INCLUDED
#define APPS_H_INCLUDED

#include "../bench_common.h"
#include <inttypes.h>
#include <omp.h>

/* An option with a whole number, besides -t, -r, -j and -h, which all applications have. */
typedef struct {
    char letter;
    const char *name;           /* in the record and the help text */
    const char *help;
    long *value;                /* holds the default at first */
    long lo, hi;
} app_option_t;

typedef struct {
    const char *name, *about;
    const char *unit;           /* a million of what run counts, per second */
    const char *threads;        /* help text of -t */
    const app_option_t *options;        /* the last one has letter 0 */
    /* Makes the problem, once; may call bench_usage_error. */
    void (*setup) (void);
    /* Runs the application with so many threads and checks the answer. All processes call it.
     * Returns how many wrong things this process found, and in *rate the rate of all processes
     * together, per second (used of rank 0). */
    long (*run) (int threads, double *rate);
} app_t;

static int app_rank, app_size;
static long app_seed = 1;

/* A hash of seed and index (the finalizer of splitmix64): the index-th random number. */
static inline uint64_t app_random(uint64_t seed, uint64_t index)
{
    uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15u ^ index * 0xd1342543de82ef95u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* From 0 to 1, without 1. */
static inline double app_random_real(uint64_t seed, uint64_t index)
{
    return (double) (app_random(seed, index) >> 11) * 0x1p-53;
}

/* Part i of n things in so many parts is [*lo, *hi). */
static inline void app_part(long n, int parts, int i, int *lo, int *hi)
{
    *lo = (int) (n * i / parts);
    *hi = (int) (n * (i + 1) / parts);
}

/* Every thread of a team calls it: threads of other processes count on all of them. */
static inline void app_check_team(int threads)
{
    if (omp_get_num_threads() != threads) {
        fprintf(stderr, "OpenMP starts %d threads, not %d\n", omp_get_num_threads(), threads);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static inline void app_help(const app_t * app)
{
    if (app_rank == 0) {
        printf("usage: %s [options]\n%s\n", app->name, app->about);
        printf("  -t LIST  %s (1,2,4)\n", app->threads);
        for (const app_option_t * o = app->options; o->letter; o++)
            printf("  -%c N     %s, %ld to %ld (%ld)\n", o->letter, o->help, o->lo, o->hi,
                   *o->value);
        printf("  -r N     seed (%ld)\n", app_seed);
        printf("  -j       print JSON lines\n  -h       print this\n");
    }
    MPI_Finalize();
    exit(0);
}

static inline void app_parse(const app_t * app, int argc, char **argv, bench_points_t * points,
                             int *json)
{
    char letters[64] = ":t:r:jh", name[3] = "-?";
    int c;

    for (const app_option_t * o = app->options; o->letter; o++)
        snprintf(letters + strlen(letters), 3, "%c:", o->letter);
    bench_thread_list("-t", "1,2,4", points);
    opterr = 0;
    while ((c = getopt(argc, argv, letters)) != -1) {
        const app_option_t *o = app->options;

        while (o->letter && o->letter != c)
            o++;
        name[1] = (char) c;
        if (o->letter)
            *o->value = bench_int(name, optarg, o->lo, o->hi);
        else if (c == 't')
            bench_thread_list(name, optarg, points);
        else if (c == 'r')
            app_seed = bench_int(name, optarg, 0, 1L << 31);
        else if (c == 'j')
            *json = 1;
        else if (c == 'h')
            app_help(app);
        else
            bench_usage_error(c == ':' ? "%s: option -%c needs a value (-h: help)" :
                              "%s: unknown option -%c (-h: help)", app->name, optopt);
    }
    if (optind != argc)
        bench_usage_error("%s: '%s' is not an option (-h: help)", app->name, argv[optind]);
}

static inline void app_report(const app_t * app, int json, int threads, double rate)
{
    if (json) {
        printf("{\"bench\": \"%s\", \"threads\": %d, \"processes\": %d, ", app->name, threads,
               app_size);
        for (const app_option_t * o = app->options; o->letter; o++)
            printf("\"%s\": %ld, ", o->name, *o->value);
        printf("\"seed\": %ld, \"value\": %.6g, \"unit\": \"%s\"}\n", app_seed, 1e-6 * rate,
               app->unit);
    } else {
        printf("%8d %12.4f\n", threads, 1e-6 * rate);
    }
    fflush(stdout);
}

/* main of every application. Exit status 1: a check failed. */
static inline int app_main(const app_t * app, int argc, char **argv)
{
    bench_points_t points;
    long wrong = 0, sum = 0;
    int json = 0;

    app_size = bench_start(&argc, &argv, &app_rank);
    app_parse(app, argc, argv, &points, &json);
    omp_set_dynamic(0);
    app->setup();
    if (app_rank == 0 && !json)
        printf("# threads %12s\n", app->unit);
    for (int i = 0; i < points.n && sum == 0; i++) {
        double rate = 0.0;

        wrong = app->run(points.threads[i], &rate);
        MPI_Allreduce(&wrong, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (app_rank == 0 && sum == 0)
            app_report(app, json, points.threads[i], rate);
        else if (app_rank == 0)
            fprintf(stderr, "%s: wrong answer with %d threads: %ld errors\n", app->name,
                    points.threads[i], sum);
    }
    MPI_Finalize();
    return sum != 0;
}

#endif
