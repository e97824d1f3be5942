/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_POLL_H_INCLUDED
#define CH4_POLL_H_INCLUDED

/* Nonblocking progress (ICS'19 section 3.5): a thread that drives a VCI tries its lock and goes
 * away if somebody else is driving, since that one completes our operations too. Who has the lock
 * need not be driving, though: threads that probe in a loop can keep it from all who try, and with a
 * FIFO lock they do. So a thread that finds the lock taken time after time, and nobody driving in
 * between, leaves word, and the holder drives the VCI once before it releases the lock. No thread
 * waits for the lock of a VCI in order to drive it: while it did, it would drive no other, and if
 * the holder waits for a peer whose threads do the same, both would wait forever. One acquisition
 * serves netmod and shared memory. Included by ch4_progress.h; slow paths in ch4_poll.c. */

#include "ch4_model.h"

/* Bits set in MPICH's count of polls (all VCIs are polled when its low 8 bits are zero), so that a
 * thread that yields, or waits inside MPI, looks at the other VCIs every 8 polls: 256 of its turns
 * are too long. */
#define MPIDI_TSM_SWEEP_BITS 0xf8

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "ch4_usc.h"

void MPIDI_tsm_skip_more(MPIDI_tsm_thread_t * self, int vci);
void MPIDI_tsm_test_yield(MPIDI_tsm_thread_t * self);
void MPIDI_tsm_poll_missed(MPIDI_tsm_thread_t * self, int vci);
void MPIDI_tsm_let_receivers_run(MPIDI_tsm_thread_t * self);

/* While shared memory brings something, the netmod has every so many turns; when it has brought
 * nothing for as many, the netmod has each. */
#define MPIDI_TSM_NM_TURN 8

#define MPIDI_TSM_PROGRESS_COUNT(vci_) \
    MPL_atomic_relaxed_load_int(&MPIDI_VCI(vci_).progress_count)

/* Messages of active messages (those from shared memory) that came before their receives. */
#define MPIDI_TSM_UNEXPECTED(vci_) MPIDI_global.per_vci[vci_].unexp_table.seq

/* A netmod that matches by itself tells only how much it has handled: what has completed nothing is
 * taken to be an unexpected message. Only differences count, as int: they may be negative, and the
 * counters wrap around. */
#define MPIDI_TSM_NM_EARLY(vci_) \
    (MPIDI_VCI(vci_).workq.nm_events - (unsigned) MPIDI_TSM_PROGRESS_COUNT(vci_))

/* Unexpected messages that a thread takes in before it offers its processor to the threads that they
 * are for. See MPIDI_tsm_let_receivers_run. */
#define MPIDI_TSM_UNEXPECTED_TURN 4

/* Messages that one poll takes from shared memory while each of them completes something or is an
 * unexpected one. MPICH's shared memory takes one a call, so that a lock pair and a look at all that
 * is waited for would come with each message. */
#define MPIDI_TSM_SHM_BATCH 8

#ifndef MPIDI_CH4_DIRECT_NETMOD
/* VCI lock held. 1 in *productive if a message came. */
MPL_STATIC_INLINE_PREFIX int MPIDI_tsm_poll_shm(int vci, int *productive)
{
    int mpi_errno, before;
    uint64_t unexpected;
    int n = 0;

    do {
        before = MPIDI_TSM_PROGRESS_COUNT(vci);
        unexpected = MPIDI_TSM_UNEXPECTED(vci);
        mpi_errno = MPIDI_SHM_progress(vci, 0);
    } while ((before != MPIDI_TSM_PROGRESS_COUNT(vci) || unexpected != MPIDI_TSM_UNEXPECTED(vci)) &&
             ++n < MPIDI_TSM_SHM_BATCH && mpi_errno == MPI_SUCCESS);
    *productive = n > 0;
    return mpi_errno;
}
#endif

/* Looking into shared memory is much cheaper than asking a netmod (ten times, with libfabric over
 * TCP), which would slow a stream of messages down to the speed of its polls. VCI lock held. */
MPL_STATIC_INLINE_PREFIX int MPIDI_tsm_poll_locked(int vci, int flag)
{
    MPIDU_workq_t *w = &MPIDI_VCI(vci).workq;
    int mpi_errno = MPI_SUCCESS;

    MPL_atomic_relaxed_store_int(&w->polls,
                                 (int) (1u + (unsigned) MPL_atomic_relaxed_load_int(&w->polls)));
    MPL_atomic_relaxed_store_int(&w->poll_wanted, 0);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (flag & MPIDI_PROGRESS_SHM) {
        int productive;
        mpi_errno = MPIDI_tsm_poll_shm(vci, &productive);
        if (productive)
            w->shm_quiet = 0;
        if (mpi_errno != MPI_SUCCESS ||
            (++w->shm_quiet <= MPIDI_TSM_NM_TURN && ++w->nm_skipped < MPIDI_TSM_NM_TURN))
            return mpi_errno;
    }
#endif
    if (flag & MPIDI_PROGRESS_NM) {
        mpi_errno = MPIDI_NM_progress(vci, 0);
        w->nm_skipped = 0;
    }
    return mpi_errno;
}

/* Drive one VCI if nobody else does. wait: the caller is in a blocking call and backs off by
 * itself; otherwise a busy lock makes the thread's next nonblocking calls keep away from it. */
MPL_STATIC_INLINE_PREFIX int MPIDI_tsm_poll(int vci, int flag, int wait)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self();
    int mpi_errno = MPI_SUCCESS;

    if (!MPIR_ThreadInfo.isThreaded) {
        if (unlikely(MPIDU_vci_cs_has_work(m)))
            MPIDI_tsm_drain_all(m->workq);
        return MPIDI_tsm_poll_locked(vci, flag);
    }
    if (!wait && unlikely(self && self->watch[vci].skip)) {
        self->watch[vci].skip--;
        return MPI_SUCCESS;
    }
    if (unlikely(self && self->unexpected >= MPIDI_TSM_UNEXPECTED_TURN))
        MPIDI_tsm_let_receivers_run(self);
    if (!MPIDU_vci_cs_tryenter(m)) {
        MPIDI_tsm_poll_missed(self, vci);
        if (!wait && self)
            MPIDI_tsm_skip_more(self, vci);
        return MPI_SUCCESS;
    }
    int count = MPIDI_TSM_PROGRESS_COUNT(vci);
    if (unlikely(MPIDU_vci_cs_has_work(m)))
        MPIDI_tsm_drain(m->workq);
    uint64_t shm_before = MPIDI_TSM_UNEXPECTED(vci);
    unsigned nm_before = MPIDI_TSM_NM_EARLY(vci);
    mpi_errno = MPIDI_tsm_poll_locked(vci, flag);
    if (unlikely(m->workq->poll_error && mpi_errno == MPI_SUCCESS)) {
        mpi_errno = m->workq->poll_error;
        m->workq->poll_error = MPI_SUCCESS;
    }
    int productive = count != MPIDI_TSM_PROGRESS_COUNT(vci);
    int early_shm = (int) (MPIDI_TSM_UNEXPECTED(vci) - shm_before);
    int early_nm = (int) (MPIDI_TSM_NM_EARLY(vci) - nm_before);
    MPIDU_vci_cs_exit(m);
    if (self) {
        self->watch[vci].skip_max = 0;
        self->unexpected += early_shm + MPL_MAX(early_nm, 0);
        if (productive)
            self->idle = 0;
        else if (!wait)
            MPIDI_tsm_test_yield(self);
    }
    return mpi_errno;
}

/* Around the loop of a call that waits for all, or any, of count requests. */
MPL_STATIC_INLINE_PREFIX void MPIDI_tsm_wait_begin(MPID_Progress_state * state, int any, int count,
                                                   MPIR_Request ** reqs)
{
    state->tsm.any = any;
    state->tsm.count = count;
    state->tsm.reqs = reqs;
    state->tsm.serving = 0;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_tsm_wait_end(MPID_Progress_state * state)
{
    if (unlikely(state->tsm.serving))
        MPIDI_tsm_usc_leave(state->vci[0]);
}

#else
#define MPIDI_tsm_wait_begin(state_, any_, count_, reqs_) do { } while (0)
#define MPIDI_tsm_wait_end(state_) do { } while (0)
#define MPIDI_tsm_wait(state_) do { } while (0)
#endif

#endif /* CH4_POLL_H_INCLUDED */
