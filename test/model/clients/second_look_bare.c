/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Posts with SWP as tsm_second_look.h says, without a fence and a look before the try: with a lock
 * whose try and release are seq_cst the state's own orders are enough. See client_look.h. */

#include "client.h"
#include "tsm_wait.h"

#define LOOK_LOCK bare
#define LOOK_FENCE() ((void) 0)
#define LOOK_POSTS posts

typedef struct tsm_bare {
    TSM_ATOMIC(int) word;
} tsm_bare_t;

static inline int tsm_bare_try(tsm_bare_t *bare)
{
    int seen = tsm_load(&bare->word, TSM_SEQ_CST);

    return seen == 0 && tsm_cas(&bare->word, &seen, 1, TSM_ACQUIRE, TSM_RELAXED);
}

static inline void tsm_bare_acquire(tsm_bare_t *bare)
{
    tsm_wait_until(tsm_bare_try(bare), TSM_WAIT_POLL);
}

static inline void tsm_bare_release(tsm_bare_t *bare)
{
    tsm_swap(&bare->word, 0, TSM_SEQ_CST);
}

static void *posts(void *arg);

#include "client_look_swp.h"

static void *posts(void *arg)
{
    push((int) (intptr_t) arg);
    tsm_second_look_tell(&look);
    if (tsm_bare_try(&lock) && turn())
        help();
    return NULL;
}
