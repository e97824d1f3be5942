/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Two CLH locks of one pool and three threads, so that a node is used for one lock while a thread
 * still waits on it for the other, and sleeps, as all tickets announce. */

#include "client.h"
#include "lock/tsm_clh.h"

static tsm_clh_pool_t pool;
static tsm_clh_node_t nodes[TSM_CLH_NODES(3)];
static tsm_clh_t lock[2];
static int inside[2];

static void *acquires(void *arg)
{
    tsm_clh_context_t context;
    int rc = tsm_clh_context_init(&context, &pool);

    assert(rc == 0);
    (void) rc;
    for (int i = 0; i < 3; i++) {
        int which = ((intptr_t) arg + i) % 3 != 0;
        tsm_clh_acquire(&lock[which], &context);
        inside[which]++;
        tsm_clh_release(&lock[which], &context);
    }
    tsm_clh_context_end(&context);
    return NULL;
}

int main(void)
{
    static void *(*const bodies[])(void *) = { acquires, acquires, acquires };
    int rc = tsm_clh_pool_init(&pool, nodes, 3);

    assert(rc == 0);
    (void) rc;
    for (int i = 0; i < 2; i++) {
        tsm_clh_init(&lock[i], &pool);
        tsm_store(&lock[i].announce, UINT32_MAX, TSM_RELAXED);
    }
    client_team(3, bodies);
    assert(inside[0] == 3 && inside[1] == 6);
    for (int i = 0; i < 2; i++)
        tsm_clh_destroy(&lock[i]);
    tsm_clh_pool_destroy(&pool);
    return 0;
}
