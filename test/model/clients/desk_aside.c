/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Pairs that are put aside at the desk of a ghost process (src/casper/csp_pair.c): who has copied and
 * finds the desk taken puts the pair aside, without waiting, and the next one at the desk answers. The
 * ghost sits at the desk while two users copy a pair each; then it sleeps without a limit and must wake
 * for what was put aside. Pairs and their data are plain memory. */

#include "client.h"
#include "tsm_bell.h"

#define PAIRS 2

static tsm_bell_t bell;
static TSM_ATOMIC(uint32_t) owed, aside;
static struct {
    uint32_t next;
    int data;
} pair[PAIRS + 1];              /* by number; 0: none */

static void put_aside(uint32_t ref)
{
    uint32_t first = tsm_load(&aside, TSM_RELAXED);

    do {
        pair[ref].next = first;
    } while (!tsm_cas(&aside, &first, ref, TSM_RELEASE, TSM_RELAXED));
    tsm_fetch_add(&owed, 1, TSM_SEQ_CST);
}

static int end_aside(void)
{
    int n = 0;

    if (tsm_load(&aside, TSM_RELAXED) == 0)
        return 0;
    for (uint32_t ref = tsm_swap(&aside, 0, TSM_ACQUIRE); ref; ref = pair[ref].next) {
        assert(pair[ref].data == 7);
        n++;
    }
    return n;
}

static void copy(uint32_t ref)
{
    pair[ref].data = 7;
    put_aside(ref);
    tsm_bell_ring(&bell);
}

static void *user1(void *arg)
{
    (void) arg;
    copy(1);
    return NULL;
}

static void *user2(void *arg)
{
    (void) arg;
    copy(2);
    return NULL;
}

static void *ghost(void *arg)
{
    uint32_t before = 0;
    int ended = 0;

    (void) arg;
    while (ended < PAIRS) {
        tsm_bell_arm(&bell);
        if (tsm_load(&owed, TSM_SEQ_CST) == before)
            tsm_bell_sleep(&bell, 1000000);
        tsm_bell_disarm(&bell);
        before = tsm_load(&owed, TSM_SEQ_CST);
        ended += end_aside();
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { user1, user2, ghost };

int main(void)
{
    tsm_bell_init(&bell);
    client_team(3, bodies);
    return 0;
}
