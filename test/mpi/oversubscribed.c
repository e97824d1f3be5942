/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* More threads than cores: blocking ping-pong of 16 threads a process. */
#include "mt.h"

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (int i = 0; i < (int) mt.iters; i++) {
        int value = i;
        if (mt.rank % 2 == 0) {
            MPI_Send(&value, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MT_CHECK(value == i + 1, "round %d came back as %d", i, value);
        } else {
            MPI_Recv(&value, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MT_CHECK(value == i, "round %d came as %d", i, value);
            value++;
            MPI_Send(&value, 1, MPI_INT, mt.peer, t->id, MPI_COMM_WORLD);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 16, 200);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    mt_run(mt.threads, worker);
    return mt_finish();
}
