/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts with SWP and HMCS of two levels: see client_look.h. */

#include "client.h"
#include "lock/tsm_hmcs.h"

#define LOOK_ITEMS 1
#define LOOK_FEW 3
#define LOOK_BODIES look_posts, look_enters, look_enters, look_tries
#define LOOK_INIT() tsm_hmcs_init(&lock, domain, widths, 2, 1)

static tsm_hmcs_t lock;
static tsm_hmcs_domain_t domain[3];
static tsm_hmcs_node_t thread_node[4];
static const uint32_t widths[] = { 1, 2 };

#include "client_look_swp.h"

static int lock_try(int me)
{
    return tsm_hmcs_try(&lock, &thread_node[me]);
}

static void lock_acquire(int me)
{
    tsm_hmcs_acquire(&lock, &thread_node[me], (uint32_t) me % 2);
}

static void lock_release(int me)
{
    tsm_hmcs_release(&lock, &thread_node[me]);
}
