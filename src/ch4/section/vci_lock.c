/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "tsm/lock/tsm_lock_kind.h"
#include "tsm/tsm_load.h"

/* Pauses from one look to the next, at most. */
#define MOST_PAUSES 128

/* Tries of a thread that gives way, with a yield before each. */
#define TRIES 64

/* The VCI whose lock m is. Not m->vci, which is in a line of the holder's. */
static MPIDI_vci_t *vci_of(MPIDU_Thread_mutex_t * m)
{
    return &(MPL_container_of(m, MPIDI_per_vci_t, lock))->threads;
}

/* The lock without the owner's account. is_other: as in MPIDI_vci_lock_free_. */
static int try_raw(MPIDU_Thread_mutex_t * m, int is_other, int low)
{
    if (is_other)
        return MPIDI_model.lock_kind->try(vci_of(m)->chosen_lock, low);
    return low ? tsm_lock_try_low(&m->mutex) : tsm_lock_try(&m->mutex);
}

/* Try the lock for a moment, while there is a processor for each thread; 1 if it is ours. As long as a
 * few polls take, not a number of pauses: one took 27 ns on one processor and 13 on another. */
static int look(MPIDU_Thread_mutex_t * m, int is_other, int low)
{
    const uint64_t end = tsm_now_ns() + (uint64_t) MPIR_CVAR_CH4_LOCK_SPIN_NSEC;
    int pauses = 1;

    /* twice as long each time: all that look fetch the line again after each release */
    while (!tsm_load_crowded() && tsm_now_ns() < end) {
        for (int i = 0; i < pauses; i++)
            tsm_cpu_pause();
        if (__atomic_load_n(&m->owner, __ATOMIC_RELAXED) == 0 && try_raw(m, is_other, low))
            return 1;
        pauses = MPL_MIN(2 * pauses, MOST_PAUSES);
    }
    return 0;
}

/* A thread that queues has no processor when its turn comes, and then the lock waits for it. After the
 * tries it queues all the same, so that others overtake it for a limited time. The lock does not see a
 * thread that tries: with clh-lpw one of low priority may overtake it. */
int MPIDI_vci_lock_give_way(MPIDU_Thread_mutex_t * m, int is_other, int low)
{
    for (int i = 0; i < TRIES && tsm_load_crowded(); i++) {
        MPIDI_STATS(MPIDI_STATS_COUNT(yields, 1));
        tsm_yield();
        if (try_raw(m, is_other, low))
            return 1;
    }
    return 0;
}

/* What a thread does before it waits in the lock; 1 if the lock is ours. The Pthread mutex and the
 * futex lock put it to sleep at once, which takes longer than a poll holds the lock. The others spin
 * themselves. */
static int take_soon(MPIDU_Thread_mutex_t * m, int is_other, int low)
{
    switch (is_other ? MPIDI_model.lock_kind->number : MPICH_THREAD_LOCK) {
        case TSM_LOCK_KIND_MUTEX:
        case TSM_LOCK_KIND_FUTEX:
            return look(m, is_other, low);
        default:
            return MPIDI_vci_lock_give_way(m, is_other, low);
    }
}

static void wait(MPIDU_Thread_mutex_t * m, int is_other, int low)
{
    if (take_soon(m, is_other, low))
        return;
    if (is_other)
        MPIDI_model.lock_kind->acquire(vci_of(m)->chosen_lock, low);
    else if (low)
        tsm_lock_acquire_low(&m->mutex);
    else
        tsm_lock_acquire(&m->mutex);
}

/* vci: that of the mutex, or NULL */
static void wait_counted(MPIDU_Thread_mutex_t * m, MPIDI_vci_t * vci, int is_other, int low)
{
    const int library_polls = MPIDI_model.progress == MPIDI_PROGRESS_SERVER_KIND ||
        MPIR_CVAR_ASYNC_PROGRESS;
    const int says_so = vci && library_polls;

    tsm_load_touch();
    if (says_so)
        tsm_fetch_add(&vci->entering, 1, TSM_RELAXED);
    MPIDI_VCI_LOCK_WAIT(vci, low ? MPIDI_STATS_PROGRESS : MPIDI_STATS_MAIN,
                        wait(m, is_other, low));
    if (says_so)
        tsm_fetch_add(&vci->entering, -1, TSM_RELAXED);
}

void MPIDI_vci_lock_wait(MPIDU_Thread_mutex_t * m, int low)
{
    wait_counted(m, m->vci, 0, low);
}

/* With counters or the watchdog the thread tries first, to know whether it waits. */
static void enter_combining(MPIDU_Thread_mutex_t * m, int low)
{
    tsm_dsm_lock_t *lock = &vci_of(m)->csync;

    tsm_load_touch();
    if (!MPIDI_STATS_ARE_ON && likely(!MPIDI_watchdog_on))
        tsm_dsm_lock_acquire(lock);
    else if (!tsm_dsm_lock_try(lock))
        MPIDI_VCI_LOCK_WAIT(m->vci, low ? MPIDI_STATS_PROGRESS : MPIDI_STATS_MAIN,
                            tsm_dsm_lock_acquire(lock));
}

void MPIDI_vci_other_enter(MPIDU_Thread_mutex_t * m, int low)
{
    if (MPIDI_MODEL_LOCK == MPIDI_LOCK_COMBINING)
        enter_combining(m, low);
    else if (!try_raw(m, 1, low))
        wait_counted(m, vci_of(m), 1, low);
    MPIDI_vci_lock_own_(m, 1);
}

int MPIDI_vci_other_try(MPIDU_Thread_mutex_t * m)
{
    if (!(MPIDI_MODEL_LOCK == MPIDI_LOCK_COMBINING ? tsm_dsm_lock_try(&vci_of(m)->csync) :
          try_raw(m, 1, 0)))
        return 0;
    MPIDI_vci_lock_own_(m, 1);
    return 1;
}

/* The fence: MPIDI_SECTION_FENCE is that of the mutex's own lock. */
void MPIDI_vci_other_release(MPIDU_Thread_mutex_t * m)
{
    if (MPIDI_MODEL_LOCK == MPIDI_LOCK_COMBINING) {
        tsm_dsm_lock_release(&vci_of(m)->csync);
    } else {
        MPIDI_model.lock_kind->release(vci_of(m)->chosen_lock);
        if (!MPIDI_VCI_LOCK_ORDERS(MPIDI_model.lock_kind->number))
            atomic_thread_fence(memory_order_seq_cst);
    }
}

int MPIDI_vci_csync_announce(MPIDU_Thread_mutex_t * m, tsm_dsm_synch_op_t op, void *arg)
{
    int is_ours;

    tsm_load_touch();
    MPIDI_VCI_LOCK_WAIT(m->vci, MPIDI_STATS_MAIN,
                        is_ours = tsm_dsm_lock_announce(&vci_of(m)->csync, op, arg));
    if (!is_ours)
        return 0;
    MPIDI_vci_lock_own_(m, 1);
    return 1;
}

#endif
