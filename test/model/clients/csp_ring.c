/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The ring of posts of a user (src/casper/csp_node.h): the user writes, and who holds the desk reads,
 * here one of two that take the desk in turn by a CAS, as a ghost and a helping user do. Fewer entries
 * than posts, so the writer waits for room. Each post comes once, in order, and is complete. */

#include "client.h"
#include "queue/tsm_spsc.h"

#include <sched.h>

#define ENTRIES 2

CLIENT_SYMMETRIC;

static tsm_spsc_t ring;
static TSM_ATOMIC(uint32_t) desk;
static int entry[ENTRIES];
static int taken;               /* posts; of who holds the desk */

static int posts(void)
{
    return client_pick(4, 3);
}

static void *user(void *arg)
{
    (void) arg;
    for (int i = 1; i <= posts(); i++) {
        while (!tsm_spsc_has_room(&ring, ENTRIES))
            sched_yield();
        entry[tsm_spsc_write(&ring, ENTRIES)] = i;
        tsm_spsc_publish(&ring);
    }
    return NULL;
}

/* At the desk. Returns 1 when all posts have come. */
static int serve(void)
{
    if (tsm_spsc_has_entry(&ring)) {
        int *post = &entry[tsm_spsc_read(&ring, ENTRIES)];
        assert(*post == taken + 1);
        taken++;
        client_scribble(post);
        tsm_spsc_release(&ring);
    }
    return taken == posts();
}

static void *reader(void *arg)
{
    int is_done = 0;

    (void) arg;
    while (!is_done) {
        uint32_t is_free = 0;
        if (tsm_cas(&desk, &is_free, 1, TSM_ACQUIRE, TSM_RELAXED)) {
            is_done = serve();
            tsm_store(&desk, 0, TSM_RELEASE);
        }
        if (!is_done)
            sched_yield();
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { reader, reader, user };

int main(void)
{
    client_team(3, bodies);
    assert(taken == posts() && !tsm_spsc_has_entry(&ring));
    return 0;
}
