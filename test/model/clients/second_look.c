/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts with SWP and the futex lock: see client_look.h. */

#include "client.h"
#include "lock/tsm_futex_lock.h"

#define LOOK_ITEMS 2
#define LOOK_FEW 3
#define LOOK_BODIES look_posts, look_posts, look_enters, look_tries
#define LOOK_INIT() tsm_futex_lock_init(&lock)

static tsm_futex_lock_t lock;

#include "client_look_swp.h"

static int lock_try(int me)
{
    (void) me;
    return tsm_futex_lock_try(&lock);
}

static void lock_acquire(int me)
{
    (void) me;
    tsm_futex_lock_acquire(&lock);
}

static void lock_release(int me)
{
    (void) me;
    tsm_futex_lock_release(&lock);
}
