/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts with SWP and CLH: see client_look.h. */

#include "client.h"
#include "lock/tsm_clh.h"

#define LOOK_ITEMS 1
#define LOOK_FEW 3
#define LOOK_BODIES look_posts, look_enters, look_enters, look_tries
#define LOOK_INIT() init()

static tsm_clh_t lock;
static tsm_clh_pool_t pool;
static tsm_clh_node_t nodes[TSM_CLH_NODES(4)];
static tsm_clh_context_t thread_node[4];

static void init(void)
{
    int rc = tsm_clh_pool_init(&pool, nodes, 4);

    for (int i = 0; i < 4; i++)
        rc |= tsm_clh_context_init(&thread_node[i], &pool);
    assert(rc == 0);
    (void) rc;
    tsm_clh_init(&lock, &pool);
}

#include "client_look_swp.h"

static int lock_try(int me)
{
    return tsm_clh_try(&lock, &thread_node[me]);
}

static void lock_acquire(int me)
{
    tsm_clh_acquire(&lock, &thread_node[me]);
}

static void lock_release(int me)
{
    tsm_clh_release(&lock, &thread_node[me]);
}
