/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "ch4_win.h"
#include "csp.h"
#include "csp_grant.h"
#include "csp_inner.h"

/* The synchronization of offloaded windows. The window itself sees the calls, too: it keeps and checks
 * the epochs, completes what is not far, and synchronizes the users. Its own locks would need the
 * target, so it is told that none is needed (MPI_MODE_NOCHECK), and the ghosts' locks take their place.
 * What is far completes in the inner window, for a target at least all that went to its ghost. */

static csp_target_t *target_of(MPIR_Win * win, int rank)
{
    return &MPIDI_WIN(win, threads).casper->target[rank];
}

static void note(int *mpi_errno, int error)
{
    if (*mpi_errno == MPI_SUCCESS)
        *mpi_errno = error;
}

/* ---- locks ---- */

/* Release a lock if one is held. What was not sent has no answer to wait for. */
static int release_one(csp_target_t * target)
{
    int is_held = target->lock_type != 0;       /* not after the release */
    int mpi_errno = is_held ? csp_grant_release(target) : MPI_SUCCESS;

    if (!is_held || mpi_errno)
        tsm_store(&target->is_answered, 1, TSM_RELAXED);
    return mpi_errno;
}

/* The call fails, so none of these may stay with us: a ghost grants each that it was asked for. What
 * was not granted cannot be released. */
static void give_back(MPIR_Win * win, int first, int n)
{
    for (int i = first; i < first + n; i++) {
        csp_target_t *target = target_of(win, i);
        if (csp_grant_await(target) == MPI_SUCCESS && release_one(target) == MPI_SUCCESS)
            csp_grant_await(target);
    }
}

/* Take the locks of n processes from `first` on, or none with MPI_MODE_NOCHECK. Ask all, then wait for
 * all. */
static int acquire(MPIR_Win * win, int first, int n, int type, int assert)
{
    int mpi_errno = MPI_SUCCESS, asked = 0;

    if (assert & MPI_MODE_NOCHECK)
        return MPI_SUCCESS;
    while (asked < n && mpi_errno == MPI_SUCCESS) {
        mpi_errno = csp_grant_ask(target_of(win, first + asked), type);
        asked += mpi_errno == MPI_SUCCESS;
    }
    for (int i = first; i < first + asked && mpi_errno == MPI_SUCCESS; i++)
        mpi_errno = csp_grant_await(target_of(win, i));
    if (mpi_errno)
        give_back(win, first, asked);
    return mpi_errno;
}

int csp_far_lock(int type, int rank, int assert, MPIR_Win * win, MPIDI_av_entry_t * av)
{
    int mpi_errno = MPIDI_NM_mpi_win_lock(type, rank, assert | MPI_MODE_NOCHECK, win, av);

    if (mpi_errno)
        return mpi_errno;
    mpi_errno = acquire(win, rank, 1, type, assert);
    if (mpi_errno)
        MPIDI_NM_mpi_win_unlock(rank, win, av);
    return mpi_errno;
}

int csp_far_lock_all(int assert, MPIR_Win * win)
{
    int mpi_errno = MPIDI_NM_mpi_win_lock_all(assert | MPI_MODE_NOCHECK, win);

    if (mpi_errno)
        return mpi_errno;
    mpi_errno = acquire(win, 0, win->comm_ptr->local_size, MPI_LOCK_SHARED, assert);
    if (mpi_errno)
        MPIDI_NM_mpi_win_unlock_all(win);
    return mpi_errno;
}

/* ---- the end of an epoch: all its parts end, also after an error, and the first error counts ---- */

/* Release the locks of n processes from `first` on: nothing where MPI_MODE_NOCHECK was given. Send all,
 * then wait for all. */
static int release(MPIR_Win * win, int first, int n)
{
    int mpi_errno = MPI_SUCCESS;

    for (int i = first; i < first + n; i++)
        note(&mpi_errno, release_one(target_of(win, i)));
    for (int i = first; i < first + n; i++)
        note(&mpi_errno, csp_grant_await(target_of(win, i)));
    return mpi_errno;
}

int csp_far_unlock(int rank, MPIR_Win * win, MPIDI_av_entry_t * av)
{
    int mpi_errno = MPIDI_NM_mpi_win_unlock(rank, win, av);

    if (mpi_errno)
        return mpi_errno;
    if (target_of(win, rank)->is_far)
        mpi_errno = MPID_Win_flush(target_of(win, rank)->ghost, csp_inner);
    note(&mpi_errno, release(win, rank, 1));
    return mpi_errno;
}

int csp_far_unlock_all(MPIR_Win * win)
{
    int mpi_errno = MPIDI_NM_mpi_win_unlock_all(win);

    if (mpi_errno)
        return mpi_errno;
    mpi_errno = MPID_Win_flush_all(csp_inner);
    note(&mpi_errno, release(win, 0, win->comm_ptr->local_size));
    return mpi_errno;
}

/* ---- completion ---- */

int csp_far_flush(int rank, MPIR_Win * win, MPIDI_av_entry_t * av)
{
    int mpi_errno = MPIDI_NM_mpi_win_flush(rank, win, av);

    if (mpi_errno == MPI_SUCCESS && target_of(win, rank)->is_far)
        mpi_errno = MPID_Win_flush(target_of(win, rank)->ghost, csp_inner);
    return mpi_errno;
}

int csp_far_flush_local(int rank, MPIR_Win * win, MPIDI_av_entry_t * av)
{
    int mpi_errno = MPIDI_NM_mpi_win_flush_local(rank, win, av);

    if (mpi_errno == MPI_SUCCESS && target_of(win, rank)->is_far)
        mpi_errno = MPID_Win_flush_local(target_of(win, rank)->ghost, csp_inner);
    return mpi_errno;
}

int csp_far_flush_all(MPIR_Win * win)
{
    int mpi_errno = MPIDI_NM_mpi_win_flush_all(win);

    return mpi_errno ? mpi_errno : MPID_Win_flush_all(csp_inner);
}

int csp_far_flush_local_all(MPIR_Win * win)
{
    int mpi_errno = MPIDI_NM_mpi_win_flush_local_all(win);

    return mpi_errno ? mpi_errno : MPID_Win_flush_local_all(csp_inner);
}

/* ---- active targets: what is far is complete before the targets hear of the end ---- */

int csp_far_fence(int assert, MPIR_Win * win)
{
    int mpi_errno = MPID_Win_flush_all(csp_inner);

    note(&mpi_errno, MPIDI_NM_mpi_win_fence(assert, win));
    return mpi_errno;
}

int csp_far_complete(MPIR_Win * win)
{
    int mpi_errno = MPID_Win_flush_all(csp_inner);

    note(&mpi_errno, MPIDI_NM_mpi_win_complete(win));
    return mpi_errno;
}
