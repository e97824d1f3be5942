/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#ifdef MPIDI_COUNTED_LOCK_H_INCLUDED

static void acquire(MPIDU_Thread_mutex_t * m, int low)
{
    if (low)
        MPIDU_chosen_lock_acquire_low(&m->mutex);
    else
        MPIDU_chosen_lock_acquire(&m->mutex);
}

/* m->vci changes only while one thread is in MPI. The try tells whether the thread has to wait: without
 * statistics it takes the lock at once. */
void MPIDI_counted_lock(MPIDU_Thread_mutex_t * m, int low)
{
    MPIDI_vci_t *vci = m->vci;

    if (!vci) {
        acquire(m, low);
        return;
    }
    if (!MPIDU_chosen_lock_try(&m->mutex, low))
        MPIDI_STATS_WAIT(vci, low ? MPIDI_STATS_PROGRESS : MPIDI_STATS_MAIN, acquire(m, low));
    MPIDI_stats_acquired(vci);
    if (low)
        MPIDI_stats_progress_path(vci);
}

void MPIDI_counted_unlock(MPIDU_Thread_mutex_t * m)
{
    if (m->vci)
        MPIDI_stats_release(m->vci);
    MPIDU_chosen_lock_release(&m->mutex);
}

void MPIDI_counted_pause(void)
{
    if (MPIDU_lock_pause())
        MPIDI_STATS_COUNT(yields, 1);
}

#endif
