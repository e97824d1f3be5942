/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDU_LOCK_H_INCLUDED
#define MPIDU_LOCK_H_INCLUDED

/* The lock inside every MPIDU_Thread_mutex_t, chosen by --with-thread-lock= (TOPC section 4: the
 * lock is what decides who drives communication next). Other thread packages than POSIX keep the
 * mutex of MPL, because our locks block the kernel thread. */

#include "mpl.h"

#if defined(MPICH_IS_THREADED) && MPL_THREAD_PACKAGE_NAME == MPL_THREAD_PACKAGE_POSIX
#define TSM_LOCK_KIND MPICH_THREAD_LOCK
#include "tsm/lock/tsm_lock.h"
#include "tsm/queue/tsm_swp.h"

typedef tsm_lock_t MPIDU_lock_t;

#define MPIDU_lock_create(lock_, err_) do { *(int *) (err_) = tsm_lock_init(lock_); } while (0)
#define MPIDU_lock_destroy(lock_, err_) \
    do { tsm_lock_destroy(lock_); *(int *) (err_) = 0; } while (0)
#define MPIDU_lock_acquire(lock_, err_, prio_) \
    do { tsm_lock_acquire(lock_); *(int *) (err_) = 0; } while (0)
#define MPIDU_lock_release(lock_, err_) \
    do { tsm_lock_release(lock_); *(int *) (err_) = 0; } while (0)

#if MPICH_THREAD_LOCK == TSM_LOCK_KIND_MUTEX
#define MPIDU_lock_cond_wait(cond_, lock_, err_) MPL_thread_cond_wait(cond_, &(lock_)->mutex, err_)
#else
/* Only ch3 waits on condition variables, and configure gives ch3 the mutex. */
#define MPIDU_lock_cond_wait(cond_, lock_, err_) do { *(int *) (err_) = ENOTSUP; } while (0)
#endif

/* Operations handed over to whoever holds the lock of a VCI (ICS'19 section 3.4). Any thread
 * pushes; only the holder of the lock pops. It is empty in every model but LockQ. */
typedef struct MPIDU_workq {
    tsm_swp_t queue;
    int draining;               /* under the lock: the holder is applying posted operations */
    MPL_atomic_int_t polls;     /* written under the lock: how often the VCI was driven */
    MPL_atomic_int_t poll_wanted;       /* the holder shall drive the VCI before it leaves */
    int poll_error;             /* under the lock: what such a poll gave, for the next to report */
    /* under the lock, see ch4_poll.h */
    unsigned nm_skipped;        /* polls since the netmod's last */
    unsigned shm_quiet;         /* polls since shared memory brought something */
    unsigned nm_events;         /* what the netmod's polls have handled, as far as it says */
    int vci;
} MPIDU_workq_t;

#define MPIDU_WORKQ_NM_EVENTS(workq_, n_) ((void) ((workq_)->nm_events += (n_)))

#else
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#error "--enable-thread-cs=per-vci, lockq and runtime need --with-thread-package=posix"
#endif
typedef MPL_thread_mutex_t MPIDU_lock_t;
typedef struct MPIDU_workq MPIDU_workq_t;
#define MPIDU_WORKQ_NM_EVENTS(workq_, n_) ((void) (n_))
#define MPIDU_lock_create MPL_thread_mutex_create
#define MPIDU_lock_destroy MPL_thread_mutex_destroy
#define MPIDU_lock_acquire MPL_thread_mutex_lock
#define MPIDU_lock_release MPL_thread_mutex_unlock
#define MPIDU_lock_cond_wait MPL_thread_cond_wait
#endif

#endif /* MPIDU_LOCK_H_INCLUDED */
