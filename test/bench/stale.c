/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Linked with a program of bench, it completes each receive of characters of MPI_Irecv, and of MPI_Recv
 * in process 0, without writing the buffer, as a faulty library could. What the library itself receives
 * goes elsewhere. */
#include <mpi.h>
#include <stdlib.h>

/* Where to receive in place of buf; never freed. */
static void *elsewhere(void *buf, int count, MPI_Datatype type)
{
    void *other = type == MPI_CHAR && count > 0 ? malloc((size_t) count) : NULL;

    return other ? other : buf;
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
             MPI_Status * status)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return PMPI_Recv(rank ? buf : elsewhere(buf, count, type), count, type, source, tag, comm, status);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request * request)
{
    return PMPI_Irecv(elsewhere(buf, count, type), count, type, source, tag, comm, request);
}
