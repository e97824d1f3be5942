/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ch4_win.h"
#include "csp_grant.h"
#include "csp_inner.h"
#include "csp_node.h"

MPIR_Win *csp_inner;

/* It stays, so that no other communicator has its context id, from which the name of the window in
 * active messages is made. */
static MPIR_Comm *everyone;

/* A ghost updates under the same mutex as its users; only the handlers of active messages see this. */
static void use_mutex(void)
{
    csp_inner->dev.shm.posix.shm_mutex_ptr = &csp_node.ghost[0].accumulates;
    MPIDI_WIN(csp_inner, winattr) |= MPIDI_WINATTR_SHM_ALLOCATED;
}

int csp_inner_open(void)
{
    int mpi_errno = MPIR_Comm_dup_impl(MPIR_Process.comm_world, &everyone);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPID_Win_create_dynamic(NULL, everyone, &csp_inner);
    MPIR_ERR_CHECK(mpi_errno);
    /* active messages only, and no short cut by MPI_COMM_WORLD, which is about to change */
    MPIDI_WIN(csp_inner, winattr) &= ~(MPIDI_winattr_t) (MPIDI_WINATTR_NM_REACHABLE |
                                                         MPIDI_WINATTR_NM_DYNAMIC_MR |
                                                         MPIDI_WINATTR_ACCU_NO_SHM |
                                                         MPIDI_WINATTR_DIRECT_INTRA_COMM);
    mpi_errno = csp_grant_open();
    MPIR_ERR_CHECK(mpi_errno);
    if (csp_world.is_ghost)
        use_mutex();
    else
        mpi_errno = MPID_Win_lock_all(MPI_MODE_NOCHECK, csp_inner);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_inner_close(void)
{
    int mpi_errno = MPI_SUCCESS;

    if (csp_world.is_ghost) {
        MPIDI_WIN(csp_inner, winattr) &= ~(MPIDI_winattr_t) MPIDI_WINATTR_SHM_ALLOCATED;
        csp_inner->dev.shm.posix.shm_mutex_ptr = NULL;
    } else {
        mpi_errno = MPID_Win_unlock_all(csp_inner);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = MPID_Win_free(&csp_inner);
    MPIR_ERR_CHECK(mpi_errno);
    csp_inner = NULL;
    mpi_errno = MPIR_Comm_release(everyone);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}
