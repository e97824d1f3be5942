/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Comm_split of an intercommunicator when process 0 of a group, which tells the other group the new
 * context id, is in no new communicator. */
#include "mt.h"

#define TIMES 20

/* Each with all members of the other group. */
static void exchange(MPI_Comm inter, int me)
{
    int peers;

    MT_OK(MPI_Comm_remote_size(inter, &peers));
    for (int i = 0; i < peers; i++) {
        int in = -1;
        MT_OK(MPI_Sendrecv(&me, 1, MPI_INT, i, 0, &in, 1, MPI_INT, i, 0, inter, MPI_STATUS_IGNORE));
        MT_CHECK(in >= 0 && in < mt.size && in % 2 != me % 2, "%d came from %d", in, i);
    }
}

static void split(MPI_Comm inter, int color)
{
    MPI_Comm part;

    MT_OK(MPI_Comm_split(inter, color, 0, &part));
    MT_CHECK((part == MPI_COMM_NULL) == (color == MPI_UNDEFINED), "color %d", color);
    if (part != MPI_COMM_NULL) {
        exchange(part, mt.rank);
        MT_OK(MPI_Comm_free(&part));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm half, inter;

    mt_init(argc, argv, 1, TIMES);
    MT_CHECK(mt.size >= 4, "at least 4 processes are needed");
    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, mt.rank % 2, mt.rank, &half));
    MT_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mt.rank % 2, 0, &inter));
    for (int i = 0; i < mt.iters; i++) {
        split(inter, mt.rank == 0 ? MPI_UNDEFINED : 0);
        split(inter, mt.rank < 2 ? MPI_UNDEFINED : 0);
    }
    MT_OK(MPI_Comm_free(&inter));
    MT_OK(MPI_Comm_free(&half));
    return mt_finish();
}
