/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDU_LOCK_H_INCLUDED
#define MPIDU_LOCK_H_INCLUDED

/* The lock inside every MPIDU_Thread_mutex_t, chosen by --with-thread-lock= (TOPC section 4: the lock
 * decides which thread drives communication next). A thread package other than POSIX keeps the mutex
 * of MPL, because our locks block the kernel thread. */

#include "mpl.h"

#if defined(MPICH_IS_THREADED) && MPL_THREAD_PACKAGE_NAME == MPL_THREAD_PACKAGE_POSIX
#define TSM_LOCK_KIND MPICH_THREAD_LOCK
#include "tsm/lock/tsm_lock.h"
#include "tsm/tsm_load.h"
#include "tsm/tsm_wait.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
/* The lock of a VCI may be another; see vci_lock.c. */
typedef tsm_lock_t MPIDU_lock_t;
#define MPIDU_LOCK_CALL_(what_) tsm_lock_##what_
#else
#include "mpidu_chosen_lock.h"
typedef MPIDU_chosen_lock_t MPIDU_lock_t;

/* Makes a free lock of the kind that is chosen now; a name that is unknown chooses none, and
 * MPIDI_model_init refuses it later. Returns 0 or an errno value. One thread, before any use. */
int MPIDU_chosen_lock_init(MPIDU_chosen_lock_t * lock);
#define MPIDU_LOCK_CALL_(what_) MPIDU_chosen_lock_##what_
#endif

/* Between the lock and what only its holder writes: threads that try a taken lock would take the
 * holder's line away from it time after time. */
#define MPIDU_LOCK_PAD char pad[TSM_CACHELINE];

#define MPIDU_lock_create(lock_, err_) \
    do { *(int *) (err_) = MPIDU_LOCK_CALL_(init) (lock_); } while (0)
#define MPIDU_lock_destroy(lock_, err_) \
    do { MPIDU_LOCK_CALL_(destroy) (lock_); *(int *) (err_) = 0; } while (0)
/* MPICH acquires with low priority when it takes a lock back after a yield. */
#define MPIDU_lock_acquire(lock_, err_, prio_) \
    do { \
        if ((prio_) == MPL_THREAD_PRIO_LOW) \
            MPIDU_LOCK_CALL_(acquire_low) (lock_); \
        else \
            MPIDU_LOCK_CALL_(acquire) (lock_); \
        *(int *) (err_) = 0; \
    } while (0)
#define MPIDU_lock_release(lock_, err_) \
    do { MPIDU_LOCK_CALL_(release) (lock_); *(int *) (err_) = 0; } while (0)

/* In a loop that waits, between the release of the lock and the next acquire: let other threads run.
 * MPICH yields nothing here, so a thread that polls keeps its processor for a whole time slice. Returns
 * 1 if it has yielded. */
static inline int MPIDU_lock_pause(void)
{
    int is_crowded;

    tsm_load_touch();
    is_crowded = tsm_load_crowded();
    if (is_crowded)
        tsm_yield();
    return is_crowded;
}

#else
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#error "a thread-safety model with a lock for each VCI needs --with-thread-package=posix"
#endif
typedef MPL_thread_mutex_t MPIDU_lock_t;
#define MPIDU_lock_create MPL_thread_mutex_create
#define MPIDU_lock_destroy MPL_thread_mutex_destroy
#define MPIDU_lock_acquire MPL_thread_mutex_lock
#define MPIDU_lock_release MPL_thread_mutex_unlock
#define MPIDU_lock_pause MPL_thread_yield
#define MPIDU_LOCK_PAD
#endif

/* Around a yield of the lock of the process, in global: the threads that yield wait in MPI. The lock
 * guards their count. */
extern int MPIDU_lock_yields;
#define MPIDU_LOCK_YIELDS(yield_) \
    do { MPIDU_lock_yields++; yield_; MPIDU_lock_yields--; } while (0)

#endif /* MPIDU_LOCK_H_INCLUDED */
