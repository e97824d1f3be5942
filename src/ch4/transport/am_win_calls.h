/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_AM_WIN_CALLS_H_INCLUDED
#define MPIDI_AM_WIN_CALLS_H_INCLUDED

/* MPI_Win_start, the four flushes, MPI_Win_unlock_all and MPI_Win_sync of windows whose operations may
 * be active messages: for mpidig_win.h, in place of MPICH's functions.
 *
 * MPICH's flush waits until no operation is under way, so threads that go on issuing operations hold
 * it up for ever; ours waits for those that began before it (am_flush.h). MPICH's start counts posts,
 * whoever they are from; ours waits for those of its group (win_posts.h). */

/* Wait until all of group have posted the window, and take their posts. With the VCI held. */
MPL_STATIC_INLINE_PREFIX int MPIDI_am_take_posts(MPIR_Group * group, MPIR_Win * win, int vci)
{
    MPIDI_win_posts_t *posts = &MPIDIG_WIN(win, sync).posts;
    const int n = group->size;
    int *ranks = MPL_malloc(n * sizeof(int), MPL_MEM_RMA);
    int found = 0, mpi_errno = MPI_SUCCESS;

    MPIR_Assert(ranks || n == 0);
    mpi_errno = MPIDIG_fill_ranks_in_win_grp(win, group, ranks);
    MPIR_ERR_CHECK(mpi_errno);
    MPIDIU_PROGRESS_WHILE(MPIDI_win_posts_missing(posts, ranks, n, &found), vci);
    MPIDI_win_posts_take(posts, ranks, n);
  fn_fail:
    MPL_free(ranks);
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_win_start(MPIR_Group * group, int assert, MPIR_Win * win)
{
    int mpi_errno = MPI_SUCCESS;
    const int vci = MPIDI_WIN(win, am_vci);
    MPIDIG_win_sync_t *sync = &MPIDIG_WIN(win, sync);

    MPIR_FUNC_ENTER;
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock);
    MPIDIG_ACCESS_EPOCH_CHECK_NONE(win, mpi_errno, goto fn_fail);

    MPIR_Group_add_ref(group);
    mpi_errno = assert & MPI_MODE_NOCHECK ? MPI_SUCCESS : MPIDI_am_take_posts(group, win, vci);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_ERR_CHKANDJUMP(sync->sc.group != NULL, mpi_errno, MPI_ERR_GROUP, "**group");
    sync->sc.group = group;
    sync->access_epoch_type = MPIDIG_EPOTYPE_START;

  fn_fail:
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    MPIR_FUNC_EXIT;
    return mpi_errno;
}

/* Complete what the transports themselves have under way to one target. VCI not locked. */
MPL_STATIC_INLINE_PREFIX int MPIDI_am_complete_native(int rank, MPIR_Win * win,
                                                      MPIDI_am_completion_t completion)
{
    const int is_local = completion == MPIDI_AM_LOCAL;
    int mpi_errno = is_local ? MPIDI_NM_rma_target_local_cmpl_hook(rank, win) :
        MPIDI_NM_rma_target_cmpl_hook(rank, win);

    MPIR_ERR_CHECK(mpi_errno);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    mpi_errno = is_local ? MPIDI_SHM_rma_target_local_cmpl_hook(rank, win) :
        MPIDI_SHM_rma_target_cmpl_hook(rank, win);
    MPIR_ERR_CHECK(mpi_errno);
#endif
  fn_fail:
    return mpi_errno;
}

/* The same to all targets. */
MPL_STATIC_INLINE_PREFIX int MPIDI_am_complete_native_all(MPIR_Win * win,
                                                          MPIDI_am_completion_t completion)
{
    const int is_local = completion == MPIDI_AM_LOCAL;
    int mpi_errno = is_local ? MPIDI_NM_rma_win_local_cmpl_hook(win) :
        MPIDI_NM_rma_win_cmpl_hook(win);

    MPIR_ERR_CHECK(mpi_errno);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    mpi_errno = is_local ? MPIDI_SHM_rma_win_local_cmpl_hook(win) : MPIDI_SHM_rma_win_cmpl_hook(win);
    MPIR_ERR_CHECK(mpi_errno);
#endif
  fn_fail:
    return mpi_errno;
}

/* A call that ends an epoch goes on if the network has failed, because others wait for what it does
 * next; MPIDI_rma_sync_end (issue/rma_sync.h) returns the first such error. */
MPL_STATIC_INLINE_PREFIX int MPIDI_am_keep_error(MPIR_Win * win, int mpi_errno)
{
    int none = MPI_SUCCESS;

    if (unlikely(mpi_errno != MPI_SUCCESS))
        tsm_cas(&MPIDI_WIN(win, threads).error, &none, mpi_errno, TSM_RELAXED, TSM_RELAXED);
    return MPI_SUCCESS;
}

/* A flush polls once more now and then, although nothing is under way: this process may be the target
 * of others' operations, and call nothing else. A target has no state as long as all operations to it
 * went through shared memory under MPI_Win_lock_all. */
MPL_STATIC_INLINE_PREFIX int MPIDI_am_flush(int rank, MPIR_Win * win, MPIDI_am_completion_t completion)
{
    int mpi_errno = MPI_SUCCESS;
    const int vci = MPIDI_WIN(win, am_vci);
    MPIDIG_win_target_t *target;
    MPIDI_am_flush_t flush = { 0 };
    int poll_once;

    MPIR_FUNC_ENTER;
    MPIDIG_EPOCH_CHECK_PASSIVE(win, mpi_errno, return mpi_errno);
    mpi_errno = MPIDI_am_complete_native(rank, win, completion);
    if (mpi_errno)
        return mpi_errno;

    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock);
    target = MPIDIG_win_target_find(win, rank);
    if (target && MPIDIG_WIN(win, sync).access_epoch_type == MPIDIG_EPOTYPE_LOCK)
        MPIDIG_EPOCH_CHECK_TARGET_LOCK(target, mpi_errno, goto fn_fail);
    poll_once = MPIDIG_rma_need_poll_am()? 1 : 0;
    MPIDI_AM_FLUSH_WHILE(!MPIDI_am_flushed_target(target, completion, &flush) || poll_once-- > 0,
                         vci, flush);

  fn_fail:
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    MPIR_FUNC_EXIT;
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_am_flush_all(MPIR_Win * win, MPIDI_am_completion_t completion)
{
    int mpi_errno = MPI_SUCCESS;
    const int vci = MPIDI_WIN(win, am_vci);
    MPIDI_am_flush_t flush = { 0 };
    int poll_once;

    MPIR_FUNC_ENTER;
    MPIDIG_EPOCH_CHECK_PASSIVE(win, mpi_errno, return mpi_errno);
    mpi_errno = MPIDI_am_complete_native_all(win, completion);
    if (mpi_errno)
        return mpi_errno;

    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock);
    poll_once = MPIDIG_rma_need_poll_am()? 1 : 0;
    MPIDI_AM_FLUSH_WHILE(!MPIDI_am_flushed_win(win, completion, &flush) || poll_once-- > 0, vci, flush);

  fn_fail:
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    MPIR_FUNC_EXIT;
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_win_flush(int rank, MPIR_Win * win)
{
    return MPIDI_am_flush(rank, win, MPIDI_AM_REMOTE);
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_win_flush_local(int rank, MPIR_Win * win)
{
    return MPIDI_am_flush(rank, win, MPIDI_AM_LOCAL);
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_win_flush_all(MPIR_Win * win)
{
    return MPIDI_am_flush_all(win, MPIDI_AM_REMOTE);
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_win_flush_local_all(MPIR_Win * win)
{
    return MPIDI_am_flush_all(win, MPIDI_AM_LOCAL);
}

/* Ends the locks of all targets; each answers when it has taken its lock back. With the VCI held. */
MPL_STATIC_INLINE_PREFIX int MPIDI_am_give_locks_back(MPIR_Win * win, int vci)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Comm *comm = win->comm_ptr;
    MPIDIG_win_cntrl_msg_t msg;

    msg.win_id = MPIDIG_WIN(win, win_id);
    msg.origin_rank = comm->rank;
    for (int rank = 0; rank < comm->local_size; rank++) {
        CH4_CALL(am_send_hdr(rank, comm, MPIDIG_WIN_UNLOCKALL, &msg, sizeof(msg), vci, vci),
                 MPIDI_rank_is_local(rank, comm), mpi_errno);
        MPIR_ERR_CHKANDJUMP(mpi_errno, mpi_errno, MPI_ERR_RMA_SYNC, "**rmasync");
    }
    MPIDIU_PROGRESS_WHILE(MPIDIG_WIN(win, sync).lockall.allLocked, vci);
  fn_fail:
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_win_unlock_all(MPIR_Win * win)
{
    int mpi_errno = MPI_SUCCESS;
    const int vci = MPIDI_WIN(win, am_vci);
    MPIDIG_win_sync_t *sync = &MPIDIG_WIN(win, sync);

    MPIR_FUNC_ENTER;
    MPIDIG_ACCESS_EPOCH_CHECK(win, MPIDIG_EPOTYPE_LOCK_ALL, mpi_errno, return mpi_errno);
    MPIR_Assert(sync->lockall.allLocked == win->comm_ptr->local_size);
    MPIDI_am_keep_error(win, MPIDI_am_complete_native_all(win, MPIDI_AM_REMOTE));

    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock);
    MPIDIU_PROGRESS_DO_WHILE(!MPIDIG_win_check_all_targets_local_completed(win) ||
                             !MPIDIG_win_check_all_targets_remote_completed(win), vci);

    if (sync->assert_mode & MPI_MODE_NOCHECK)
        sync->lockall.allLocked = 0;
    else
        mpi_errno = MPIDI_am_give_locks_back(win, vci);
    MPIR_ERR_CHECK(mpi_errno);
    if (MPIR_CVAR_CH4_RMA_MEM_EFFICIENT)        /* else MPI_Win_free frees them */
        MPIDIG_win_target_cleanall(win);
    sync->access_epoch_type = MPIDIG_EPOTYPE_NONE;
    sync->assert_mode = 0;

  fn_fail:
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    MPIR_FUNC_EXIT;
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_win_sync(MPIR_Win * win)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDIG_EPOCH_CHECK_PASSIVE(win, mpi_errno, goto fn_fail);
    MPL_atomic_read_write_barrier();
  fn_fail:
    return mpi_errno;
}

/* In MPICH's complete, unlock and fence, which follow in mpidig_win.h; am_win_calls_end.h, behind them,
 * gives the names back. */
#define MPIDI_NM_rma_win_cmpl_hook(win_) \
    MPIDI_am_keep_error(win_, MPIDI_NM_rma_win_cmpl_hook(win_))
#define MPIDI_NM_rma_target_cmpl_hook(rank_, win_) \
    MPIDI_am_keep_error(win_, MPIDI_NM_rma_target_cmpl_hook(rank_, win_))
#ifndef MPIDI_CH4_DIRECT_NETMOD
#define MPIDI_SHM_rma_win_cmpl_hook(win_) \
    MPIDI_am_keep_error(win_, MPIDI_SHM_rma_win_cmpl_hook(win_))
#define MPIDI_SHM_rma_target_cmpl_hook(rank_, win_) \
    MPIDI_am_keep_error(win_, MPIDI_SHM_rma_target_cmpl_hook(rank_, win_))
#endif

#endif /* MPIDI_AM_WIN_CALLS_H_INCLUDED */
