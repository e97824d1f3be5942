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
#include "../vci_at.h"

/* Slow paths, in poll.c. */
void MPIDI_poll_missed(MPIDI_thread_t * self, int vci, int wait);
void MPIDI_poll_offer_processor(MPIDI_thread_t * self);
int MPIDI_poll_attend(MPIDI_thread_t * self, int vci, int wait);
void MPIDI_poll_end_backoff(MPIDI_thread_t * self, int vci);

/* Let in the threads that wait for the lock of a VCI, which the calling thread, of the library, would
 * take again at once. They may be without a processor, so not for long. */
void MPIDI_poll_give_way(int vci);

/* A turn in vain of a process below MPI_THREAD_MULTIPLE, the last of so many in a row: no thread of its
 * own waits for the processor, but those of other processes may. */
void MPIDI_poll_lone_turn(unsigned turns);

/* A nonblocking call has completed nothing. A program that tests in a loop must not keep the thread
 * that could complete its operation from running. */
MPL_STATIC_INLINE_PREFIX void MPIDI_poll_test_failed(MPIDI_thread_t * self)
{
    if (unlikely(--self->tests == 0))
        MPIDI_poll_offer_processor(self);
}

/* A poll of a process below MPI_THREAD_MULTIPLE: needs no lock. */
MPL_STATIC_INLINE_PREFIX int MPIDI_poll_lone(MPIDI_per_vci_t * p, int flag, int wait)
{
    unsigned done = MPIDI_thread_done();
    int mpi_errno = MPIDI_drive(p, flag, wait);

    if (!wait && done == MPIDI_thread_done())
        MPIDI_poll_test_failed(MPIDI_thread_self());
    return mpi_errno;
}

/* With the lock: drive the VCI, and take over the error of a poll that the holder made for another. */
MPL_STATIC_INLINE_PREFIX int MPIDI_poll_drive(MPIDI_per_vci_t * p, int flag, int wait)
{
    int mpi_errno = MPIDI_drive(p, flag, wait);

    if (likely(p->threads.poll_error == MPI_SUCCESS) || mpi_errno != MPI_SUCCESS)
        return mpi_errno;
    mpi_errno = p->threads.poll_error;
    p->threads.poll_error = MPI_SUCCESS;
    return mpi_errno;
}

/* With the lock, which the thread has entered: issue what is posted, drive the VCI, and leave it.
 * is_plain: as in MPIDI_poll. */
MPL_STATIC_INLINE_PREFIX int MPIDI_poll_entered_(MPIDI_thread_t * self, MPIDI_per_vci_t * p, int vci,
                                                 int flag, int wait, int is_plain)
{
    unsigned completed;
    int mpi_errno;

    if (unlikely(MPIDI_post_queue_may_have(&p->threads.posted)))
        MPIDI_posted_issue(&p->threads, MPIR_CVAR_CH4_MAX_COMBINE);
    completed = MPIDI_thread_local.completed;
    mpi_errno = MPIDI_poll_drive(p, flag, wait);
    if (unlikely(self->watch[vci].backoff_ns))
        MPIDI_poll_end_backoff(self, vci);
    self->watch[vci].taken = 0;
    if (is_plain)
        MPIDI_section_leave_vci(&p->lock, &p->threads, 0);
    else
        MPIDI_section_exit(&p->lock);
    if (!wait && completed == MPIDI_thread_local.completed)
        MPIDI_poll_test_failed(self);
    return mpi_errno;
}

/* MPIDI_poll where the model does not poll plainly. In poll.c. */
int MPIDI_poll_otherwise(MPIDI_thread_t * self, int vci, int flag, int wait);

/* Poll one VCI. wait: MPIDI_DRIVE_*; a call that waits has its own back-off.
 * flag: MPIDI_PROGRESS_*. The caller may be in sections, also of this VCI. Inlined is the plain poll,
 * with progress backoff or usc and the VCI's own lock: one test for all others. */
MPL_STATIC_INLINE_PREFIX int MPIDI_poll(int vci, int flag, int wait)
{
    MPIDI_per_vci_t *p = MPIDI_vci_at(vci);

    if (!MPIR_ThreadInfo.isThreaded)
        return MPIDI_poll_lone(p, flag, wait);

    MPIDI_thread_t *self = MPIDI_thread_self();
    if (unlikely(self->attention) && !MPIDI_poll_attend(self, vci, wait))
        return MPI_SUCCESS;
    if (unlikely(!MPIDI_model.polls_plainly))
        return MPIDI_poll_otherwise(self, vci, flag, wait);
    if (!MPIDI_section_try_(&p->lock, 0)) {
        MPIDI_poll_missed(self, vci, wait);
        return MPI_SUCCESS;
    }
    MPIDI_STATS(if (p->lock.count == 1) MPIDI_stats_progress_path(&p->threads));
    return MPIDI_poll_entered_(self, p, vci, flag, wait, 1);
}

#endif /* MPIDI_POLL_H_INCLUDED */
