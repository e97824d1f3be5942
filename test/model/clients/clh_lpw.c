/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH-LPW: two threads of high priority, one of low priority; one of each kind tries, too. */

#include "client.h"
#include "lock/tsm_clh_lpw.h"

static tsm_clh_lpw_t lock;
static tsm_clh_node_t node[5];
static int won;

static void begin(tsm_clh_context_t *context, void *arg)
{
    tsm_clh_context_init(context, &node[(intptr_t) arg]);
}

static void end(tsm_clh_context_t *context)
{
    client_scribble(tsm_clh_context_end(context));
}

static void *high(void *arg)
{
    tsm_clh_context_t context;

    begin(&context, arg);
    for (int i = 0; i < 2; i++) {
        tsm_clh_lpw_acquire(&lock, &context);
        client_critical();
        tsm_clh_lpw_release(&lock, &context);
    }
    end(&context);
    return NULL;
}

static void *high_tries(void *arg)
{
    tsm_clh_context_t context;

    begin(&context, arg);
    if (tsm_clh_lpw_try(&lock, &context)) {
        client_critical();
        won++;
        tsm_clh_lpw_release(&lock, &context);
    }
    tsm_clh_lpw_acquire(&lock, &context);
    client_critical();
    tsm_clh_lpw_release(&lock, &context);
    end(&context);
    return NULL;
}

static void *low(void *arg)
{
    tsm_clh_context_t context;

    begin(&context, arg);
    if (tsm_clh_lpw_try_low(&lock, &context)) {
        client_critical();
        won++;
        tsm_clh_lpw_release_low(&lock, &context);
    }
    tsm_clh_lpw_acquire_low(&lock, &context);
    client_critical();
    tsm_clh_lpw_release_low(&lock, &context);
    end(&context);
    return NULL;
}

int main(void)
{
    tsm_clh_node_t *one, *other;

    tsm_clh_lpw_init(&lock, &node[3], &node[4]);
    client_team(3, (void *(*const[])(void *)) { high, high_tries, low });
    assert(client_count == 4 + won);
    tsm_clh_lpw_destroy(&lock, &one, &other);
    client_scribble(one);
    client_scribble(other);
    return 0;
}
