/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts with SWP and the adaptive lock, which a try does not get while an heir has claimed it:
 * see client_look.h. */

#define CLIENT_LOAD 0
#define TSM_ADAPTIVE_LOOKS 1

#include "client.h"
#include "lock/tsm_adaptive.h"

#define LOOK_ITEMS 1
#define LOOK_FEW 3
#define LOOK_BODIES look_posts, look_enters, look_enters, look_enters
#define LOOK_INIT() tsm_adaptive_init(&lock)

static tsm_adaptive_t lock;

#include "client_look_swp.h"

static int lock_try(int me)
{
    (void) me;
    return tsm_adaptive_try(&lock);
}

static void lock_acquire(int me)
{
    (void) me;
    tsm_adaptive_acquire(&lock);
}

static void lock_release(int me)
{
    (void) me;
    tsm_adaptive_release(&lock);
}
