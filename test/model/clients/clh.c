/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH lock: two threads acquire, one tries. Each gives back the node that its context has at the
 * end and overwrites it, while the others go on. */

#include "client.h"
#include "lock/tsm_clh.h"

static tsm_clh_t lock;
static tsm_clh_node_t node[4];
static int won;

static void begin(tsm_clh_context_t *context, void *arg)
{
    tsm_clh_context_init(context, &node[(intptr_t) arg]);
}

static void end(tsm_clh_context_t *context)
{
    client_scribble(tsm_clh_context_end(context));
}

static void *acquires(void *arg)
{
    tsm_clh_context_t context;

    begin(&context, arg);
    for (int i = 0; i < 2; i++) {
        tsm_clh_acquire(&lock, &context);
        client_critical();
        tsm_clh_release(&lock, &context);
    }
    end(&context);
    return NULL;
}

static void *tries(void *arg)
{
    tsm_clh_context_t context;

    begin(&context, arg);
    for (int i = 0; i < 2; i++) {
        if (tsm_clh_try(&lock, &context)) {
            client_critical();
            won++;
            tsm_clh_release(&lock, &context);
        }
    }
    end(&context);
    return NULL;
}

int main(void)
{
    tsm_clh_init(&lock, &node[3]);
    client_team(3, (void *(*const[])(void *)) { acquires, acquires, tries });
    assert(client_count == 4 + won);
    client_scribble(tsm_clh_destroy(&lock));
    return 0;
}
