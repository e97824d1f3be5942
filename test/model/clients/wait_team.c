/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Park and unpark: several waiters on one word, all of which must be woken. */

#include "client.h"
#include "tsm_wait.h"

enum { WAITING, PARKED, DONE };

static TSM_ATOMIC(uint32_t) word;
static int data;

static void *waits(void *arg)
{
    (void) arg;
    tsm_wait_word(&word, WAITING, PARKED, TSM_WAIT_PARK);
    assert(data == 1);
    return NULL;
}

static void *wakes(void *arg)
{
    (void) arg;
    data = 1;
    tsm_wake_word(&word, DONE, PARKED);
    return NULL;
}

int main(void)
{
    client_team(3, (void *(*const[])(void *)) { waits, wakes, waits });
    return 0;
}
