/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The adaptive lock; the load changes at each call, so that an heir that watches meets a claim left by
 * the heir before. */

#define CLIENT_LOAD -1
#define TSM_ADAPTIVE_LOOKS 1

#include "client.h"
#include "lock/tsm_adaptive.h"

static tsm_adaptive_t lock = TSM_ADAPTIVE_INITIALIZER;
static int won;

static void *acquires(void *arg)
{
    (void) arg;
    for (int i = 0; i < 2; i++) {
        tsm_adaptive_acquire(&lock);
        client_critical();
        tsm_adaptive_release(&lock);
    }
    return NULL;
}

static void *tries(void *arg)
{
    if (tsm_adaptive_try(&lock)) {
        client_critical();
        won++;
        tsm_adaptive_release(&lock);
    }
    return acquires(arg);
}

int main(void)
{
    client_team(3, (void *(*const[])(void *)) { acquires, acquires, tries });
    assert(client_count == 6 + won);
    client_scribble(&lock);
    return 0;
}
