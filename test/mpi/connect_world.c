/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Comm_accept and MPI_Comm_connect while a receive from any source with any tag waits on
 * MPI_COMM_WORLD: it gets the message that is sent to it, and none of those by which processes
 * connect. */
#include "mt.h"

static void connected(MPI_Comm c)
{
    int mine = mt.rank, other = -1, remote = 0;

    MT_OK(MPI_Comm_remote_size(c, &remote));
    MT_CHECK(remote == 1, "connected with %d processes", remote);
    MT_OK(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 5, &other, 1, MPI_INT, 0, 5, c, MPI_STATUS_IGNORE));
    MT_CHECK(other == 1 - mt.rank, "got %d", other);
    MT_OK(MPI_Comm_disconnect(&c));
}

static void accept_once(int round)
{
    char port[MPI_MAX_PORT_NAME];
    int got = -1;
    MPI_Request r;
    MPI_Status status;
    MPI_Comm c;

    MT_OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r));
    MT_OK(MPI_Open_port(MPI_INFO_NULL, port));
    MT_OK(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 1, MPI_COMM_WORLD));
    MT_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c));
    connected(c);
    MT_OK(MPI_Close_port(port));
    MT_OK(MPI_Wait(&r, &status));
    MT_CHECK(got == round && status.MPI_SOURCE == 1 && status.MPI_TAG == 0,
             "got %d from %d with tag %d", got, status.MPI_SOURCE, status.MPI_TAG);
}

static void connect_once(int round)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm c;

    MT_OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c));
    connected(c);
    MT_OK(MPI_Send(&round, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 5);
    for (int i = 0; i < (int) mt.iters; i++) {
        if (mt.rank == 0)
            accept_once(i);
        else
            connect_once(i);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return mt_finish();
}
