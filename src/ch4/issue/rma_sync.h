/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_RMA_SYNC_H_INCLUDED
#define MPIDI_ISSUE_RMA_SYNC_H_INCLUDED

#include "../progress/watchdog.h"

/* The calls that complete one-sided operations or end an epoch, and so every call after which the
 * window may be freed, first issue what is posted to the window; that takes the place of references.
 * These calls also return the first error of an operation that was posted without a request, because
 * the operation's own call has returned. */

/* A window begins. If it fails before the netmod has made its part, that finds nothing to free. */
MPL_STATIC_INLINE_PREFIX void MPIDI_rma_win_init(MPIR_Win * win)
{
    MPIR_Object_set_ref(win, 1);        /* until it is freed; see tables/err_return.h */
    memset(&win->dev.netmod, 0, sizeof(win->dev.netmod));
    tsm_store(&MPIDI_WIN(win, threads).error, MPI_SUCCESS, TSM_RELAXED);
#ifdef ENABLE_CASPER
    MPIDI_WIN(win, threads).casper = NULL;
#endif
}

/* Issue what the calling thread, and whatever happened before the call, has posted to the window. Each
 * such operation is still in the queue, and entering the VCI issues it, or another thread has issued it
 * (or its error) before it released the lock, which this thread then acquires. A count of them in the
 * window would save the lock here but be one more shared line in every post. No VCI held; blocking. */
MPL_STATIC_INLINE_PREFIX void MPIDI_rma_issue_posted(MPIR_Win * win)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    if (MPIDI_MODEL_ISSUE == MPIDI_ISSUE_LOCKQ ||
        MPIDI_MODEL_ISSUE == MPIDI_ISSUE_LOCKQ_CHOSEN || MPIDI_MODEL_ISSUE == MPIDI_ISSUE_OFFLOAD ||
        MPIDI_MODEL_ISSUE == MPIDI_ISSUE_MP_SERVER) {
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(MPIDI_WIN(win, am_vci)).lock);
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(MPIDI_WIN(win, am_vci)).lock);
    }
#endif
}

/* Returns mpi_errno, or, if that is no error, the error of a posted operation. Relaxed: the lock has
 * ordered it after the store (see above). */
MPL_STATIC_INLINE_PREFIX int MPIDI_rma_error(MPIR_Win * win, int mpi_errno)
{
    if (likely(tsm_load(&MPIDI_WIN(win, threads).error, TSM_RELAXED) == MPI_SUCCESS) ||
        mpi_errno != MPI_SUCCESS)
        return mpi_errno;
    return tsm_swap(&MPIDI_WIN(win, threads).error, MPI_SUCCESS, TSM_RELAXED);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_rma_sync_begin(MPIR_Win * win, const char *call)
{
    MPIDI_rma_issue_posted(win);
    MPIDI_watchdog_enter(call);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_rma_sync_end(MPIR_Win * win, int mpi_errno)
{
    MPIDI_watchdog_leave();
    return MPIDI_rma_error(win, mpi_errno);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_rma_waited(int mpi_errno)
{
    MPIDI_watchdog_leave();
    return mpi_errno;
}

/* Whether MPICH's MPI_Win_unlock may be called: while another target is locked it ends the process, if
 * this one is not. */
MPL_STATIC_INLINE_PREFIX int MPIDI_rma_may_unlock(int rank, MPIR_Win * win)
{
    MPIDIG_win_target_t *target;

    if (MPIDIG_WIN(win, sync).access_epoch_type != MPIDIG_EPOTYPE_LOCK)
        return 1;
    target = MPIDIG_win_target_find(win, rank);
    return target && target->sync.lock.locked;
}

static inline int MPIDI_rma_not_locked(const char *function, int line)
{
    return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, function, line, MPI_ERR_RMA_SYNC,
                                "**rmasync", NULL);
}

/* A call of MPICH that completes operations on a window or ends an epoch, with what belongs around it,
 * in a function that is called as the MPI function, with MPID in place of MPI. */
#define MPIDI_RMA_SYNC(win_, call_) \
    (MPIDI_rma_sync_begin(win_, __func__), MPIDI_rma_sync_end(win_, call_))

/* A call that may only wait. */
#define MPIDI_RMA_WAITS(call_) \
    (MPIDI_watchdog_enter(__func__), MPIDI_rma_waited(call_))

#endif /* MPIDI_ISSUE_RMA_SYNC_H_INCLUDED */
