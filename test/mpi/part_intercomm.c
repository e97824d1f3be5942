/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Partitioned messages between the two groups of an intercommunicator, whose context ids differ: one
 * group has made more communicators before. The receive is made before the send and after it. */
#include "mt.h"

#define PARTITIONS 3
#define TAG 5
#define MORE 4                  /* communicators */

static MPI_Comm local, inter;
static int data[PARTITIONS];

static void message(int from, int sends_first)
{
    const int sends = mt.rank % 2 == from, to = mt.rank / 2;
    MPI_Request r;

    if (sends != sends_first)
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (sends)
        MT_OK(MPI_Psend_init(data, PARTITIONS, 1, MPI_INT, to, TAG, inter, MPI_INFO_NULL, &r));
    else
        MT_OK(MPI_Precv_init(data, PARTITIONS, 1, MPI_INT, to, TAG, inter, MPI_INFO_NULL, &r));
    if (sends == sends_first)
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (long round = 0; round < mt.iters; round++) {
        for (int p = 0; p < PARTITIONS; p++)
            data[p] = sends ? (int) round * 10 + p : -1;
        MT_OK(MPI_Start(&r));
        if (sends)
            MT_OK(MPI_Pready_range(0, PARTITIONS - 1, r));
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        for (int p = 0; p < PARTITIONS; p++)
            MT_CHECK(data[p] == (int) round * 10 + p, "item %d is %d", p, data[p]);
    }
    MT_OK(MPI_Request_free(&r));
}

int main(int argc, char **argv)
{
    MPI_Comm more[MORE];

    mt_init(argc, argv, 1, 20);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt.rank % 2, 0, &local));
    for (int i = 0; i < MORE && mt.rank % 2; i++)
        MT_OK(MPI_Comm_dup(local, &more[i]));
    MT_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - mt.rank % 2, 0, &inter));
    for (int i = 0; i < 4; i++)
        message(i % 2, i / 2);
    MT_OK(MPI_Comm_free(&inter));
    for (int i = 0; i < MORE && mt.rank % 2; i++)
        MT_OK(MPI_Comm_free(&more[i]));
    MT_OK(MPI_Comm_free(&local));
    return mt_finish();
}
