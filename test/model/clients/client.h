/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What the clients share. A client is a C11 program with a handful of threads and bounded loops;
 * its main returns 0, and an error is a failed assert(), or a data race, a deadlock or an endless
 * loop, which only a checker can see: ../sched, or another one. Started alone it runs once. Plain
 * variables are meant to be plain: the algorithm must order their accesses. */

#ifndef CLIENT_H_INCLUDED
#define CLIENT_H_INCLUDED

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client_load.h"

/* The enumeration sets the first one; a client that is too long for it may do less then. A client
 * defines the second if threads with the same body differ only in names: one order of their starts
 * then covers all. */
#ifdef TSM_MODEL
extern int model_enumerates;
#define CLIENT_SYMMETRIC const int model_symmetric = 1
#else
#define model_enumerates 0
#define CLIENT_SYMMETRIC extern int client_symmetric_unused
#endif
#define client_pick(sampled_, enumerated_) (model_enumerates ? (enumerated_) : (sampled_))

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

/* The memory is the caller's alone: no other thread touches it from here on. */
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
