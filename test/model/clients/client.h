/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What the clients share. A client is a C11 program with a handful of threads and bounded loops;
 * its main returns 0, and whatever is wrong ends in assert() or is a data race, a deadlock or a
 * loop without end, which only a checker can see: ../sched, or one from outside. Started alone it
 * runs once. Plain variables are meant to be plain: the algorithm must order their accesses. */

#ifndef CLIENT_H_INCLUDED
#define CLIENT_H_INCLUDED

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client_load.h"

/* Run each body once, all at the same time, with its own number as the argument. */
static inline void client_team(int n, void *(*const body[])(void *))
{
    pthread_t thread[8];

    for (int i = 0; i < n; i++) {
        int rc = pthread_create(&thread[i], NULL, body[i], (void *) (intptr_t) i);
        assert(rc == 0);
        (void) rc;
    }
    for (int i = 0; i < n; i++) {
        int rc = pthread_join(thread[i], NULL);
        assert(rc == 0);
        (void) rc;
    }
}

/* The memory is the caller's alone: nobody else touches it from here on. */
#define client_scribble(p_) memset((void *) (p_), 0xa5, sizeof(*(p_)))

/* What a lock protects. */
static int client_count;

static inline void client_critical(void)
{
    int seen = client_count;

    assert(seen >= 0);
    client_count = -1;
    client_count = seen + 1;
}

#endif /* CLIENT_H_INCLUDED */
