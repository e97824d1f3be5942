/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Persistent collectives: one that was not started yet is inactive, so test and wait return at once;
 * and MPI_Start starts it whatever its request object was used for before, here for a persistent send
 * to MPI_PROC_NULL, which MPI_Start leaves alone. */
#include "mt.h"

#define STARTS 3

static void use_an_object(void)
{
    MPI_Request req;

    MT_OK(MPI_Send_init(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Start(&req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Request_free(&req));
}

static void reduce(int round)
{
    int mine, sum, done = 0;
    MPI_Request req;

    MT_OK(MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &req));
    MT_OK(MPI_Test(&req, &done, MPI_STATUS_IGNORE));
    MT_CHECK(done, "a persistent collective that was not started is not complete");
    MT_OK(MPI_Waitall(1, &req, MPI_STATUSES_IGNORE));
    for (int i = 0; i < STARTS; i++) {
        mine = mt.rank + round + i;
        sum = -1;
        MT_OK(MPI_Start(&req));
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        MT_CHECK(sum == mt.size * (mt.size - 1) / 2 + mt.size * (round + i),
                 "start %d of round %d: the sum is %d", i, round, sum);
    }
    MT_OK(MPI_Request_free(&req));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 20);
    for (int round = 0; round < mt.iters; round++) {
        use_an_object();
        reduce(round);
    }
    return mt_finish();
}
