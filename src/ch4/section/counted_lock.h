/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_COUNTED_LOCK_H_INCLUDED
#define MPIDI_COUNTED_LOCK_H_INCLUDED

/* The lock and unlock of a mutex in a library of `global` with --enable-thread-stats, in place of those
 * of thread_sections.h. They count for a mutex that has a VCI, which is that of the process from
 * MPI_Init to MPI_Finalize. As with the locks of VCIs, a thread that takes the lock back after it has
 * let others in, with low priority, is in the progress loop; any other is on the main path. */

#include "../stats/hooks.h"

#ifndef MPIDU_CHOSEN_LOCK_H_INCLUDED
#error "--enable-thread-stats needs --with-thread-package=posix"
#endif

/* Slow path: the mutex has no VCI, or the lock is taken. Blocking. */
void MPIDI_counted_lock_wait(MPIDU_Thread_mutex_t * m, int low);

/* Blocking. Not for the holder. m->vci changes only while one thread is in MPI. The try tells whether
 * the thread has to wait: without statistics it takes the lock at once. */
static inline void MPIDI_counted_lock(MPIDU_Thread_mutex_t * m, int low)
{
    MPIDI_vci_t *vci = m->vci;

    if (unlikely(!vci || !MPIDU_chosen_lock_try(&m->mutex, low))) {
        MPIDI_counted_lock_wait(m, low);
        if (!vci)
            return;
    }
    MPIDI_stats_acquired(vci, (uintptr_t) & MPIDI_thread_local);
    if (low)
        MPIDI_stats_progress_path(vci);
}

static inline void MPIDI_counted_unlock(MPIDU_Thread_mutex_t * m)
{
    MPIDI_vci_t *vci = m->vci;

    if (likely(vci != NULL))
        MPIDI_stats_release(vci);
    MPIDU_chosen_lock_release(&m->mutex);
}

/* MPIDU_lock_pause. */
void MPIDI_counted_pause(void);

#endif /* MPIDI_COUNTED_LOCK_H_INCLUDED */
