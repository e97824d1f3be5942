/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_WIN_INFO_COPY_H_INCLUDED
#define MPIDI_WIN_INFO_COPY_H_INCLUDED

/* For mpidig_win.c, after its win_set_info: that function cuts values of the info object to pieces, and
 * reads it while other threads may change it. From here on it gets a copy. */
static int MPIDI_win_set_info_copy(MPIR_Win * win, MPIR_Info * info, bool is_init)
{
    MPIR_Info *copy = NULL;
    int mpi_errno = MPIR_Info_dup_impl(info, &copy);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = win_set_info(win, copy, is_init);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    if (copy)
        MPIR_Info_free_impl(copy);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#define win_set_info MPIDI_win_set_info_copy

/* After each process of comm has got the memory of a window, or not, with the result of this one: if it
 * has failed in one, it has in all. Else the others would wait in the next step. What frees the window
 * then finds its memory. */
static int MPIDI_win_agree(MPIR_Win * win, void *base, MPIR_Comm * comm, int mpi_errno)
{
    int failed = mpi_errno != MPI_SUCCESS, any_failed = 0;
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;

    if (!failed)
        win->base = base;
    MPIR_Allreduce(&failed, &any_failed, 1, MPI_INT, MPI_MAX, comm, &errflag);
    if (any_failed || errflag)
        MPIR_ERR_SET(mpi_errno, MPI_ERR_NO_MEM, "**nomem");
    return mpi_errno;
}

#endif /* MPIDI_WIN_INFO_COPY_H_INCLUDED */
