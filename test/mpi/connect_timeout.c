/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Comm_connect and MPI_Comm_accept that give up leave nothing behind: neither a header that the
 * next accept takes for a connection, nor a receive that takes what is sent later. */
#include "mt.h"

static MPI_Comm self;
static MPI_Info soon;

static void connected(MPI_Comm c, int round)
{
    int mine[2] = { mt.rank, round }, other[2] = { -1, -1 };

    MT_OK(MPI_Sendrecv(mine, 2, MPI_INT, 0, 5, other, 2, MPI_INT, 0, 5, c, MPI_STATUS_IGNORE));
    MT_CHECK(other[0] == 1 - mt.rank && other[1] == round, "got %d of round %d", other[0], other[1]);
    MT_OK(MPI_Comm_disconnect(&c));
}

/* The client gives up, connects once, and connects once more after this side has given up. */
static void server(const char *port, int round)
{
    MPI_Comm c;

    MT_OK(MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, self, &c));
    connected(c, round);
    mt_fails(MPI_Comm_accept(port, soon, 0, self, &c), MPI_ERR_PORT, "accept");
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD));
    MT_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, self, &c));
    connected(c, round);
}

static void client(const char *port, int round)
{
    MPI_Comm c;

    mt_fails(MPI_Comm_connect(port, soon, 0, self, &c), MPI_ERR_PORT, "connect");
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD));
    MT_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, self, &c));
    connected(c, round);
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, self, &c));
    connected(c, round);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";

    mt_init(argc, argv, 1, 2);
    MT_OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
    MT_OK(MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN));
    MT_OK(MPI_Info_create(&soon));
    MT_OK(MPI_Info_set(soon, "timeout", "1"));
    if (mt.rank == 0)
        MT_OK(MPI_Open_port(MPI_INFO_NULL, port));
    MT_OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
    for (int i = 0; i < (int) mt.iters; i++) {
        if (mt.rank == 0)
            server(port, i);
        else
            client(port, i);
    }
    if (mt.rank == 0)
        MT_OK(MPI_Close_port(port));
    MT_OK(MPI_Info_free(&soon));
    MT_OK(MPI_Comm_free(&self));
    return mt_finish();
}
