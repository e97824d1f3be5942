/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The futex lock: two threads acquire, one tries first. The last one may free it. */

#include "client.h"
#include "lock/tsm_futex_lock.h"

static tsm_futex_lock_t lock = TSM_FUTEX_LOCK_INITIALIZER;
static int won;

static void *acquires(void *arg)
{
    (void) arg;
    for (int i = 0; i < 2; i++) {
        tsm_futex_lock_acquire(&lock);
        client_critical();
        tsm_futex_lock_release(&lock);
    }
    return NULL;
}

static void *tries(void *arg)
{
    if (tsm_futex_lock_try(&lock)) {
        client_critical();
        won++;
        tsm_futex_lock_release(&lock);
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
