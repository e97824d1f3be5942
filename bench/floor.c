/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What the machine allows: messages through a ring in shared memory between two processes, one
 * thread each, copied in and copied out, without matching, requests or a library.
 *   rate      million messages/s, with an acknowledgement after each window
 *   latency   one-way time in us of a ping-pong
 * The receiver checks the number in each message, so messages have at least 8 bytes. It prints one
 * JSON line. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 64
#define SPINS 2000              /* looks before the processor is yielded */
#define MOST (1 << 26)

enum { RATE, LATENCY };

/* One direction. Slot i is full when its turn is the number of the message in it. */
typedef struct {
    _Alignas(128) atomic_long sent;
    _Alignas(128) atomic_long taken;
    atomic_long ready;          /* the receiver has touched the rings */
    _Alignas(128) char data[];
} ring_t;

static size_t bytes = 64, stride;
static long window = 64;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void wait_for(atomic_long * counter, long least)
{
    for (long n = 0; atomic_load_explicit(counter, memory_order_acquire) < least; n++) {
        if (n % SPINS == SPINS - 1)
            sched_yield();
    }
}

static ring_t *ring_new(void)
{
    size_t size = sizeof(ring_t) + SLOTS * stride;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("floor: mmap");
        exit(1);
    }
    return p;
}

/* Gives this process the pages of a ring, so that the clock does not see it happen. Nothing is in the
 * ring yet. */
static void touch(ring_t * r)
{
    memset(r->data, 0, SLOTS * stride);
}

/* Message `number`, from 1 on; a negative first word ends the stream. */
static void put(ring_t * r, long number, char *buf, int last)
{
    long word = last ? -number : number;
    memcpy(buf, &word, sizeof(word));
    wait_for(&r->taken, number - SLOTS);
    memcpy(r->data + (size_t) (number % SLOTS) * stride, buf, bytes);
    atomic_store_explicit(&r->sent, number, memory_order_release);
}

/* Returns whether it was the last one. */
static int take(ring_t * r, long number, char *buf)
{
    long word;
    wait_for(&r->sent, number);
    memcpy(buf, r->data + (size_t) (number % SLOTS) * stride, bytes);
    atomic_store_explicit(&r->taken, number, memory_order_release);
    memcpy(&word, buf, sizeof(word));
    if (labs(word) != number) {
        fprintf(stderr, "floor: message %ld is wrong\n", number);
        kill(0, SIGKILL);       /* of both processes: setpgid in main */
    }
    return word < 0;
}

static void receive_all(ring_t * to, ring_t * from, char *buf, long unit)
{
    long number = 0, answer = 0;
    for (int last = 0; !last;) {
        for (long i = 0; i < unit; i++)
            last = take(to, ++number, buf);
        put(from, ++answer, buf, 0);
    }
}

/* Returns the messages sent; a unit of them is answered by one. */
static long send_all(ring_t * to, ring_t * from, char *buf, long unit, double end)
{
    long number = 0, answer = 0;
    for (int last = 0; !last;) {
        last = now() >= end;
        for (long i = 0; i < unit; i++)
            put(to, ++number, buf, last && i == unit - 1);
        take(from, ++answer, buf);
    }
    return number;
}

static double option(const char *name, const char *text, double lo, double hi)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v >= lo && v <= hi)) {
        fprintf(stderr, "floor: option %s: '%s' is not a number from %g to %g\n", name, text, lo,
                hi);
        exit(2);
    }
    return v;
}

int main(int argc, char **argv)
{
    double seconds = 0.5, start;
    size_t asked;
    int c, mode = RATE, status;

    opterr = 0;
    while ((c = getopt(argc, argv, "m:s:w:d:j")) != -1) {
        if (c == 'm' && (!strcmp(optarg, "rate") || !strcmp(optarg, "latency")))
            mode = *optarg == 'r' ? RATE : LATENCY;
        else if (c == 's')
            bytes = (size_t) option("-s", optarg, 1, MOST);
        else if (c == 'w')
            window = (long) option("-w", optarg, 1, 1 << 16);
        else if (c == 'd')
            seconds = option("-d", optarg, 1e-6, 3600);
        else if (c != 'j')
            optind = argc + 1;
        if (optind > argc)
            break;
    }
    if (optind != argc) {
        fprintf(stderr, "usage: floor [-m rate|latency] [-s bytes] [-w window] [-d seconds] [-j]\n");
        return 2;
    }
    asked = bytes;
    bytes = bytes < sizeof(long) ? sizeof(long) : bytes;
    stride = (bytes + 127) / 128 * 128;
    long unit = mode == RATE ? window : 1;
    ring_t *to = ring_new(), *from = ring_new();
    char *buf = malloc(bytes);
    setpgid(0, 0);
    pid_t child = fork();
    if (!buf || child < 0) {
        fprintf(stderr, "floor: cannot start: %s\n", strerror(errno));
        return 1;
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        memset(buf, 0, bytes);
        touch(to);
        touch(from);
        atomic_store_explicit(&from->ready, 1, memory_order_release);
        receive_all(to, from, buf, unit);
        _exit(0);
    }
    memset(buf, 0, bytes);
    wait_for(&from->ready, 1);
    touch(to);
    touch(from);
    start = now();
    long messages = send_all(to, from, buf, unit, start + seconds);
    seconds = now() - start;
    if (waitpid(child, &status, 0) != child || status)
        return 1;
    double rate = 1e-6 * (double) messages / seconds;
    printf("{\"bench\": \"floor\", \"mode\": \"%s\", \"bytes\": %zu, \"value\": %.6g, "
           "\"unit\": \"%s\"}\n", mode == RATE ? "rate" : "latency", asked,
           mode == RATE ? rate : 0.5 / rate, mode == RATE ? "million messages/s" : "us one way");
    return 0;
}
