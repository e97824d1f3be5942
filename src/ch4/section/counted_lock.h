/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_COUNTED_LOCK_H_INCLUDED
#define MPIDI_COUNTED_LOCK_H_INCLUDED

/* The lock and unlock of a mutex in a library of `global` with --enable-thread-stats, in place of those
 * of thread_sections.h. They count for a mutex that has a VCI, which is that of the process from
 * MPI_Init to MPI_Finalize. As with the locks of VCIs, a thread that takes the lock back after it has
 * let others in, with low priority, is in the progress loop; any other is on the main path. Functions,
 * since nearly each call of MPI has a section. */

#include "../stats/hooks.h"

#ifndef MPIDU_CHOSEN_LOCK_H_INCLUDED
#error "--enable-thread-stats needs --with-thread-package=posix"
#endif

/* Blocking. Not for the holder. */
void MPIDI_counted_lock(MPIDU_Thread_mutex_t * m, int low);
void MPIDI_counted_unlock(MPIDU_Thread_mutex_t * m);

/* MPIDU_lock_pause. */
void MPIDI_counted_pause(void);

#endif /* MPIDI_COUNTED_LOCK_H_INCLUDED */
