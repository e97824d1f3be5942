/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The processes of a node know of each other's threads: more threads that wait inside MPI than
 * processors yield, although each process has one thread only. Each process may use the same two
 * processors, and all but process 0 wait for it. Run with four or more processes and a long
 * MPIR_CVAR_CH4_WAIT_SPIN_USEC, so that a thread that believes it has a processor never yields. */
#define _GNU_SOURCE
#include "mt.h"
#include <sched.h>
#include <sys/syscall.h>

#define ENOUGH 3                /* yields while process 0 is away; a server yields seldom */

static atomic_long yields;

/* Takes the place of libc's, also for the library. */
int sched_yield(void)
{
    atomic_fetch_add_explicit(&yields, 1, memory_order_relaxed);
    return (int) syscall(SYS_sched_yield);
}

static void use_two_processors(void)
{
    cpu_set_t all, two;
    CPU_ZERO(&two);
    if (sched_getaffinity(0, sizeof(all), &all))
        return;
    for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&two) < 2; c++) {
        if (CPU_ISSET(c, &all))
            CPU_SET(c, &two);
    }
    sched_setaffinity(0, sizeof(two), &two);
}

int main(int argc, char **argv)
{
    int token = 0;
    use_two_processors();
    mt_init(argc, argv, 1, 5);
    MT_CHECK(mt.size >= 4, "run with four processes or more");
    for (int i = 0; i < (int) mt.iters; i++) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mt.rank == 0)
            usleep(300000);
        long before = atomic_load(&yields);
        MT_OK(MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD));
        long n = atomic_load(&yields) - before;
        MT_CHECK(mt.rank == 0 || n >= ENOUGH, "round %d: waited with %ld yields", i, n);
    }
    return mt_finish();
}
