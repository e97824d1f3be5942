/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_SECTION_H_INCLUDED
#define MPIDI_SECTION_H_INCLUDED

/* The critical section as MPICH's code uses it: MPID_THREAD_CS_{ENTER,EXIT,YIELD}(VCI, mutex), and a
 * try form. It is the raw lock (vci_lock.h) plus the work at entry and exit of a VCI. Included by
 * thread_sections.h, so that it comes before the rest of the device; the slow paths are in section.c.
 *
 * ENTER blocks; the try form never waits. EXIT waits for no lock, but may drive the VCI. Any thread
 * may call them. They do nothing in a program with one thread. The invariants are at the end of this
 * file. */

#include "vci_lock.h"
#include "../vci.h"

/* Orders the release of the mutex's own lock before the later load of the queue, against a thread that
 * pushes and then tries the lock. Another lock is released with its own fence. */
#if MPIDI_VCI_LOCK_ORDERS(MPICH_THREAD_LOCK)
#define MPIDI_SECTION_FENCE() atomic_signal_fence(memory_order_seq_cst)
#else
#define MPIDI_SECTION_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

/* Orders a post before the try of the lock that follows it, against a thread that releases the lock and
 * then looks at the queue. On x86 the read-modify-write with which an item enters the queue does. */
#if defined(__x86_64__) || defined(__i386__)
#define MPIDI_SECTION_POST_FENCE() atomic_signal_fence(memory_order_seq_cst)
#else
#define MPIDI_SECTION_POST_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

/* Slow paths. */
void MPIDI_section_poll_for_others(MPIDU_Thread_mutex_t * m);
void MPIDI_section_help(MPIDU_Thread_mutex_t * m);
void MPIDI_section_enter_first(MPIDU_Thread_mutex_t * m, int low);
void MPIDI_section_exit_last(MPIDU_Thread_mutex_t * m);
void MPIDI_section_wake(void);
void MPIDI_section_offer(void);
void MPIDI_section_pause(void);
void MPIDI_section_rest(void);
void MPIDI_section_yield_or_nap(unsigned turns);

/* 0 for a mutex that is not a VCI's. */
MPL_STATIC_INLINE_PREFIX int MPIDI_section_has_posted(MPIDI_vci_t * vci)
{
    return vci && !MPIDI_post_queue_is_empty(&vci->posted);
}

/* Inlined for a holder that enters again, which in the models that issue operations for others is
 * each section inside an operation. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX void MPIDI_section_enter(MPIDU_Thread_mutex_t * m, int recursive, int low)
{
    if (MPIDI_vci_lock_is_mine(m)) {
#ifdef MPICH_DEBUG_MUTEXNESTING
        MPIR_Assert(recursive || m->vci);
#endif
        m->count++;
    } else {
        MPIDI_section_enter_first(m, low);
    }
}

/* Enter, unless the thread is in the section already, as is most likely: then one level is enough for a
 * caller that is not entered again. Returns 1 if it has to exit. */
MPL_STATIC_INLINE_PREFIX int MPIDI_section_enter_once(MPIDU_Thread_mutex_t * m)
{
    if (likely(MPIDI_vci_lock_owner(m) == MPIDI_VCI_LOCK_SELF()))
        return 0;
    MPIDI_section_enter_first(m, 0);
    return 1;
}

/* Try the lock. Returns 1 if we have it now or had it already, 0 if another thread has it. Issues
 * nothing. is_other, here and below: the VCI has another lock than that of its mutex. */
MPL_STATIC_INLINE_PREFIX int MPIDI_section_try_(MPIDU_Thread_mutex_t * m, int is_other)
{
    if (MPIDI_vci_lock_is_mine(m)) {
        m->count++;
        return 1;
    }
    return MPIDI_vci_lock_try(m, is_other);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_section_try(MPIDU_Thread_mutex_t * m)
{
    return MPIDI_section_try_(m, MPIDI_MODEL_LOCK != MPIDI_LOCK_OWN);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_section_wake_after_(void)
{
    if (unlikely(MPIDI_thread_local.to_wake && !MPIDI_thread_holds_vci()))
        MPIDI_section_wake();
}

/* Release the lock, wake threads, and return the depth. Posted operations stay. */
MPL_STATIC_INLINE_PREFIX int MPIDI_section_release(MPIDU_Thread_mutex_t * m)
{
    int depth = MPIDI_vci_lock_leave(m);

    MPIDI_section_wake_after_();
    tsm_slice_end();
    return depth;
}

/* The last exit of a VCI, whose count the caller has just brought to 0. Not with csync. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX void MPIDI_section_leave_last_(MPIDU_Thread_mutex_t * m, MPIDI_vci_t * vci,
                                                        int is_other)
{
    if (unlikely(tsm_load(&vci->poll_wanted, TSM_RELAXED)))
        MPIDI_section_poll_for_others(m);
    MPIDI_vci_lock_disown_(m, 1);
    MPIDI_vci_lock_free_(m, is_other);
    MPIDI_section_wake_after_();
    MPIDI_SECTION_FENCE();
    if (unlikely(MPIDI_post_queue_may_have(&vci->posted)))
        MPIDI_section_help(m);
    tsm_slice_end();            /* last: it may yield, which would delay wakes and posted operations */
}

/* Leave a VCI: MPIDI_section_exit, inlined. Not with csync. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX void MPIDI_section_leave_vci(MPIDU_Thread_mutex_t * m, MPIDI_vci_t * vci,
                                                      int is_other)
{
    if (likely(--m->count == 0))
        MPIDI_section_leave_last_(m, vci, is_other);
}

__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX void MPIDI_section_exit(MPIDU_Thread_mutex_t * m)
{
    if (unlikely(--m->count == 0))
        MPIDI_section_exit_last(m);
}

/* Let other threads in, whatever the depth of our own entries, and return to the same depth. Not for
 * code that runs while posted operations are issued: later ones would lose their order. */
MPL_STATIC_INLINE_PREFIX int MPIDI_section_suspend(MPIDU_Thread_mutex_t * m)
{
    MPIR_Assert(MPIDI_vci_lock_is_mine(m) && !(m->vci && ((MPIDI_vci_t *) m->vci)->draining));
    return MPIDI_section_release(m);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_section_resume(MPIDU_Thread_mutex_t * m, int depth, int low)
{
    MPIDI_section_enter(m, 0, low);
    m->count = depth;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_section_yield(MPIDU_Thread_mutex_t * m)
{
    int depth = MPIDI_section_suspend(m);

    MPIDI_section_pause();
    MPIDI_section_resume(m, depth, 1);
}

#define MPIDUI_SECTION(call_) \
    do { \
        if (MPIR_ThreadInfo.isThreaded) \
            call_; \
    } while (0)
#define MPIDUI_THREAD_CS_ENTER_VCI(mutex) MPIDUI_SECTION(MPIDI_section_enter(&(mutex), 0, 0))
#define MPIDUI_THREAD_CS_ENTER_REC(mutex) MPIDUI_SECTION(MPIDI_section_enter(&(mutex), 1, 0))
#define MPIDUI_THREAD_CS_EXIT_VCI(mutex) MPIDUI_SECTION(MPIDI_section_exit(&(mutex)))
#define MPIDUI_THREAD_CS_YIELD_VCI(mutex) MPIDUI_SECTION(MPIDI_section_yield(&(mutex)))
/* Only mpir_request.h asks (--enable-g=mutex), and a request needs no VCI (request_cache.h). */
#define MPIDUI_THREAD_ASSERT_IN_CS_VCI(mutex)

/* Loops that wait inside MPI yield the global section to let other threads in. There is no global
 * section here, but the loop must not keep a processor that other threads need. A thread in a section
 * goes on at once: if it slept with the lock, the threads that it yields to would find the lock taken
 * each time, and starve. */
#define MPIDUI_THREAD_CS_YIELD_GLOBAL(mutex) \
    MPIDUI_SECTION(if (!MPIDI_thread_local.held) MPIDI_section_pause())

/* Invariants
 *  - A thread that takes the lock of a VCI first issues what is posted there (posted.h), so an
 *    operation that it posted earlier is issued before all that it does next (ICS'19 section 3.4;
 *    here for every section, so RMA, probe, cancel and progress need no code for it).
 *  - With csync no operation is posted. The holder issues the operations that wait for the lock, after
 *    it has entered and before it leaves, at most MPIR_CVAR_CH4_MAX_COMBINE in all (issue/csync.h).
 *  - The holder of a VCI may enter it again. Any other mutex is not recursive, except where MPICH
 *    enters it so (ENTER_REC).
 *  - Before the release, the holder drives the VCI once if a thread asks for it (progress/poll.h).
 *  - After the release, and when the thread holds no VCI any more, it wakes the threads whose
 *    requests it has completed (complete.h). No other mutex delays a wake. A loop that keeps a VCI
 *    while it waits for a peer wakes them itself (MPIDI_progress_netmods_locked).
 *  - After the release the thread looks at the queue once more. A thread that posts tries the lock
 *    afterwards. One of the two sees the other (MPIDI_SECTION_FENCE, MPIDI_SECTION_POST_FENCE), so no
 *    posted operation waits for the next MPI call of its thread while another thread leaves. This also
 *    holds for a thread that entered only to issue for others (tsm_second_look.h), up to
 *    MPIR_CVAR_CH4_MAX_COMBINE operations and turns in vain a call. test/model/clients/client_look.h
 *    has the same steps.
 *    The exception is MPIDI_section_suspend: it releases and does not look. Its caller comes back with
 *    MPIDI_section_resume, which issues what is posted, after a look at other VCIs, a pause or a nap
 *    (progress/poll.c); but MPIDI_progress_await_counter suspends until its request is complete, and
 *    drives VCIs meanwhile.
 *  - A thread asks for a longer time slice (tsm_slice.h) from the first lock of any mutex that it takes
 *    until it has released the last one and done the above. */

#endif /* MPIDI_SECTION_H_INCLUDED */
