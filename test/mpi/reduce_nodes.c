/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Reduce of three processes, two of them on one node, for every order of the processes and every
 * root, also in place: process 0 may be alone on its node. */
#include "mt.h"

#define MOST 21845              /* a short and a long message */

static unsigned in[MOST], out[MOST];

static void reduce(MPI_Comm comm, int rank, int root, int count, int in_place)
{
    unsigned *from = in_place && rank == root ? out : in;

    memset(out, 0, sizeof(out));
    for (int i = 0; i < count; i++)
        from[i] = 1000u * (unsigned) rank + (unsigned) i;
    MT_OK(MPI_Reduce(from == out ? MPI_IN_PLACE : in, out, count, MPI_UNSIGNED, MPI_SUM, root, comm));
    for (int i = 0; rank == root && i < count; i++) {
        unsigned want = 3000u + 3u * (unsigned) i;
        MT_CHECK(out[i] == want, "root %d, %d elements: element %d is %u, not %u", root, count, i,
                 out[i], want);
    }
}

int main(int argc, char **argv)
{
    static const int order[6][3] = {
        {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}
    };

    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size == 3, "run with 3 processes");
    for (int k = 0; k < 6; k++) {
        const int rank = order[k][mt.rank];
        MPI_Comm comm;
        MT_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm));
        for (int root = 0; root < 3; root++) {
            for (int count = 1; count <= MOST; count = count == MOST ? MOST + 1 : MOST) {
                reduce(comm, rank, root, count, 0);
                reduce(comm, rank, root, count, 1);
            }
        }
        MT_OK(MPI_Comm_free(&comm));
    }
    return mt_finish();
}
