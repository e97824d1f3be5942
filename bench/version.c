/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Prints what the MPI library says about itself. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &length);
    puts(text);
    MPI_Finalize();
    return 0;
}
