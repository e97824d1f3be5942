/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef EVENT_HANDLES_H_INCLUDED
#define EVENT_HANDLES_H_INCLUDED

/* A tool registers and frees handles of events while other threads raise events, and so walk the list
 * of handles. Threads that raise share a lock, which nobody touches while there is no handle; a change
 * has it alone, so a handle is freed when its functions run no more. A function may call MPI_T, whose
 * mutex a change therefore gives up while it waits. Included by events_impl.c. */

#include <pthread.h>

#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
/* else threads that raise events all the time keep a change out */
static pthread_rwlock_t event_handles_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
#else
static pthread_rwlock_t event_handles_lock = PTHREAD_RWLOCK_INITIALIZER;
#endif
static int event_handles_num;

/* Events of ours are raised without --enable-mpit-events, too. */
#if defined(ENABLE_THREAD_STATS) && !defined(HAVE_MPIT_EVENTS)
#define HAVE_MPIT_EVENTS 1
#endif

static inline int event_handles_exist(void)
{
    return __atomic_load_n(&event_handles_num, __ATOMIC_RELAXED);
}

/* Around walking a list, and around the tools' functions. */
static inline void event_handles_use(void)
{
    pthread_rwlock_rdlock(&event_handles_lock);
}

static inline void event_handles_leave(void)
{
    pthread_rwlock_unlock(&event_handles_lock);
}

/* Around a change of a handle, or of a list, which gets so many handles more; within MPI_T's mutex. */
static inline void event_handles_change(int more)
{
    MPIR_T_THREAD_CS_EXIT();
    pthread_rwlock_wrlock(&event_handles_lock);
    __atomic_store_n(&event_handles_num, event_handles_num + more, __ATOMIC_RELAXED);
}

static inline void event_handles_changed(void)
{
    pthread_rwlock_unlock(&event_handles_lock);
    MPIR_T_THREAD_CS_ENTER();
}

#endif /* EVENT_HANDLES_H_INCLUDED */
