/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The ring of posts of a user and the bell of its ghost (src/casper/csp_node.h): the ghost arms the
 * bell, looks for posts and sleeps without a limit; it must wake for each post. */

#include "client.h"
#include "queue/tsm_spsc.h"
#include "tsm_bell.h"

#define ENTRIES 2
#define POSTS   2

static tsm_spsc_t ring;
static tsm_bell_t bell;
static int entry[ENTRIES];

static void *user(void *arg)
{
    (void) arg;
    for (int i = 1; i <= POSTS; i++) {
        assert(tsm_spsc_has_room(&ring, ENTRIES));
        entry[tsm_spsc_write(&ring, ENTRIES)] = i;
        tsm_spsc_publish(&ring);
        tsm_bell_ring(&bell);
    }
    return NULL;
}

static void *ghost(void *arg)
{
    (void) arg;
    for (int taken = 0; taken < POSTS;) {
        tsm_bell_arm(&bell);
        if (!tsm_spsc_has_entry(&ring))
            tsm_bell_sleep(&bell, 1000000);
        tsm_bell_disarm(&bell);
        while (tsm_spsc_has_entry(&ring)) {
            assert(entry[tsm_spsc_read(&ring, ENTRIES)] == ++taken);
            tsm_spsc_release(&ring);
        }
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { user, ghost };

int main(void)
{
    tsm_bell_init(&bell);
    client_team(2, bodies);
    return 0;
}
