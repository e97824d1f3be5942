/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts with SWP and HYBLOCK: see client_look.h. */

#include "client.h"
#include "lock/tsm_hyblock.h"

#define LOOK_ITEMS 1
#define LOOK_FEW 3
#define LOOK_BODIES look_posts, look_enters, look_enters, look_tries
#define LOOK_INIT() init()

static tsm_hyblock_t lock;
static tsm_hyblock_node_t thread_node[4];

static void init(void)
{
    tsm_hyblock_init(&lock);
    for (int i = 0; i < 4; i++)
        tsm_hyblock_node_init(&thread_node[i]);
}

#include "client_look_swp.h"

static int lock_try(int me)
{
    return tsm_hyblock_try(&lock, &thread_node[me]);
}

static void lock_acquire(int me)
{
    tsm_hyblock_acquire(&lock, &thread_node[me]);
}

static void lock_release(int me)
{
    tsm_hyblock_release(&lock, &thread_node[me]);
}
