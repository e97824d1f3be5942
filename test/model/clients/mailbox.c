/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Mailbox of two slots: two senders, of which one only tries first, and a receiver. The order of
 * each sender is kept, nothing is lost or doubled, and the receiver owns the memory at the end.
 * Enumerated: one slot, one message of each sender. */

#include "client.h"
#include "mailbox/tsm_mailbox.h"


static tsm_mailbox_t box;
static tsm_mailbox_slot_t slot[2];
static int data[2][3];

static void prepare(uint64_t message[2], int sender, int number)
{
    data[sender][number] = number + 1;
    message[0] = (uint64_t) sender;
    message[1] = (uint64_t) number;
}

static void *sends(void *arg)
{
    int me = (int) (intptr_t) arg;
    uint64_t message[2];

    for (int i = 0; i < client_pick(3, 1); i++) {
        prepare(message, me, i);
        tsm_mailbox_send(&box, message, 2);
    }
    return NULL;
}

static void *tries(void *arg)
{
    int me = (int) (intptr_t) arg;
    uint64_t message[2];

    for (int i = 0; i < client_pick(3, 1); i++) {
        prepare(message, me, i);
        if (!tsm_mailbox_try_send(&box, message, 2))
            tsm_mailbox_send(&box, message, 2);
    }
    return NULL;
}

static void *receives(void *arg)
{
    uint64_t message[2];
    int next[2] = { 0, 0 };

    (void) arg;
    for (int i = 0; i < client_pick(6, 2); i++) {
        if (i % 2 || !tsm_mailbox_try_receive(&box, message, 2))
            tsm_mailbox_receive(&box, message, 2);
        assert(message[0] < 2 && (int) message[1] == next[message[0]]++);
        assert(data[message[0]][message[1]] == (int) message[1] + 1);
        data[message[0]][message[1]] = 0;
    }
    assert(tsm_mailbox_is_empty(&box) && tsm_mailbox_is_idle(&box));
    client_scribble(&box);
    client_scribble(&slot);
    return NULL;
}

static void *(*const bodies[])(void *) = { sends, tries, receives };

int main(void)
{
    tsm_mailbox_init(&box, slot, (uint32_t) client_pick(2, 1));
    client_team(3, bodies);
    return 0;
}
