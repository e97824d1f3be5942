/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What the machine allows: messages through a ring in shared memory between two processes, one
 * thread each, copied in and copied out, without matching, requests or a library.
 *   rate      million messages/s, with an acknowledgement after each window
 *   latency   one-way time in us of a ping-pong
 * The first word of a message is its number, so messages have at least 8 bytes. It prints one JSON
 * line. */
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
#define BATCH 16                /* messages taken before the sender is told */
#define SPINS 2000              /* looks before the processor is yielded */
#define MOST (1 << 26)
#define SHORT 128               /* bytes of a message whose number alone tells that it is there */

enum { RATE, LATENCY };

/* One direction: message i is in slot i % SLOTS as soon as the first word there is i, or -i for the
 * last message. The receiver looks there, so with a short message no other line moves. A long one is
 * there when `sent` says so: looks at its first line would take that from the sender, who writes it. */
typedef struct {
    _Alignas(128) atomic_long sent;     /* of long messages */
    _Alignas(128) atomic_long taken;    /* told in batches: its line moves once for each */
    atomic_long ready;          /* the receiver has touched the rings */
    _Alignas(128) char data[];
} ring_t;

/* A process's end of a ring. */
typedef struct {
    ring_t *ring;
    long number;                /* of the last message */
    long sent;                  /* what the receiver knows */
    long taken;                 /* what the sender knows, or the receiver has told */
} end_t;

static size_t bytes = 64, stride;
static long window = 64;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* After n looks in vain. */
static void be_patient(long n)
{
    if (n % SPINS == SPINS - 1)
        sched_yield();
}

/* Returns the counter when it is at least so much. */
static long wait_for(atomic_long * counter, long least)
{
    long found;
    for (long n = 0; (found = atomic_load_explicit(counter, memory_order_acquire)) < least; n++)
        be_patient(n);
    return found;
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

static char *slot(const end_t * e)
{
    return e->ring->data + (size_t) (e->number % SLOTS) * stride;
}

/* The next message, from number 1 on. */
static void put(end_t * e, const char *buf, int last)
{
    e->number++;
    if (e->number - e->taken > SLOTS)
        e->taken = wait_for(&e->ring->taken, e->number - SLOTS);
    char *to = slot(e);
    memcpy(to + sizeof(long), buf + sizeof(long), bytes - sizeof(long));
    atomic_store_explicit((atomic_long *) to, last ? -e->number : e->number, memory_order_release);
    if (bytes > SHORT)
        atomic_store_explicit(&e->ring->sent, e->number, memory_order_release);
}

/* The first word of the slot when it is that of the next message; before, it is that of the message
 * SLOTS ago. */
static long wait_for_message(const end_t * e, char *from)
{
    long before = e->number > SLOTS ? e->number - SLOTS : 0, word;
    for (long n = 0;; n++) {
        word = atomic_load_explicit((atomic_long *) from, memory_order_acquire);
        if (labs(word) == e->number)
            return word;
        if (word != before) {
            fprintf(stderr, "floor: message %ld is wrong\n", e->number);
            kill(0, SIGKILL);   /* of both processes: setpgid in main */
        }
        be_patient(n);
    }
}

/* Returns whether it was the last one. */
static int take(end_t * e, char *buf)
{
    e->number++;
    if (bytes > SHORT && e->number > e->sent)
        e->sent = wait_for(&e->ring->sent, e->number);
    char *from = slot(e);
    long word = wait_for_message(e, from);
    memcpy(buf + sizeof(long), from + sizeof(long), bytes - sizeof(long));
    if (e->number - e->taken == BATCH) {
        e->taken = e->number;
        atomic_store_explicit(&e->ring->taken, e->number, memory_order_release);
    }
    return word < 0;
}

static void receive_all(end_t to, end_t from, char *buf, long unit)
{
    for (int last = 0; !last;) {
        for (long i = 0; i < unit; i++)
            last = take(&to, buf);
        put(&from, buf, 0);
    }
}

/* Returns the messages sent; a unit of them is answered by one. */
static long send_all(end_t to, end_t from, char *buf, long unit, double end)
{
    for (int last = 0; !last;) {
        last = now() >= end;
        for (long i = 0; i < unit; i++)
            put(&to, buf, last && i == unit - 1);
        take(&from, buf);
    }
    return to.number;
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
        receive_all((end_t) {.ring = to}, (end_t) {.ring = from}, buf, unit);
        _exit(0);
    }
    memset(buf, 0, bytes);
    wait_for(&from->ready, 1);
    touch(to);
    touch(from);
    start = now();
    long messages = send_all((end_t) {.ring = to}, (end_t) {.ring = from}, buf, unit, start + seconds);
    seconds = now() - start;
    if (waitpid(child, &status, 0) != child || status)
        return 1;
    double rate = 1e-6 * (double) messages / seconds;
    printf("{\"bench\": \"floor\", \"mode\": \"%s\", \"bytes\": %zu, \"value\": %.6g, "
           "\"unit\": \"%s\"}\n", mode == RATE ? "rate" : "latency", asked,
           mode == RATE ? rate : 0.5 / rate, mode == RATE ? "million messages/s" : "us one way");
    return 0;
}
