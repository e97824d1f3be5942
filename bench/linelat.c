/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The time in which a cache line changes hands between two processors, in nanoseconds: the median
 * over short batches. Virtual machines move between a fast and a slow state within minutes, and
 * message rates move with them, so the drivers run this program before and after each measurement.
 * It uses the two processors that it is given, else the first two that it may use, and ends within a
 * second. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCHES 101             /* at most; fewer if the time is over */
#define EXCHANGES 500           /* of a batch, each with two hand-overs */
#define SECONDS 0.3
#define STOP (-1L)

/* Odd: the other thread's turn. Alone in its pair of lines. */
static struct {
    char before[128];
    _Atomic long turn;
    char after[128];
} ball;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void bind_to(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (pthread_setaffinity_np(pthread_self(), sizeof(one), &one)) {
        fprintf(stderr, "linelat: cannot bind to processor %d\n", cpu);
        exit(1);
    }
}

/* Answers every odd value with the next even one. */
static void *answer(void *arg)
{
    bind_to(*(int *) arg);
    for (;;) {
        long turn = atomic_load_explicit(&ball.turn, memory_order_acquire);
        if (turn == STOP)
            return NULL;
        if (turn % 2)
            atomic_store_explicit(&ball.turn, turn + 1, memory_order_release);
    }
}

/* Seconds for one hand-over, the mean of a batch. */
static double batch(void)
{
    double start = now();
    for (long turn = 0; turn < 2 * EXCHANGES; turn += 2) {
        atomic_store_explicit(&ball.turn, turn + 1, memory_order_release);
        while (atomic_load_explicit(&ball.turn, memory_order_acquire) != turn + 2)
            continue;
    }
    return (now() - start) / (2 * EXCHANGES);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* The first two processors that this process may use; returns how many there are of them. */
static int first_two(int *cpu)
{
    cpu_set_t mask;
    int n = 0;
    if (sched_getaffinity(0, sizeof(mask), &mask))
        return 0;
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++) {
        if (CPU_ISSET(i, &mask))
            cpu[n++] = i;
    }
    return n;
}

/* Returns whether the text is the number of a processor. */
static int is_cpu(const char *text, int *cpu)
{
    char *end;
    long v = strtol(text, &end, 10);
    *cpu = (int) v;
    return end != text && !*end && v >= 0 && v < CPU_SETSIZE;
}

int main(int argc, char **argv)
{
    pthread_t other;
    double time[BATCHES], end;
    int cpu[2], n = 0;

    if (argc > 1 && (argc != 3 || !is_cpu(argv[1], &cpu[0]) || !is_cpu(argv[2], &cpu[1]) ||
                     cpu[0] == cpu[1])) {
        fprintf(stderr, "usage: linelat [processor processor]\n");
        return 2;
    }
    if (argc == 1 && first_two(cpu) < 2) {
        fprintf(stderr, "linelat: there is only one processor\n");
        return 1;
    }
    if (pthread_create(&other, NULL, answer, &cpu[1]))
        return 1;
    bind_to(cpu[0]);
    batch();                    /* the other thread starts meanwhile */
    end = now() + SECONDS;
    do {
        time[n++] = batch();
    } while (n < BATCHES && now() < end);
    atomic_store_explicit(&ball.turn, STOP, memory_order_release);
    pthread_join(other, NULL);
    qsort(time, (size_t) n, sizeof(time[0]), ascending);
    printf("%.1f\n", 1e9 * time[n / 2]);
    return 0;
}
