/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH-LPW: two threads of high priority, one of low priority; one of each kind tries, too. */

#include "client.h"
#include "lock/tsm_clh_lpw.h"

static tsm_clh_lpw_t lock;
static tsm_clh_pool_t pool;
static tsm_clh_node_t nodes[TSM_CLH_NODES(3)];
static int won;

static void begin(tsm_clh_context_t *context)
{
    int rc = tsm_clh_context_init(context, &pool);

    assert(rc == 0);
    (void) rc;
}

static void *high(void *arg)
{
    tsm_clh_context_t context;

    (void) arg;
    begin(&context);
    for (int i = 0; i < 2; i++) {
        tsm_clh_lpw_acquire(&lock, &context);
        client_critical();
        tsm_clh_lpw_release(&lock, &context);
    }
    tsm_clh_context_end(&context);
    return NULL;
}

static void *high_tries(void *arg)
{
    tsm_clh_context_t context;

    (void) arg;
    begin(&context);
    if (tsm_clh_lpw_try(&lock, &context)) {
        client_critical();
        won++;
        tsm_clh_lpw_release(&lock, &context);
    }
    tsm_clh_lpw_acquire(&lock, &context);
    client_critical();
    tsm_clh_lpw_release(&lock, &context);
    tsm_clh_context_end(&context);
    return NULL;
}

static void *low(void *arg)
{
    tsm_clh_context_t context;

    (void) arg;
    begin(&context);
    if (tsm_clh_lpw_try_low(&lock, &context)) {
        client_critical();
        won++;
        tsm_clh_lpw_release_low(&lock, &context);
    }
    tsm_clh_lpw_acquire_low(&lock, &context);
    client_critical();
    tsm_clh_lpw_release_low(&lock, &context);
    tsm_clh_context_end(&context);
    return NULL;
}

int main(void)
{
    static void *(*const bodies[])(void *) = { high, high_tries, low };
    int rc = tsm_clh_pool_init(&pool, nodes, 3);

    assert(rc == 0);
    (void) rc;
    tsm_clh_lpw_init(&lock, &pool);
    client_team(3, bodies);
    assert(client_count == 4 + won);
    tsm_clh_lpw_destroy(&lock);
    client_scribble(&lock);
    tsm_clh_pool_destroy(&pool);
    client_scribble(&nodes);
    return 0;
}
