/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A delete function of MPI_COMM_SELF fails in one process. MPI_Finalize returns its error there, but
 * goes on, so that the others do not wait for that process for ever. */
#include <mpi.h>
#include <stdio.h>

static int fails_in_first(MPI_Comm comm, int keyval, void *rank, void *extra)
{
    (void) comm, (void) keyval, (void) extra;
    return *(int *) rank == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(void)
{
    int rank, key, provided, rc;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, fails_in_first, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &rank);
    rc = MPI_Finalize();
    if ((rc == MPI_SUCCESS) == (rank == 0)) {
        printf("process %d: MPI_Finalize returned %d\n", rank, rc);
        return 1;
    }
    if (rank == 0)
        printf(" No Errors\n");
    return 0;
}
