/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Linked with a program of bench, it changes the last byte of each message of MPI_Isend, of each put,
 * and of each message that process 0 sends with MPI_Send (an answer would be right again), as a faulty
 * library could. The data goes out from a copy, so the sender's own buffer stays right. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* The data to send in place of buf; never freed: MPI may read it until the end. */
static const void *changed(const void *buf, int count, MPI_Datatype type)
{
    int size;
    char *copy = NULL;

    PMPI_Type_size(type, &size);
    size *= count;
    if (size > 0 && (copy = malloc((size_t) size))) {
        memcpy(copy, buf, (size_t) size);
        copy[size - 1] ^= 1;
    }
    return copy ? copy : buf;
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return PMPI_Send(rank ? buf : changed(buf, count, type), count, type, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request * request)
{
    return PMPI_Isend(changed(buf, count, type), count, type, dest, tag, comm, request);
}

int MPI_Put(const void *buf, int count, MPI_Datatype type, int target, MPI_Aint at, int n,
            MPI_Datatype there, MPI_Win win)
{
    return PMPI_Put(changed(buf, count, type), count, type, target, at, n, there, win);
}
