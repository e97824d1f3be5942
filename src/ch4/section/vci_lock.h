/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_VCI_LOCK_H_INCLUDED
#define MPIDI_VCI_LOCK_H_INCLUDED

/* The raw critical section of a mutex: enter, try, leave. It calls only the lock and keeps the owner,
 * the depth and the thread's counts. section.h adds the work at entry and exit of a VCI. The lock is
 * the mutex's own, but a VCI may have another one in its place (MPIDI_MODEL_LOCK, vci.h): with the
 * model csync the combining lock, with which a thread also announces what the holder may do for it;
 * in the runtime library a lock that the user chose.
 *
 * `owner` is written by the holder only. A thread may compare it with itself without the lock,
 * because no other thread writes this thread's identity there.
 *
 * Only for programs with several threads (MPIR_ThreadInfo.isThreaded); the callers check. */

#include "../model.h"
#include "../stats/hooks.h"
#include "../thread.h"
#include "../vci.h"
#include "../watched.h"
#include "tsm/tsm_slice.h"

/* 1 if the release of a lock is ordered before later loads by itself: mutex, futex and adaptive release
 * with a read-modify-write, which x86 does not reorder with a later load; any other release may be a
 * plain store. kind: a number of locks.def. */
#if defined(__x86_64__) || defined(__i386__)
#define MPIDI_VCI_LOCK_ORDERS(kind_) \
    ((kind_) == TSM_LOCK_KIND_MUTEX || (kind_) == TSM_LOCK_KIND_FUTEX || \
     (kind_) == TSM_LOCK_KIND_ADAPTIVE)
#else
#define MPIDI_VCI_LOCK_ORDERS(kind_) 0
#endif

/* pthread_self(). In glibc on x86-64 that is the thread pointer, which is read without a call; a call
 * here would also make the caller save its registers twice in each section. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && __GNUC__ >= 11
#define MPIDI_VCI_LOCK_SELF() ((pthread_t) __builtin_thread_pointer())
#else
#define MPIDI_VCI_LOCK_SELF() pthread_self()
#endif

MPL_STATIC_INLINE_PREFIX pthread_t MPIDI_vci_lock_owner(const MPIDU_Thread_mutex_t * m)
{
    return __atomic_load_n(&m->owner, __ATOMIC_RELAXED);
}

/* Looks at the thread's own count first: the owner is in a line of the holder's. */
MPL_STATIC_INLINE_PREFIX int MPIDI_vci_lock_is_mine(const MPIDU_Thread_mutex_t * m)
{
    return MPIDI_thread_local.held && MPIDI_vci_lock_owner(m) == MPIDI_VCI_LOCK_SELF();
}

MPL_STATIC_INLINE_PREFIX void MPIDI_vci_lock_own_(MPIDU_Thread_mutex_t * m, int is_vci)
{
    __atomic_store_n(&m->owner, MPIDI_VCI_LOCK_SELF(), __ATOMIC_RELAXED);
    m->count = 1;
    MPIDI_thread_local.held += is_vci ? MPIDI_THREAD_VCI : MPIDI_THREAD_SECTION;
    MPIDI_STATS(if (is_vci) MPIDI_stats_acquired(m->vci, (uintptr_t) MPIDI_VCI_LOCK_SELF()));
    tsm_slice_begin();          /* the section ends it (section.h): work follows the release */
}

/* 1 if m is the lock of a VCI that has another lock in its place. */
MPL_STATIC_INLINE_PREFIX int MPIDI_vci_lock_is_other(const MPIDU_Thread_mutex_t * m)
{
    return MPIDI_MODEL_LOCK != MPIDI_LOCK_OWN && m->vci != NULL;
}

/* 1 if m is the lock of a VCI and the model is csync. */
MPL_STATIC_INLINE_PREFIX int MPIDI_vci_lock_is_csync(const MPIDU_Thread_mutex_t * m)
{
    return MPIDI_MODEL_LOCK == MPIDI_LOCK_COMBINING && m->vci != NULL;
}

/* Around a wait for the lock of a VCI, or until the thread that has it has issued our operation:
 * counted, and seen by the watchdog. vci: NULL for a mutex that is not a VCI's. MPIDI_vci_lock_own_
 * comes behind it, since the owner is none of those that wait. */
#define MPIDI_VCI_LOCK_WAIT(vci_, path_, wait_) \
    do { \
        if (unlikely(MPIDI_watchdog_on)) { \
            const MPIDI_vci_t *watched_ = vci_; \
            MPIDI_watchdog_lock_begin(watched_ ? watched_->index : MPIDI_WATCHED_OTHER_LOCK); \
            MPIDI_STATS_WAIT(vci_, path_, wait_); \
            MPIDI_watchdog_lock_end(); \
        } else { \
            MPIDI_STATS_WAIT(vci_, path_, wait_); \
        } \
    } while (0)

/* The same as MPIDI_vci_lock_enter, _try and the release below, for the other lock of a VCI. In
 * vci_lock.c, out of line. The combining lock has no lower priority. */
void MPIDI_vci_other_enter(MPIDU_Thread_mutex_t * m, int low);
int MPIDI_vci_other_try(MPIDU_Thread_mutex_t * m);
void MPIDI_vci_other_release(MPIDU_Thread_mutex_t * m);

/* With csync: announce op(arg) and wait. Returns 0 if the holder has executed it, 1 if the lock is ours
 * now: then op is not executed yet. Blocking. Not for the holder. */
int MPIDI_vci_csync_announce(MPIDU_Thread_mutex_t * m, tsm_dsm_synch_op_t op, void *arg);

/* The lock was taken: wait for it. In vci_lock.c, out of line. */
void MPIDI_vci_lock_wait(MPIDU_Thread_mutex_t * m, int low);

/* Yield and try while threads outnumber processors. 1 if the lock is ours: the caller then owns it
 * (MPIDI_vci_lock_own_), once it no longer counts itself as waiting. Not for the holder. */
int MPIDI_vci_lock_give_way(MPIDU_Thread_mutex_t * m, int is_other, int low);

/* Take the mutex's own lock. low: with low priority, where the lock has two (TOPC section 6.2).
 * Blocking. Not for the holder. */
MPL_STATIC_INLINE_PREFIX void MPIDI_vci_lock_enter(MPIDU_Thread_mutex_t * m, int low)
{
    if (!(low ? tsm_lock_try_low(&m->mutex) : tsm_lock_try(&m->mutex)))
        MPIDI_vci_lock_wait(m, low);
    MPIDI_vci_lock_own_(m, m->vci != NULL);
}

/* 1 if the lock is ours now, 0 if it was taken. Never waits. Not for the holder; of VCIs only.
 * is_other: the VCI has another lock (MPIDI_MODEL_LOCK). */
MPL_STATIC_INLINE_PREFIX int MPIDI_vci_lock_try(MPIDU_Thread_mutex_t * m, int is_other)
{
    if (unlikely(is_other))
        return MPIDI_vci_other_try(m);
    if (!tsm_lock_try(&m->mutex))
        return 0;
    MPIDI_vci_lock_own_(m, 1);
    return 1;
}

/* The caller sets the count to 0. */
MPL_STATIC_INLINE_PREFIX void MPIDI_vci_lock_disown_(MPIDU_Thread_mutex_t * m, int is_vci)
{
    MPIDI_STATS(if (is_vci) MPIDI_stats_release(m->vci));
    MPIDI_thread_local.held -= is_vci ? MPIDI_THREAD_VCI : MPIDI_THREAD_SECTION;
    __atomic_store_n(&m->owner, 0, __ATOMIC_RELAXED);
}

/* Free the lock itself. is_other: MPIDI_vci_lock_is_other, which only the holder may ask. */
MPL_STATIC_INLINE_PREFIX void MPIDI_vci_lock_free_(MPIDU_Thread_mutex_t * m, int is_other)
{
    if (unlikely(is_other))
        MPIDI_vci_other_release(m);
    else
        tsm_lock_release(&m->mutex);
}

/* Release the lock, whatever the depth, and return the depth. By the holder. */
MPL_STATIC_INLINE_PREFIX int MPIDI_vci_lock_leave(MPIDU_Thread_mutex_t * m)
{
    int depth = m->count;
    int is_other = MPIDI_vci_lock_is_other(m);

    MPIR_Assert(depth > 0);
    m->count = 0;
    MPIDI_vci_lock_disown_(m, m->vci != NULL);
    MPIDI_vci_lock_free_(m, is_other);
    return depth;
}

#endif /* MPIDI_VCI_LOCK_H_INCLUDED */
