/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A simulated machine with many cores: threads are coroutines of one kernel thread, and every access
 * to memory that -fsanitize=thread reports is an event on a cache line. The core with the smallest
 * clock goes on, so a run is a function of its parameters.
 *
 *   machine.c   the lines: which cores have a copy, what a transfer costs, the counts
 *   threads.c   cores, threads, time slices, sleeping and waking
 *   hooks.c     what the compiler's instrumentation and the C library's calls lead to
 *
 * Times are picoseconds. All of it runs in one kernel thread; nothing here is thread-safe. */
#ifndef SIM_H_INCLUDED
#define SIM_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SIM_CORES 256
#define SIM_THREADS 1024
#define SIM_NS 1000u            /* picoseconds in a nanosecond */

/* The machine. Costs in picoseconds. */
typedef struct sim_machine {
    int cores, cluster;         /* cluster: cores that share a cache */
    uint64_t hit;               /* an access to a line that the core has */
    uint64_t rmw;               /* more for a read-modify-write, a seq_cst store or a fence */
    uint64_t near, far;         /* a transfer inside a cluster; from another one */
    uint64_t pause;             /* tsm_cpu_pause() */
    uint64_t call;              /* a system call */
    uint64_t wake;              /* from a wake to the sleeper's first instruction */
    uint64_t change;            /* of the thread that a core runs */
    uint64_t slice;             /* for which a thread runs if others want its core */
    uint64_t seed;              /* of the order of cores whose clocks are equal */
} sim_machine_t;

extern sim_machine_t sim_machine;

/* What has been counted since sim_counts_reset(). cold: lines that no core had. */
typedef struct sim_counts {
    uint64_t near, far, cold;
    uint64_t sleeps, wakes, yields, preempted;
} sim_counts_t;

extern sim_counts_t sim_counts;

enum { SIM_READ, SIM_WRITE, SIM_RMW };

/* ---- machine.c ---- */

void sim_lines_create(void);

/* The running core reads or writes [p, p + size). ordered: an atomic access, which happens in the
 * order of the clocks; any other one does so only if it needs a transfer. pc: the place in the code. */
void sim_access(const volatile void *p, size_t size, int kind, int ordered, const void *pc);

/* The same for a store with a fence behind it, and for a fence alone: waits until the core's stores
 * are done. */
void sim_fence(void);

/* It asks for the line of p, to write if `writes`, and goes on; an access waits until the line is
 * there. */
void sim_prefetch(const volatile void *p, int writes, const void *pc);

/* Give memory a name for the report; name is kept. Later names win. */
void sim_name(const void *p, size_t size, const char *name);

void sim_counts_reset(void);

/* Print the lines with the most transfers: per operation, the name, the places in the code. */
void sim_print_lines(FILE *out, int most, double ops);

/* ---- threads.c ---- */

typedef struct sim_thread sim_thread_t;

/* Prepare so many threads, then start the first one; it ends the process. */
void sim_run(int threads, void (*body)(void *), void *arg);

/* Start a thread on a core. */
sim_thread_t *sim_spawn(int core, void (*body)(void *), void *arg);

/* The running thread's number, its core, and that core's clock. */
int sim_self(void);
int sim_core(void);
uint64_t sim_now(void);

/* The running core works for so long. */
void sim_work(uint64_t ps);

/* Let a core whose clock is behind go first; a time slice may end. */
void sim_point(void);

void sim_yield(void);

/* Sleep on an address until a wake, or for `most` (0: without end). Returns 0 after that time. */
int sim_sleep(const void *address, uint64_t most);

/* Wake up to `most` threads that sleep on an address, the oldest first; returns how many. */
int sim_wake(const void *address, int most);

/* Wait for n threads. The last one calls then(), and all go on at the same time. Not an event. */
void sim_meet(int n, void (*then)(void));

/* Print one line and end the process with status 3. */
__attribute__((noreturn)) void sim_fail(const char *format, ...);

#endif /* SIM_H_INCLUDED */
