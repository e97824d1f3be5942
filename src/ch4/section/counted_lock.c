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

void MPIDI_counted_lock_wait(MPIDU_Thread_mutex_t * m, int low)
{
    MPIDI_STATS_WAIT(m->vci, low ? MPIDI_STATS_PROGRESS : MPIDI_STATS_MAIN, acquire(m, low));
}

void MPIDI_counted_pause(void)
{
    if (MPIDU_lock_pause())
        MPIDI_STATS_COUNT(yields, 1);
}

#endif
