/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Posts with SWP as tsm_second_look.h says, without a fence and without a look before the try: with a
 * lock whose try and release are seq_cst the state's own orders are enough. See client_look.h. */

#include "client.h"
#include "tsm_wait.h"

#define LOOK_ITEMS 2
#define LOOK_FEW 3
#define LOOK_BODIES posts, posts, look_enters, look_tries
#define LOOK_INIT() tsm_store(&word, 0, TSM_RELAXED)
#define LOOK_FENCE() ((void) 0)

static TSM_ATOMIC(int) word;
static void *posts(void *arg);

#include "client_look_swp.h"

static int lock_try(int me)
{
    int seen = tsm_load(&word, TSM_SEQ_CST);

    (void) me;
    return seen == 0 && tsm_cas(&word, &seen, 1, TSM_ACQUIRE, TSM_RELAXED);
}

static void lock_acquire(int me)
{
    tsm_wait_until(lock_try(me), TSM_WAIT_POLL);
}

static void lock_release(int me)
{
    (void) me;
    tsm_swap(&word, 0, TSM_SEQ_CST);
}

static void *posts(void *arg)
{
    int me = (int) (intptr_t) arg;

    push(me);
    tsm_second_look_tell(&look);
    if (lock_try(me) && turn(me))
        help(me);
    return NULL;
}
