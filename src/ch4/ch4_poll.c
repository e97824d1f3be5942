/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

/* Attempts at the lock of a VCI, in which nobody drove it, before a thread asks the holder to. */
#define MISSES_BEFORE_ASKING 32

/* The caller found the lock of the VCI taken.
 *
 * poll_wanted is relaxed, as it carries nothing. Left after the last holder has looked, it finds the
 * lock free: the caller's next attempt drives the VCI itself. Wiped out by a poll that had begun
 * before: that poll is one, and if it was in vain, 32 more misses ask again. */
void MPIDI_tsm_poll_missed(MPIDI_tsm_thread_t * self, int vci)
{
    MPIDU_workq_t *w = &MPIDI_VCI(vci).workq;
    int polls = MPL_atomic_relaxed_load_int(&w->polls);

    if (self && self->watch[vci].polls != polls) {
        self->watch[vci].polls = polls;
        self->watch[vci].misses = 0;
    }
    if (!self || ++self->watch[vci].misses >= MISSES_BEFORE_ASKING) {
        MPL_atomic_relaxed_store_int(&w->poll_wanted, 1);
        if (self)
            self->watch[vci].misses = 0;
    }
}

/* The caller is about to leave the VCI, and another thread wants it driven. Left to the next one to
 * leave if the caller holds anything else, which a handler might want, or is in the middle of
 * something. Counts as combining, so that a handler for which the netmod has no room waits for no
 * lock and runs no hook: the caller wants to leave. The first error is kept for the next thread that
 * polls, since leaving has nobody to tell. */
void MPIDI_tsm_poll_for_others(MPIDU_Thread_mutex_t * m)
{
    MPIDU_workq_t *w = m->workq;
    int mpi_errno;

    if (m->count > 1 || MPIDI_tsm_held > 1 || w->draining)
        return;
    MPIDI_tsm_combining++;
    mpi_errno = MPIDI_tsm_poll_locked(w->vci, MPIDI_PROGRESS_ALL);
    MPIDI_tsm_combining--;
    if (w->poll_error == MPI_SUCCESS)
        w->poll_error = mpi_errno;
}

/* By a combiner: drive all VCIs; those it holds, in the middle of operations, the netmod alone. What
 * is posted to another one meanwhile stays for whoever enters it next: no drain inside a drain. */
static int drive_as_combiner(void)
{
    int mpi_errno = MPI_SUCCESS;

    for (int i = 0; i < MPIDI_global.n_vcis && mpi_errno == MPI_SUCCESS; i++) {
        MPIDU_Thread_mutex_t *m = &MPIDI_VCI(i).lock;
        if (MPIDU_vci_cs_is_mine(m)) {
            mpi_errno = MPIDI_NM_progress(i, 0);
        } else if (MPIDU_vci_cs_tryenter(m)) {
            mpi_errno = MPIDI_tsm_poll_locked(i, MPIDI_PROGRESS_ALL);
            MPIDU_vci_cs_leave(m);
        }
    }
    return mpi_errno;
}

/* The netmod has no room (OFI's EAGAIN): make some. Called in the middle of an operation with the
 * VCI lock held. A thread that combines, on this VCI or on one that it came here from, keeps all its
 * locks, because an operation behind this one may be of the same thread to the same peer, never
 * waits for a lock, because the holder may wait for us, and runs no progress hook, which might do
 * either. Everybody else lets other threads in. Other VCIs are driven in either case: the peer may
 * make room here only when it gets some there. */
int MPIDI_tsm_retry_progress(int vci)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;
    int mpi_errno;

    if (!MPIR_ThreadInfo.isThreaded)
        return MPID_Progress_test(NULL);
    if (MPIDI_tsm_combining) {
        mpi_errno = drive_as_combiner();
        MPIDI_tsm_pause();
    } else {
        int depth = MPIDU_vci_cs_suspend(m);
        mpi_errno = MPID_Progress_test(NULL);
        MPIDI_tsm_pause();
        MPIDU_vci_cs_resume(m, depth);
    }
    return mpi_errno;
}

#else

int MPIDI_tsm_retry_progress(int vci)
{
    return MPID_Progress_test(NULL);
}

#endif

/* One turn of a loop that waits inside MPI, with the lock of the VCI held, for something that the
 * peer has a part in: drive the VCI, now and then all of them, since the peer may be in such a loop
 * itself for another one, and let other threads in. What the lock guards may have changed when this
 * returns. */
int MPIDI_tsm_wait_turn(int vci)
{
    int mpi_errno;

    global_vci_poll_count |= MPIDI_TSM_SWEEP_BITS;
    mpi_errno = MPIDI_progress_test_vci(vci);
    MPID_THREAD_CS_YIELD(VCI, MPIDI_VCI(vci).lock);
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}
