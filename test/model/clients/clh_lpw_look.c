/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH-LPW: a thread that posts an operation tries the lock; whoever releases the lock looks for
 * operations and tries again. None is forgotten, with a holder of each
 * priority. */

#include "client.h"
#include "lock/tsm_clh_lpw.h"

static tsm_clh_lpw_t lock;
static tsm_clh_pool_t pool;
static tsm_clh_node_t nodes[TSM_CLH_NODES(3)];
static TSM_ATOMIC(int) posted;
static int issued;

static void help(tsm_clh_context_t *context)
{
    while (tsm_fetch_add(&posted, 0, TSM_SEQ_CST) && tsm_clh_lpw_try(&lock, context)) {
        client_critical();
        issued += tsm_swap(&posted, 0, TSM_SEQ_CST);
        tsm_clh_lpw_release(&lock, context);
    }
}

static void *posts(void *arg)
{
    tsm_clh_context_t context;

    (void) arg;
    (void) tsm_clh_context_init(&context, &pool);
    tsm_fetch_add(&posted, 1, TSM_SEQ_CST);
    help(&context);
    tsm_clh_context_end(&context);
    return NULL;
}

static void *holds_low(void *arg)
{
    tsm_clh_context_t context;

    (void) arg;
    (void) tsm_clh_context_init(&context, &pool);
    tsm_clh_lpw_acquire_low(&lock, &context);
    client_critical();
    tsm_clh_lpw_release_low(&lock, &context);
    help(&context);
    tsm_clh_context_end(&context);
    return NULL;
}

static void *holds_high(void *arg)
{
    tsm_clh_context_t context;

    (void) arg;
    (void) tsm_clh_context_init(&context, &pool);
    tsm_clh_lpw_acquire(&lock, &context);
    client_critical();
    tsm_clh_lpw_release(&lock, &context);
    help(&context);
    tsm_clh_context_end(&context);
    return NULL;
}

int main(void)
{
    static void *(*const bodies[])(void *) = { posts, holds_low, holds_high };
    int rc = tsm_clh_pool_init(&pool, nodes, 3);

    assert(rc == 0);
    (void) rc;
    tsm_clh_lpw_init(&lock, &pool);
    client_team(3, bodies);
    assert(posted == 0 && issued == 1);
    tsm_clh_lpw_destroy(&lock);
    tsm_clh_pool_destroy(&pool);
    return 0;
}
