/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Two threads on one processor must yield it to each other soon, whenever they were bound to it:
 * process 0 binds itself before MPI_Init, process 1 after, and in each two threads send a token to
 * and fro.  A library that counts processors only once finds more in process 1, and spins there for
 * its full time in every wait.  The test compares the processor time of the threads for the same
 * work, which the machine's load does not change: that of process 1 may be ten times that of process
 * 0, and is a hundred times as long if it spins. */
#define _GNU_SOURCE
#include "mt.h"
#include <sched.h>
#include <time.h>

#define TRIPS 10                /* in a stretch */
#define STRETCHES 30
#define FACTOR 10

static double used[2][STRETCHES];       /* processor time of each thread */

/* The processors are given to the processes in turn. */
static void bind_process(int rank)
{
    cpu_set_t set, one;
    int k = 0;

    if (sched_getaffinity(0, sizeof(set), &set))
        return;
    for (int n = rank % CPU_COUNT(&set); n > 0 || !CPU_ISSET(k, &set); k++)
        n -= CPU_ISSET(k, &set) != 0;
    CPU_ZERO(&one);
    CPU_SET(k, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static void *worker(void *arg)
{
    int id = *(int *) arg;

    for (int n = 0; n < STRETCHES; n++) {
        double before = now();
        for (int i = 0; i < TRIPS; i++) {
            int in = -1;
            if (id == 0)
                MT_OK(MPI_Send(&i, 1, MPI_INT, mt.rank, 1, MPI_COMM_WORLD));
            MT_OK(MPI_Recv(&in, 1, MPI_INT, mt.rank, id, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (id == 1)
                MT_OK(MPI_Send(&i, 1, MPI_INT, mt.rank, 0, MPI_COMM_WORLD));
            MT_CHECK(in == i, "%d instead of %d", in, i);
        }
        used[id][n] = now() - before;
    }
    return NULL;
}

/* The stretch in which the two threads needed least. */
static double least(void)
{
    double min = used[0][0] + used[1][0];
    for (int n = 1; n < STRETCHES; n++) {
        double sum = used[0][n] + used[1][n];
        if (sum < min)
            min = sum;
    }
    return min;
}

int main(int argc, char **argv)
{
    int id[2] = { 0, 1 };
    const char *local = getenv("PMI_RANK");
    double mine, all[2];
    pthread_t other;

    if (local && atoi(local) == 0)
        bind_process(0);
    mt_init(argc, argv, 2, 1);
    MT_CHECK(mt.size == 2 && local && atoi(local) == mt.rank, "run with 2 processes, by mpirun");
    if (mt.rank == 1)
        bind_process(1);
    MT_CHECK(pthread_create(&other, NULL, worker, &id[1]) == 0, "cannot create a thread");
    worker(&id[0]);
    pthread_join(other, NULL);
    mine = least();
    MT_OK(MPI_Allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    MT_CHECK(all[1] <= FACTOR * all[0], "bound after MPI_Init the threads used %.1f times the "
             "processor time", all[1] / all[0]);
    return mt_finish();
}
