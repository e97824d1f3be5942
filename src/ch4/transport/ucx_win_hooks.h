/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef UCX_WIN_HOOKS_H_INCLUDED
#define UCX_WIN_HOOKS_H_INCLUDED

/* For ucx_win.h, in place of its functions: what a synchronization of a window, or of one target of it,
 * waits for in UCX. UCX has no flush that waits for local completion only, so the local ones wait for
 * the target as well; but they are not needed after what has completed locally. */

#include "ucx_flush.h"

MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_complete_win(MPIR_Win * win)
{
    const int vni = MPIDI_UCX_get_win_vni(win);
    ucs_status_t status;
    int mpi_errno = MPI_SUCCESS;

    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vni).lock);
    status = MPIDI_UCX_flush_win(win, vni);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vni).lock);
    MPIDI_UCX_CHK_STATUS(status);
    for (int rank = 0; rank < win->comm_ptr->local_size; rank++)
        MPIDI_UCX_set_flushed(win, rank);
  fn_fail:
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_complete_target(int rank, MPIR_Win * win)
{
    const int vni = MPIDI_UCX_get_win_vni(win);
    ucs_status_t status;
    int mpi_errno = MPI_SUCCESS;

    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vni).lock);
    status = MPIDI_UCX_flush_target(win, rank, vni);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vni).lock);
    MPIDI_UCX_CHK_STATUS(status);
    MPIDI_UCX_set_flushed(win, rank);
  fn_fail:
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_rma_win_cmpl_hook(MPIR_Win * win)
{
    if (!MPIDI_UCX_WIN(win).info_table || !MPIDI_UCX_win_need_flush(win))
        return MPI_SUCCESS;
    return MPIDI_UCX_complete_win(win);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_rma_win_local_cmpl_hook(MPIR_Win * win)
{
    if (!MPIDI_UCX_WIN(win).info_table || !MPIDI_UCX_win_need_flush_local(win))
        return MPI_SUCCESS;
    return MPIDI_UCX_complete_win(win);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_rma_target_cmpl_hook(int rank, MPIR_Win * win)
{
    if (!MPIDI_UCX_is_reachable_target(rank, win, MPIDI_WIN(win, winattr)) ||
        MPIDI_UCX_WIN(win).target_sync[rank].need_sync < MPIDI_UCX_WIN_SYNC_FLUSH_LOCAL)
        return MPI_SUCCESS;
    return MPIDI_UCX_complete_target(rank, win);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_NM_rma_target_local_cmpl_hook(int rank, MPIR_Win * win)
{
    if (!MPIDI_UCX_is_reachable_target(rank, win, MPIDI_WIN(win, winattr)) ||
        MPIDI_UCX_WIN(win).target_sync[rank].need_sync != MPIDI_UCX_WIN_SYNC_FLUSH_LOCAL)
        return MPI_SUCCESS;
    return MPIDI_UCX_complete_target(rank, win);
}

#endif /* UCX_WIN_HOOKS_H_INCLUDED */
