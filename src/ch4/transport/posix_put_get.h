/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_PUT_GET_H_INCLUDED
#define POSIX_PUT_GET_H_INCLUDED

/* For posix_rma.h, in place of its functions: MPI_Put, MPI_Get, MPI_Rput and MPI_Rget within a node.
 * They copy without the VCI where they can (posix_copy.h). The target may be outside the window's
 * shared memory, since MPICH decides by process only; then the operation is an active message. */

#include "posix_copy.h"

MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_is_mapped(MPIR_Win * win, int rank, MPIDI_winattr_t winattr)
{
    return (winattr & MPIDI_WINATTR_SHM_ALLOCATED) || rank == MPIDIU_win_comm_rank(win, winattr);
}

/* The copy is done: a complete request, unless it has failed. */
MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_copied(MPIR_Win * win, int mpi_errno, MPIR_Request ** request)
{
    MPIR_Request *req = NULL;

    if (mpi_errno != MPI_SUCCESS)
        return mpi_errno;
    MPIDI_CH4_REQUEST_CREATE(req, MPIR_REQUEST_KIND__RMA, MPIDI_WIN(win, am_vci), 2);
    MPIR_Assert(req);
    MPID_Request_complete(req);
    *request = req;
    return MPI_SUCCESS;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_copy_put(const void *origin, int origin_count,
                                                  MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                  int count, MPI_Datatype type, MPIR_Win * win,
                                                  MPIDI_winattr_t winattr)
{
    int mpi_errno;

    MPIDI_POSIX_COPY_ENTER(win, MPIDI_WIN(win, am_vci));
    mpi_errno = MPIDI_POSIX_do_put(origin, origin_count, origin_type, rank, disp, count, type, win,
                                   winattr);
    MPIDI_POSIX_COPY_EXIT(win, MPIDI_WIN(win, am_vci));
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_copy_get(void *origin, int origin_count,
                                                  MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                  int count, MPI_Datatype type, MPIR_Win * win,
                                                  MPIDI_winattr_t winattr)
{
    int mpi_errno;

    MPIDI_POSIX_COPY_ENTER(win, MPIDI_WIN(win, am_vci));
    mpi_errno = MPIDI_POSIX_do_get(origin, origin_count, origin_type, rank, disp, count, type, win,
                                   winattr);
    MPIDI_POSIX_COPY_EXIT(win, MPIDI_WIN(win, am_vci));
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_mpi_put(const void *origin, int origin_count,
                                                 MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                 int count, MPI_Datatype type, MPIR_Win * win,
                                                 MPIDI_winattr_t winattr)
{
    if (!MPIDI_POSIX_is_mapped(win, rank, winattr))
        return MPIDIG_mpi_put(origin, origin_count, origin_type, rank, disp, count, type, win);
    return MPIDI_POSIX_copy_put(origin, origin_count, origin_type, rank, disp, count, type, win,
                                winattr);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_mpi_get(void *origin, int origin_count,
                                                 MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                 int count, MPI_Datatype type, MPIR_Win * win,
                                                 MPIDI_winattr_t winattr)
{
    if (!MPIDI_POSIX_is_mapped(win, rank, winattr))
        return MPIDIG_mpi_get(origin, origin_count, origin_type, rank, disp, count, type, win);
    return MPIDI_POSIX_copy_get(origin, origin_count, origin_type, rank, disp, count, type, win,
                                winattr);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_mpi_rput(const void *origin, int origin_count,
                                                  MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                  int count, MPI_Datatype type, MPIR_Win * win,
                                                  MPIDI_winattr_t winattr, MPIR_Request ** request)
{
    if (!MPIDI_POSIX_is_mapped(win, rank, winattr))
        return MPIDIG_mpi_rput(origin, origin_count, origin_type, rank, disp, count, type, win,
                               request);
    return MPIDI_POSIX_copied(win, MPIDI_POSIX_copy_put(origin, origin_count, origin_type, rank, disp,
                                                        count, type, win, winattr), request);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_mpi_rget(void *origin, int origin_count,
                                                  MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                                  int count, MPI_Datatype type, MPIR_Win * win,
                                                  MPIDI_winattr_t winattr, MPIR_Request ** request)
{
    if (!MPIDI_POSIX_is_mapped(win, rank, winattr))
        return MPIDIG_mpi_rget(origin, origin_count, origin_type, rank, disp, count, type, win,
                               request);
    return MPIDI_POSIX_copied(win, MPIDI_POSIX_copy_get(origin, origin_count, origin_type, rank, disp,
                                                        count, type, win, winattr), request);
}

#endif /* POSIX_PUT_GET_H_INCLUDED */
