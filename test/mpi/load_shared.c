/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The processes of a node know of each other's threads: more threads that wait inside MPI than
 * processors yield, although each process has one thread only. Each process may use the same two
 * processors, and all but process 0 wait for it, until it has seen each of them yield. Run with four
 * or more processes of one node and a long MPIR_CVAR_CH4_WAIT_SPIN_USEC, so that a thread that believes
 * it has a processor does not yield before process 0 gives up. */
#define _GNU_SOURCE
#include "mt.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define ENOUGH 3                /* yields while process 0 is away; a server yields seldom */
#define LOOKS 4000              /* at most, a millisecond apart */
#define PROCESSES 64

static atomic_long before_init; /* the yields of this process until all can see them */
static _Atomic(atomic_long *) yields = &before_init;
static atomic_long *yields_of;  /* of each process, in memory that stays until all have ended */

/* Takes the place of libc's, also for the library. */
int sched_yield(void)
{
    atomic_fetch_add_explicit(atomic_load(&yields), 1, memory_order_relaxed);
    return (int) syscall(SYS_sched_yield);
}

static void show_yields(void)
{
    const size_t bytes = PROCESSES * sizeof(*yields_of);
    char path[] = "/tmp/load_shared.XXXXXX";
    int fd = mt.rank == 0 ? mkstemp(path) : -1;
    MT_CHECK(mt.size >= 4 && mt.size <= PROCESSES, "run with 4 to %d processes", PROCESSES);
    MT_OK(MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD));
    MT_CHECK(mt.rank != 0 || (fd >= 0 && ftruncate(fd, (off_t) bytes) == 0), "cannot make %s", path);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank != 0)
        fd = open(path, O_RDWR);
    yields_of = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MT_CHECK(yields_of != MAP_FAILED, "cannot map %s", path);
    close(fd);
    atomic_store(&yields, &yields_of[mt.rank]);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0)
        unlink(path);
}

/* Process 0, outside MPI. */
static void await_yields(int round)
{
    long before[PROCESSES];
    int left = LOOKS;
    for (int i = 1; i < mt.size; i++)
        before[i] = atomic_load(&yields_of[i]);
    for (int i = 1; i < mt.size; i++) {
        long n;
        while ((n = atomic_load(&yields_of[i]) - before[i]) < ENOUGH && left-- > 0)
            usleep(1000);
        MT_CHECK(n >= ENOUGH, "round %d: process %d waited with %ld yields", round, i, n);
    }
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
    show_yields();
    for (int i = 0; i < (int) mt.iters; i++) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mt.rank == 0)
            await_yields(i);
        MT_OK(MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    return mt_finish();
}
