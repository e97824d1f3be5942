/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Linked with a program of bench/casper, it changes the last byte of each message, as a faulty library
 * could. The message goes out from a copy, so the sender's own buffer stays right. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request * request)
{
    char *copy = NULL;          /* never freed: MPI may read it until the end */
    if (count > 0 && (copy = malloc((size_t) count))) {
        memcpy(copy, buf, (size_t) count);
        copy[count - 1] ^= 1;
    }
    return PMPI_Isend(copy ? copy : buf, count, type, dest, tag, comm, request);
}
