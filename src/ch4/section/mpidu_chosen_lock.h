/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDU_CHOSEN_LOCK_H_INCLUDED
#define MPIDU_CHOSEN_LOCK_H_INCLUDED

/* A mutex of `global`, whose lock MPIR_CVAR_CH4_THREAD_LOCK may choose when the program starts, so that
 * one library has all the locks that TOPC section 6 compares. Each mutex remembers its own: that of a
 * session may be older than the control variable. Without a choice the lock of configure is inlined,
 * behind a test of a word that is never written again. */

#include "tsm/lock/tsm_lock_kind.h"

typedef struct {
    const tsm_lock_kind_t *kind;        /* NULL: own */
    void *chosen;
    tsm_lock_t own;
} MPIDU_chosen_lock_t;

/* As in tsm_lock.h; init is in mpidu_lock.h. */
static inline void MPIDU_chosen_lock_destroy(MPIDU_chosen_lock_t * lock)
{
    if (lock->kind)
        lock->kind->destroy(lock->chosen);
    tsm_lock_destroy(&lock->own);
}

static inline void MPIDU_chosen_lock_acquire(MPIDU_chosen_lock_t * lock)
{
    if (unlikely(lock->kind != NULL))
        lock->kind->acquire(lock->chosen, 0);
    else
        tsm_lock_acquire(&lock->own);
}

static inline void MPIDU_chosen_lock_acquire_low(MPIDU_chosen_lock_t * lock)
{
    if (unlikely(lock->kind != NULL))
        lock->kind->acquire(lock->chosen, 1);
    else
        tsm_lock_acquire_low(&lock->own);
}

/* 1 if the lock is ours now. Never waits. */
static inline int MPIDU_chosen_lock_try(MPIDU_chosen_lock_t * lock, int low)
{
    if (unlikely(lock->kind != NULL))
        return lock->kind->try(lock->chosen, low);
    return low ? tsm_lock_try_low(&lock->own) : tsm_lock_try(&lock->own);
}

static inline void MPIDU_chosen_lock_release(MPIDU_chosen_lock_t * lock)
{
    if (unlikely(lock->kind != NULL))
        lock->kind->release(lock->chosen);
    else
        tsm_lock_release(&lock->own);
}

#endif /* MPIDU_CHOSEN_LOCK_H_INCLUDED */
