/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Prints what the MPI library says about itself, between two marks: the library itself may print more
 * before it and after it. driver/library.py reads it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &length);
    printf("begin of version\n%s\nend of version\n", text);
    MPI_Finalize();
    return 0;
}
