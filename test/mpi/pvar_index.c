/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A handle of a performance variable that does not exist is an error, not a crash. */
#include <mpi.h>
#include <stdio.h>

static int is_refused(int index)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int count, error;

    MPI_T_pvar_session_create(&session);
    error = MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_session_free(&session);
    if (error != MPI_T_ERR_INVALID_INDEX)
        printf("index %d: error %d\n", index, error);
    return error == MPI_T_ERR_INVALID_INDEX;
}

int main(int argc, char **argv)
{
    int provided, num, passed;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_num(&num);
    passed = is_refused(-1) && is_refused(num) && is_refused(1000000);
    MPI_T_finalize();
    MPI_Finalize();
    if (passed)
        printf(" No Errors\n");
    return !passed;
}
