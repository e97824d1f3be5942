/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The doorbell: a server that sleeps without a limit, and never for good. Two posts; each rings. */

#include "client.h"
#include "tsm_bell.h"

#define RINGERS 2

CLIENT_SYMMETRIC;

static tsm_bell_t bell;
static TSM_ATOMIC(uint32_t) posted;
static int data[RINGERS];

static void serve(void)
{
    while (tsm_load(&posted, TSM_ACQUIRE) != RINGERS) {
        uint32_t seen = tsm_load(&posted, TSM_SEQ_CST);
        tsm_bell_arm(&bell);
        if (tsm_load(&posted, TSM_SEQ_CST) == seen && seen != RINGERS)
            tsm_bell_sleep(&bell, 1000000);
        tsm_bell_disarm(&bell);
    }
    assert(data[0] == 1 && data[1] == 1);
}

static void *post(void *arg)
{
    int id = (int) (intptr_t) arg;

    data[id] = 1;
    tsm_fetch_add(&posted, 1, TSM_SEQ_CST);
    tsm_bell_ring(&bell);
    return NULL;
}

int main(void)
{
    pthread_t thread[RINGERS];

    tsm_bell_init(&bell);
    for (intptr_t i = 0; i < RINGERS; i++) {
        int rc = pthread_create(&thread[i], NULL, post, (void *) i);
        assert(rc == 0);
        (void) rc;
    }
    serve();
    for (int i = 0; i < RINGERS; i++) {
        int rc = pthread_join(thread[i], NULL);
        assert(rc == 0);
        (void) rc;
    }
    return 0;
}
