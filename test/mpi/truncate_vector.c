/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A message that is longer than its receive, which is of a vector type: the error is truncation, though
 * what fits may end within an item. The next message is well. */
#include "mt.h"

#define BLOCKS 64
#define ITEMS (2 * BLOCKS)      /* of the vector */

static MPI_Datatype vector, pairs;
static int out[4 * ITEMS], in[2 * ITEMS];

static void receive(MPI_Datatype type, int count, int tag)
{
    MPI_Status status;
    int class, rc = MPI_Recv(in, count, type, mt.peer, tag, MPI_COMM_WORLD, &status);

    MPI_Error_class(rc, &class);
    MT_CHECK(class == MPI_ERR_TRUNCATE, "tag %d: error class %d", tag, class);
}

/* The message that fits: two numbers of each four. */
static void receive_all(void)
{
    memset(in, -1, sizeof(in));
    MT_OK(MPI_Recv(in, 1, vector, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int k = 0; k < 2 * ITEMS - 2; k++)
        MT_CHECK(in[k] == (k % 4 < 2 ? k / 4 * 2 + k % 4 : -1), "number %d is %d", k, in[k]);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 20);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Type_vector(BLOCKS, 2, 4, MPI_INT, &vector));
    MT_OK(MPI_Type_vector(2, 1, 4, MPI_INT, &pairs));
    MT_OK(MPI_Type_commit(&vector));
    MT_OK(MPI_Type_commit(&pairs));
    for (int k = 0; k < 4 * ITEMS; k++)
        out[k] = k;
    for (long i = 0; i < mt.iters; i++) {
        if (mt.rank == 0) {
            MT_OK(MPI_Send(out, 2 * ITEMS, MPI_INT, 1, 1, MPI_COMM_WORLD));
            MT_OK(MPI_Send(out, 4 * ITEMS - 1, MPI_INT, 1, 2, MPI_COMM_WORLD));
            MT_OK(MPI_Send(out, 3 * sizeof(int) - 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
            MT_OK(MPI_Send(out, ITEMS, MPI_INT, 1, 4, MPI_COMM_WORLD));
        } else {
            receive(vector, 1, 1);
            receive(vector, 1, 2);
            receive(pairs, 1, 3);
            receive_all();
        }
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    MT_OK(MPI_Type_free(&vector));
    MT_OK(MPI_Type_free(&pairs));
    return mt_finish();
}
