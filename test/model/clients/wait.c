/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Park and unpark: the word belongs to the waiter, which frees it once it has seen the value. */

#include "client.h"
#include "tsm_wait.h"

enum { WAITING, PARKED, DONE };

static TSM_ATOMIC(TSM_ATOMIC(uint32_t) *) published;
static int data;

static void *waits(void *arg)
{
    TSM_ATOMIC(uint32_t) *word = malloc(sizeof(*word));

    (void) arg;
    tsm_store(word, WAITING, TSM_RELAXED);
    tsm_store(&published, word, TSM_RELEASE);
    tsm_wait_word(word, WAITING, PARKED, TSM_WAIT_PARK);
    assert(data == 1);
    free((void *) word);
    return NULL;
}

static void *wakes(void *arg)
{
    TSM_ATOMIC(uint32_t) *word;

    (void) arg;
    tsm_wait_until((word = tsm_load(&published, TSM_ACQUIRE)) != NULL, TSM_WAIT_POLL);
    data = 1;
    tsm_wake_word(word, DONE, PARKED);
    return NULL;
}

int main(void)
{
    client_team(2, (void *(*const[])(void *)) { waits, wakes });
    return 0;
}
