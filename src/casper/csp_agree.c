/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_agree.h"

static int least_of(const int *mine, int *least, int n, MPIR_Comm * comm)
{
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;

    return MPIR_Allreduce(mine, least, n, MPI_INT, MPI_MIN, comm, &errflag);
}

/* On an intercommunicator each group gets the result of the other one, so twice gives our own. */
static int least_of_both(const int *mine, int *least, int n, MPIR_Comm * comm)
{
    int theirs[2 * CSP_AGREE_MOST];
    int mpi_errno = least_of(mine, theirs, n, comm);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = least_of(theirs, least, n, comm);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < n; i++)
        least[i] = MPL_MIN(least[i], theirs[i]);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The least of the negative numbers is the greatest of the numbers. */
int csp_agree(MPIR_Comm * comm, int n, int *numbers, int *is_same)
{
    int mine[2 * CSP_AGREE_MOST], least[2 * CSP_AGREE_MOST], mpi_errno;

    for (int i = 0; i < n; i++) {
        mine[i] = numbers[i];
        mine[n + i] = -numbers[i];
    }
    if (comm->comm_kind == MPIR_COMM_KIND__INTRACOMM)
        mpi_errno = least_of(mine, least, 2 * n, comm);
    else
        mpi_errno = least_of_both(mine, least, 2 * n, comm);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < n; i++) {
        numbers[i] = least[i];
        is_same[i] = least[i] == -least[n + i];
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}
