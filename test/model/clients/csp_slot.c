/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The slots of a user (src/casper/csp_send.c): the user takes one, fills it and hands it on; two
 * receivers take the data out and free it. Fewer slots than messages, so each is used again. Data is
 * plain memory, so a slot must be empty before it is filled again. */

#include "client.h"
#include "queue/tsm_slots.h"

#include <sched.h>

#define SLOTS     2
#define RECEIVERS 2

static tsm_slots_t slots;
static int slot[SLOTS];
static TSM_ATOMIC(uint32_t) sent[RECEIVERS];    /* message and slot + 1; 0: none */

static uint32_t messages(void)
{
    return client_pick(2, 1);
}

static void send(int receiver, uint32_t message)
{
    int mine;

    while ((mine = tsm_slots_take(&slots)) < 0)
        sched_yield();
    slot[mine] = (int) message;
    while (tsm_load(&sent[receiver], TSM_ACQUIRE))
        sched_yield();
    tsm_store(&sent[receiver], message << 8 | (uint32_t) (mine + 1), TSM_RELEASE);
}

static void *user(void *arg)
{
    (void) arg;
    send(0, 1);
    send(1, 1);
    if (messages() == 2)
        send(1, 2);
    send(0, 2);
    return NULL;
}

static void *receiver(void *arg)
{
    int me = (int) (intptr_t) arg;

    for (uint32_t i = 1, n = me == 0 ? 2 : messages(); i <= n; i++) {
        uint32_t word;
        while ((word = tsm_load(&sent[me], TSM_ACQUIRE)) == 0)
            sched_yield();
        uint64_t mine = (word & 255) - 1;
        assert(word >> 8 == i && slot[mine] == (int) i);
        client_scribble(&slot[mine]);
        tsm_store(&sent[me], 0, TSM_RELAXED);
        tsm_slots_free(&slots, mine);
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { receiver, receiver, user };

int main(void)
{
    tsm_slots_init(&slots, SLOTS);
    client_team(3, bodies);
    assert(tsm_slots_take(&slots) == 0 && tsm_slots_take(&slots) == 1 && tsm_slots_take(&slots) < 0);
    return 0;
}
