/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A long message comes for a receive of no bytes, which fails, and so does a partitioned one; the
 * sends complete, and the next message is received. The receive is posted before the message comes,
 * or not. */
#include "mt.h"

#define COUNT 300000

static int buf[COUNT];

static void send_long(int tag)
{
    const int next = 7;

    if (tag & 1)
        MT_OK(MPI_Ssend(buf, COUNT, MPI_INT, 1, tag, MPI_COMM_WORLD));
    else
        MT_OK(MPI_Send(buf, COUNT, MPI_INT, 1, tag, MPI_COMM_WORLD));
    MT_OK(MPI_Send(&next, 1, MPI_INT, 1, tag, MPI_COMM_WORLD));
}

static void recv_none(int tag)
{
    MPI_Status status;
    int n = -1;

    if (tag & 2)
        usleep(100000);
    buf[0] = -1;
    mt_fails(MPI_Recv(buf, 0, MPI_INT, 0, tag, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE, "no room");
    MT_OK(MPI_Get_count(&status, MPI_INT, &n));
    MT_CHECK(buf[0] == -1, "%d in the buffer", buf[0]);
    MT_OK(MPI_Recv(&n, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_CHECK(n == 7, "the next message has %d", n);
}

static void partitioned(int tag)
{
    MPI_Request req;

    if (mt.rank == 0)
        MT_OK(MPI_Psend_init(buf, 1, COUNT, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &req));
    else
        MT_OK(MPI_Precv_init(buf, 1, 0, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &req));
    MT_OK(MPI_Start(&req));
    if (mt.rank == 0)
        MT_OK(MPI_Pready(0, req));
    if (mt.rank == 0)
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    else
        mt_fails(MPI_Wait(&req, MPI_STATUS_IGNORE), MPI_ERR_OTHER, "no partition");
    MT_OK(MPI_Request_free(&req));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 4);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int tag = 0; tag < (int) mt.iters; tag++) {
        if (mt.rank == 0)
            send_long(tag);
        else
            recv_none(tag);
        partitioned(tag);
    }
    return mt_finish();
}
