/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_POLL_H_INCLUDED
#define MPIDI_POLL_H_INCLUDED

/* One poll of one VCI by one thread. With backoff and usc a thread tries the lock and gives up if it
 * is taken, since the holder most likely drives the VCI for all. But threads that probe in a loop may
 * hold the lock at every try, and with a FIFO lock they do. So a thread that finds the lock taken time
 * after time, with no poll in between, sets `poll_wanted`, and the holder drives the VCI once before
 * it releases the lock. No thread waits for a lock in order to drive: meanwhile it would drive no
 * other VCI, and if the holder waited for a peer whose threads did the same, both would wait
 * forever.
 *
 * In a process with servers (served.h) a nonblocking call leaves the poll to them. */

#include "../drive.h"
#include "../posted.h"
#include "../section/section.h"
#include "../served.h"
#include "../transport/early.h"

/* Slow paths, in poll.c. */
void MPIDI_poll_missed(MPIDI_thread_t * self, int vci, int wait);
void MPIDI_poll_test_failed(MPIDI_thread_t * self);
int MPIDI_poll_is_backing_off(MPIDI_thread_watch_t * watch);

/* Let in the threads that wait for the lock of a VCI, which the calling thread, of the library, would
 * take again at once. They may be without a processor, so not for long. */
void MPIDI_poll_give_way(int vci);

/* Take the lock for a poll; 1 if it is ours. */
MPL_STATIC_INLINE_PREFIX int MPIDI_poll_enter(MPIDI_thread_t * self, int vci, int wait)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;

    if (MPIDI_model.progress == MPIDI_PROGRESS_BLOCKING_KIND) {
        MPIDI_section_enter(m, 1, 1);
        return 1;
    }
    if (!wait && unlikely(self->watch[vci].backoff_ns) &&
        MPIDI_poll_is_backing_off(&self->watch[vci]))
        return 0;
    if (!MPIDI_section_try(m)) {
        MPIDI_poll_missed(self, vci, wait);
        return 0;
    }
    MPIDI_STATS(if (m->count == 1) MPIDI_stats_progress_path(m->vci));
    if (unlikely(MPIDI_section_has_posted(m->vci)))
        MPIDI_posted_issue(m->vci, MPIR_CVAR_CH4_MAX_COMBINE);
    return 1;
}

/* Poll one VCI. wait: 1 in a call that waits, which has its own back-off; 0 in a nonblocking call.
 * flag: MPIDI_PROGRESS_*. The caller may be in sections, also of this VCI. */
MPL_STATIC_INLINE_PREFIX int MPIDI_poll(int vci, int flag, int wait)
{
    MPIDI_vci_t *v = &MPIDI_VCI(vci).threads;
    int mpi_errno;

    if (!MPIR_ThreadInfo.isThreaded)
        return MPIDI_drive(v, flag, wait);

    MPIDI_thread_t *self = MPIDI_thread_self();
    if (!wait && unlikely(MPIDI_served_here()) && !MPIDI_vci_lock_is_mine(&MPIDI_VCI(vci).lock)) {
        MPIDI_served_ring(vci);
        MPIDI_poll_test_failed(self);
        return MPIDI_served_take_error();
    }
    MPIDI_early_yield(self);
    if (!MPIDI_poll_enter(self, vci, wait))
        return MPI_SUCCESS;

    unsigned completed = MPIDI_thread_local.completed;
    uint64_t early = MPIDI_DRIVE_EARLY(v);
    mpi_errno = MPIDI_drive(v, flag, wait);
    if (unlikely(v->poll_error && mpi_errno == MPI_SUCCESS)) {
        mpi_errno = v->poll_error;
        v->poll_error = MPI_SUCCESS;
    }
    self->early += (int) (MPIDI_DRIVE_EARLY(v) - early);
    self->watch[vci].backoff_ns = 0;
    self->watch[vci].taken = 0;
    if (MPIDI_MODEL_ISSUE == MPIDI_ISSUE_CSYNC)
        MPIDI_section_exit(&MPIDI_VCI(vci).lock);
    else
        MPIDI_section_leave_vci(&MPIDI_VCI(vci).lock, v);
    if (!wait && completed == MPIDI_thread_local.completed)
        MPIDI_poll_test_failed(self);
    return mpi_errno;
}

#endif /* MPIDI_POLL_H_INCLUDED */
