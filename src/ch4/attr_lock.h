/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ATTR_LOCK_H_INCLUDED
#define MPIDI_ATTR_LOCK_H_INCLUDED

/* For MPICH's attributes: a lock of the list of one object, where no global lock guards it. The
 * program's functions run without it: they may call MPI, also for attributes of the same object.
 * Meanwhile other threads may change the list, so the thread then searches for what it unlinks. A call
 * that copies a list while another thread deletes one of the attributes is not covered. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "tsm/lock/tsm_futex_lock.h"

/* Objects of one kind have successive handles, and few threads meet at one of them. */
#define MPII_ATTR_LOCKS 16

typedef struct {
    tsm_futex_lock_t lock MPL_ATTR_ALIGNED(MPL_CACHELINE_SIZE);
} MPII_attr_lock_t;

extern MPII_attr_lock_t MPII_attr_locks[MPII_ATTR_LOCKS];
#define MPII_ATTR_LOCKS_DEFINE MPII_attr_lock_t MPII_attr_locks[MPII_ATTR_LOCKS];       /* all free */

static inline void MPII_attr_enter(int handle)
{
    if (MPIR_ThreadInfo.isThreaded)
        tsm_futex_lock_acquire(&MPII_attr_locks[handle & (MPII_ATTR_LOCKS - 1)].lock);
}

static inline void MPII_attr_exit(int handle)
{
    if (MPIR_ThreadInfo.isThreaded)
        tsm_futex_lock_release(&MPII_attr_locks[handle & (MPII_ATTR_LOCKS - 1)].lock);
}

#else
#define MPII_ATTR_LOCKS_DEFINE
#define MPII_attr_enter(handle_) do { } while (0)
#define MPII_attr_exit(handle_) do { } while (0)
#endif

/* Take p out of the list; 0 if another thread has. */
static inline int MPII_attr_unlink(MPIR_Attribute ** list, const MPIR_Attribute * p)
{
    while (*list && *list != p)
        list = &(*list)->next;
    if (*list == NULL)
        return 0;
    *list = p->next;
    return 1;
}

#endif /* MPIDI_ATTR_LOCK_H_INCLUDED */
