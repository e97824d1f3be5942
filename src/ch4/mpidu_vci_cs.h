/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDU_VCI_CS_H_INCLUDED
#define MPIDU_VCI_CS_H_INCLUDED

/* The VCI critical section: MPID_THREAD_CS_{ENTER,EXIT,YIELD}(VCI, ..) and a try form.
 *
 * Invariants
 *  - Whoever acquires the lock of a VCI drains its queue before anything else, so an operation
 *    that a thread posted earlier is issued before all that the thread does next (ICS'19 section
 *    3.4; here for every critical section: RMA, probe, cancel and progress need no code of their
 *    own).
 *  - A section of a VCI lock may be entered again by its holder: the issue path holds the lock
 *    around the netmod's own section. Any other lock stays non-recursive.
 *  - owner is written by the holder only; owner == self can be read without the lock, because
 *    nobody else writes our identity there.
 *  - After the release the queue is looked at once more. A thread that posts tries the lock again
 *    afterwards, so one of the two sees the other; no posted operation waits for the next MPI call
 *    of its thread when another thread is leaving. (On processors where an unlock does not order a
 *    later load this is likely, not certain. MPI allows the operation to wait for its completion
 *    call.)
 *  - Before the release a VCI is driven once if a thread asks for it; see ch4_poll.h.
 *
 * ENTER blocks; TRYENTER never waits; EXIT waits for no lock, but may make progress, and then for
 * room in the netmod. All are called by any thread, and only if the program has several
 * (MPIR_ThreadInfo.isThreaded, tested in the macros). */

void MPIDI_tsm_drain_all(MPIDU_workq_t * workq);
int MPIDI_tsm_drain(MPIDU_workq_t * workq);
void MPIDI_tsm_help(MPIDU_Thread_mutex_t * m);
void MPIDI_tsm_poll_for_others(MPIDU_Thread_mutex_t * m);
void MPIDI_tsm_pause(void);
void MPIDI_tsm_usc_wake(void);

/* Critical sections that the calling thread is in; see MPIDUI_THREAD_CS_YIELD_GLOBAL below. */
extern __thread int MPIDI_tsm_held __attribute__((tls_model("initial-exec")));

/* Drains that the calling thread is in; see ch4_issue.c. */
extern __thread int MPIDI_tsm_combining __attribute__((tls_model("initial-exec")));

/* Threads to wake when it is in none; see ch4_usc.h. */
struct MPIDI_tsm_thread;
extern __thread struct MPIDI_tsm_thread *MPIDI_tsm_to_wake
    __attribute__((tls_model("initial-exec")));

MPL_STATIC_INLINE_PREFIX int MPIDU_vci_cs_is_mine(const MPIDU_Thread_mutex_t * m)
{
    return __atomic_load_n(&m->owner, __ATOMIC_RELAXED) == pthread_self();
}

MPL_STATIC_INLINE_PREFIX void MPIDU_vci_cs_own(MPIDU_Thread_mutex_t * m)
{
    MPIR_Assert(m->count == 0);
    __atomic_store_n(&m->owner, pthread_self(), __ATOMIC_RELAXED);
    m->count = 1;
    MPIDI_tsm_held++;
}

MPL_STATIC_INLINE_PREFIX int MPIDU_vci_cs_has_work(const MPIDU_Thread_mutex_t * m)
{
    return m->workq && !tsm_swp_is_empty(&m->workq->queue);
}

MPL_STATIC_INLINE_PREFIX void MPIDU_vci_cs_enter(MPIDU_Thread_mutex_t * m, int recursive)
{
    if (MPIDU_vci_cs_is_mine(m)) {
        MPIR_Assert(recursive || m->workq);
        m->count++;
        return;
    }
    tsm_lock_acquire(&m->mutex);
    MPIDU_vci_cs_own(m);
    if (unlikely(MPIDU_vci_cs_has_work(m)))
        MPIDI_tsm_drain_all(m->workq);
}

/* 1 if the section was entered, not drained; 0 if another thread is in it. VCI locks only. */
MPL_STATIC_INLINE_PREFIX int MPIDU_vci_cs_tryenter(MPIDU_Thread_mutex_t * m)
{
    if (MPIDU_vci_cs_is_mine(m)) {
        m->count++;
        return 1;
    }
    if (!tsm_lock_try(&m->mutex))
        return 0;
    MPIDU_vci_cs_own(m);
    return 1;
}

/* Leave; 1 if that released the lock. */
MPL_STATIC_INLINE_PREFIX int MPIDU_vci_cs_leave(MPIDU_Thread_mutex_t * m)
{
    MPIR_Assert(m->count > 0);
    if (--m->count > 0)
        return 0;
    MPIDI_tsm_held--;
    __atomic_store_n(&m->owner, 0, __ATOMIC_RELAXED);
    tsm_lock_release(&m->mutex);
    if (unlikely(MPIDI_tsm_to_wake && !MPIDI_tsm_held))
        MPIDI_tsm_usc_wake();
    return 1;
}

MPL_STATIC_INLINE_PREFIX void MPIDU_vci_cs_exit(MPIDU_Thread_mutex_t * m)
{
    if (m->workq && unlikely(MPL_atomic_relaxed_load_int(&m->workq->poll_wanted)))
        MPIDI_tsm_poll_for_others(m);
    if (MPIDU_vci_cs_leave(m) && unlikely(MPIDU_vci_cs_has_work(m)))
        MPIDI_tsm_help(m);
}

/* Let others in, whatever the depth of our own entries, and come back to the same depth. Not for
 * code that runs inside a drain: the order of the operations behind would be lost. */
MPL_STATIC_INLINE_PREFIX int MPIDU_vci_cs_suspend(MPIDU_Thread_mutex_t * m)
{
    int depth = m->count;
    MPIR_Assert(MPIDU_vci_cs_is_mine(m) && !(m->workq && m->workq->draining));
    m->count = 1;
    MPIDU_vci_cs_leave(m);
    return depth;
}

MPL_STATIC_INLINE_PREFIX void MPIDU_vci_cs_resume(MPIDU_Thread_mutex_t * m, int depth)
{
    tsm_lock_acquire(&m->mutex);
    MPIDU_vci_cs_own(m);
    m->count = depth;
}

MPL_STATIC_INLINE_PREFIX void MPIDU_vci_cs_yield(MPIDU_Thread_mutex_t * m)
{
    int depth = MPIDU_vci_cs_suspend(m);
    MPIDI_tsm_pause();
    MPIDU_vci_cs_resume(m, depth);
}

#define MPIDUI_VCI_CS(call_) \
    do { \
        if (MPIR_ThreadInfo.isThreaded) \
            call_; \
    } while (0)
#define MPIDUI_THREAD_CS_ENTER_VCI(mutex) MPIDUI_VCI_CS(MPIDU_vci_cs_enter(&(mutex), 0))
#define MPIDUI_THREAD_CS_ENTER_REC_VCI(mutex) MPIDUI_VCI_CS(MPIDU_vci_cs_enter(&(mutex), 1))
#define MPIDUI_THREAD_CS_EXIT_VCI(mutex) MPIDUI_VCI_CS(MPIDU_vci_cs_exit(&(mutex)))
#define MPIDUI_THREAD_CS_YIELD_VCI(mutex) MPIDUI_VCI_CS(MPIDU_vci_cs_yield(&(mutex)))

/* Loops that wait inside MPI yield the global section so as not to shut others out. There is no
 * global section here, but the loop still must not burn the processor that others need. A thread
 * that holds a VCI goes on at once: if it slept with the lock, those that it makes room for would
 * find the lock taken each time, and starve. */
#define MPIDUI_THREAD_CS_YIELD_GLOBAL(mutex) \
    MPIDUI_VCI_CS(if (!MPIDI_tsm_held) MPIDI_tsm_pause())

#endif /* MPIDU_VCI_CS_H_INCLUDED */
