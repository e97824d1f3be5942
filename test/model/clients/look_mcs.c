/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts with SWP and MCS: see client_look.h. */

#include "client.h"
#include "lock/tsm_mcs.h"

#define LOOK_ITEMS 1
#define LOOK_FEW 3
#define LOOK_BODIES look_posts, look_enters, look_enters, look_tries
#define LOOK_INIT() tsm_mcs_init(&lock)

static tsm_mcs_t lock;
static tsm_mcs_node_t thread_node[4];

#include "client_look_swp.h"

static int lock_try(int me)
{
    return tsm_mcs_try(&lock, &thread_node[me]);
}

static void lock_acquire(int me)
{
    tsm_mcs_acquire(&lock, &thread_node[me]);
}

static void lock_release(int me)
{
    tsm_mcs_release(&lock, &thread_node[me]);
}
