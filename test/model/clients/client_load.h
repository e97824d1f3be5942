/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The measure of load for clients: it counts no threads; the client sets it. A client that defines
 * CLIENT_LOAD as 0 or 1 before client.h is never or always crowded; with -1 it changes at each call.
 * Without it, it is always crowded. One processor, so that no thread spins, which would only make
 * runs longer. */

#ifndef CLIENT_LOAD_H_INCLUDED
#define CLIENT_LOAD_H_INCLUDED

#define TSM_LOAD_REPLACED 1
#include "tsm_load.h"

#ifndef CLIENT_LOAD
#define CLIENT_LOAD 1
#endif

void tsm_load_touch(void)
{
}

void tsm_load_sleep(int asleep)
{
    (void) asleep;
}

void tsm_load_rest(void)
{
}

int tsm_load_crowded(void)
{
#if CLIENT_LOAD < 0
    static TSM_ATOMIC(int) questions;
    return tsm_fetch_add(&questions, 1, TSM_RELAXED) % 2;
#else
    return CLIENT_LOAD;
#endif
}

int tsm_load_processors(void)
{
    return 1;
}

#endif /* CLIENT_LOAD_H_INCLUDED */
