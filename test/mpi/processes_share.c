/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Processes with one thread that share one processor, below MPI_THREAD_MULTIPLE: one that waits must
 * offer the processor to the others at every level. Each kind of wait takes turns with process 0; a
 * process that polls to the end of its time slice makes a round take some ten milliseconds, and the
 * whole several minutes, in place of a second. */
#define _GNU_SOURCE
#include "mt.h"
#include <sched.h>

#define ROUNDS 2500

/* All on the first processor of the mask. */
static void bind_process(void)
{
    cpu_set_t set, one;
    int k = 0;

    if (sched_getaffinity(0, sizeof(set), &set))
        return;
    while (!CPU_ISSET(k, &set))
        k++;
    CPU_ZERO(&one);
    CPU_SET(k, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void wait_in_recv(int *value, int peer)
{
    MT_OK(MPI_Recv(value, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void wait_in_test(int *value, int peer)
{
    MPI_Request request;
    int flag = 0;

    MT_OK(MPI_Irecv(value, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request));
    while (!flag)
        MT_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
}

static void wait_in_iprobe(int *value, int peer)
{
    int flag = 0;

    while (!flag)
        MT_OK(MPI_Iprobe(peer, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    wait_in_recv(value, peer);
}

static void wait_in_probe(int *value, int peer)
{
    MT_OK(MPI_Probe(peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    wait_in_recv(value, peer);
}

typedef void wait_function(int *value, int peer);

static void take_turns(wait_function *wait)
{
    for (int i = 0; i < ROUNDS; i++) {
        for (int peer = 1; mt.rank == 0 && peer < mt.size; peer++) {
            int value = i, back = -1;
            MT_OK(MPI_Send(&value, 1, MPI_INT, peer, 0, MPI_COMM_WORLD));
            wait(&back, peer);
            MT_CHECK(back == i + peer, "%d instead of %d", back, i + peer);
        }
        if (mt.rank != 0) {
            int value = -1;
            wait(&value, 0);
            value += mt.rank;
            MT_OK(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
        }
    }
}

/* Passive one-sided operations, which wait in loops of their own. */
static void lock_in_turn(void)
{
    int counter = 0;
    MPI_Win win;

    MT_OK(MPI_Win_create(&counter, sizeof(counter), sizeof(counter), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &win));
    for (int i = 0; i < ROUNDS / 10; i++) {
        int one = 1;
        MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
        MT_OK(MPI_Win_unlock(0, win));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_CHECK(mt.rank != 0 || counter == mt.size * (ROUNDS / 10), "%d counted", counter);
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    static const int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED };
    int provided, n = argc > 1 ? atoi(argv[1]) : 0;

    bind_process();
    MT_OK(MPI_Init_thread(&argc, &argv, levels[n], &provided));
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank));
    MT_OK(MPI_Comm_size(MPI_COMM_WORLD, &mt.size));
    take_turns(wait_in_recv);
    take_turns(wait_in_probe);
    take_turns(wait_in_iprobe);
    take_turns(wait_in_test);
    lock_in_turn();
    return mt_finish();
}
