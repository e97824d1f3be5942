/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A communicator lives on while a receive on it is pending, after MPI_Comm_free. If it does not,
 * the next communicator gets the same context id, and the old receive takes its message. The new
 * one here is an intercommunicator: each process chooses its own context id for receiving, so the
 * sender may still have the old communicator.
 *
 * The receiver frees the old communicator before the sender does: MPI_Comm_free of MPICH waits for
 * nobody. */
#include "mt.h"

enum { TAG_OLD = 1, TAG_NEW, TAG_CREATE };

static void receive(long i, MPI_Comm old)
{
    int in[2] = { -1, -1 };
    MPI_Request r[2];
    MPI_Status st[2];
    MPI_Comm new;

    MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, old, &r[0]);
    MPI_Comm_free(&old);
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, mt.peer, TAG_CREATE, &new);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, new, &r[1]);
    MPI_Waitall(2, r, st);
    MT_CHECK(st[0].MPI_TAG == TAG_OLD && in[0] == (int) i && st[0].MPI_SOURCE == mt.peer,
             "freed communicator: tag %d, data %d from %d", st[0].MPI_TAG, in[0],
             st[0].MPI_SOURCE);
    MT_CHECK(st[1].MPI_TAG == TAG_NEW && in[1] == (int) ~i && st[1].MPI_SOURCE == 0,
             "new communicator: tag %d, data %d from %d", st[1].MPI_TAG, in[1], st[1].MPI_SOURCE);
    MPI_Comm_free(&new);
}

static void send(long i, MPI_Comm old)
{
    int out[2] = { (int) i, (int) ~i };
    MPI_Comm new;

    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, mt.peer, TAG_CREATE, &new);
    MPI_Send(&out[1], 1, MPI_INT, 0, TAG_NEW, new);
    MPI_Send(&out[0], 1, MPI_INT, mt.peer, TAG_OLD, old);
    MPI_Comm_free(&old);
    MPI_Comm_free(&new);
}

int main(int argc, char **argv)
{
    MPI_Comm old;

    mt_init(argc, argv, 1, 50);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    for (long i = 0; i < mt.iters; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &old);
        if (mt.rank % 2 == (int) (i % 2))
            receive(i, old);
        else
            send(i, old);
    }
    return mt_finish();
}
