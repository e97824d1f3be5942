/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH lock: two threads acquire, one tries. Contexts come and go, so that nodes change hands while
 * others still wait on them. Tickets announce that their release wakes sleepers once a thread has
 * waited, and CLH_ANNOUNCE times more. */

#include "client.h"
#include "lock/tsm_clh.h"

#ifndef CLH_ANNOUNCE
#define CLH_ANNOUNCE 0
#endif

static tsm_clh_pool_t pool;
static tsm_clh_node_t nodes[TSM_CLH_NODES(3)];
static tsm_clh_t lock;
static int won;

static void begin(tsm_clh_context_t *context)
{
    int rc = tsm_clh_context_init(context, &pool);

    assert(rc == 0);
    (void) rc;
}

static void *acquires(void *arg)
{
    tsm_clh_context_t context;

    (void) arg;
    begin(&context);
    for (int i = 0; i < 3; i++) {
        tsm_clh_acquire(&lock, &context);
        client_critical();
        tsm_clh_release(&lock, &context);
        if (i == 1) {
            tsm_clh_context_end(&context);
            begin(&context);
        }
    }
    tsm_clh_context_end(&context);
    return NULL;
}

static void *tries(void *arg)
{
    tsm_clh_context_t context;

    (void) arg;
    for (int i = 0; i < 3; i++) {
        begin(&context);
        if (tsm_clh_try(&lock, &context)) {
            client_critical();
            won++;
            tsm_clh_release(&lock, &context);
        }
        tsm_clh_context_end(&context);
    }
    return NULL;
}

int main(void)
{
    static void *(*const bodies[])(void *) = { acquires, acquires, tries };
    int rc = tsm_clh_pool_init(&pool, nodes, 3);

    assert(rc == 0);
    (void) rc;
    tsm_clh_init(&lock, &pool);
    tsm_store(&lock.announce, CLH_ANNOUNCE, TSM_RELAXED);
    client_team(3, bodies);
    assert(client_count == 6 + won);
    tsm_clh_destroy(&lock);
    client_scribble(&lock);
    tsm_clh_pool_destroy(&pool);
    client_scribble(&nodes);
    return 0;
}
