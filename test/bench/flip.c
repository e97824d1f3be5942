/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Linked with an application of bench/apps, it changes one bit in the last word of each message
 * that the application sends, as a faulty library could: the application must notice. */
#include <mpi.h>
#include <stdint.h>

static void flip(const void *buf, int count)
{
    if (count > 0)
        ((uint64_t *) buf)[count - 1] ^= 1u << 20;      /* all their messages have 8-byte words */
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    flip(buf, count);
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request * request)
{
    flip(buf, count);
    return PMPI_Isend(buf, count, type, dest, tag, comm, request);
}

int MPI_Issend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request * request)
{
    flip(buf, count);
    return PMPI_Issend(buf, count, type, dest, tag, comm, request);
}
