/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The desk of a ghost process (src/casper/csp_desk.h): users that wait take posts in place of a ghost
 * that sleeps, and leave to it what only it can do. One user posts without waking the ghost, and
 * waits; another one looks once. Whoever takes the post leaves it to the ghost, which sleeps without
 * a limit and must wake for it. All that belongs to the desk is plain memory. */

#include "client.h"
#include "tsm_bell.h"

#include <sched.h>

static tsm_bell_t bell;
static TSM_ATOMIC(uint32_t) lock, posted, owed, answered;
static int post, taken, left;   /* of who holds the desk; post: published with `posted` */

static int try_desk(void)
{
    uint32_t is_free = 0;

    return tsm_load(&lock, TSM_RELAXED) == 0 &&
        tsm_cas(&lock, &is_free, 1, TSM_ACQUIRE, TSM_RELAXED);
}

static void leave_desk(void)
{
    tsm_store(&lock, 0, TSM_RELEASE);
}

static void help(void)
{
    uint32_t before = tsm_load(&owed, TSM_SEQ_CST);

    if (!try_desk())
        return;
    if (!taken && tsm_load(&posted, TSM_SEQ_CST)) {
        taken = 1;
        left = post;
        tsm_fetch_add(&owed, 1, TSM_SEQ_CST);
    }
    leave_desk();
    if (tsm_load(&owed, TSM_SEQ_CST) != before)
        tsm_bell_ring(&bell);
}

static void *waits(void *arg)
{
    (void) arg;
    post = 7;
    tsm_store(&posted, 1, TSM_SEQ_CST);
    while (!tsm_load(&answered, TSM_ACQUIRE)) {
        help();
        sched_yield();
    }
    assert(left == 0);
    return NULL;
}

static void *looks_once(void *arg)
{
    (void) arg;
    help();
    return NULL;
}

static int serve(uint32_t *before)
{
    int found;

    if (tsm_load(&owed, TSM_SEQ_CST) == *before || !try_desk())
        return 0;
    *before = tsm_load(&owed, TSM_SEQ_CST);
    found = left;
    left = 0;
    leave_desk();
    return found;
}

static void *ghost(void *arg)
{
    uint32_t before = 0;
    int found;

    (void) arg;
    while ((found = serve(&before)) == 0) {
        tsm_bell_arm(&bell);
        if (tsm_load(&owed, TSM_SEQ_CST) == before)
            tsm_bell_sleep(&bell, 1000000);
        tsm_bell_disarm(&bell);
    }
    assert(found == 7);
    tsm_store(&answered, 1, TSM_RELEASE);
    return NULL;
}

static void *(*const bodies[])(void *) = { waits, looks_once, ghost };

int main(void)
{
    tsm_bell_init(&bell);
    client_team(3, bodies);
    return 0;
}
