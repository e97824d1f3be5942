/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Mailbox: what is_idle and length promise to a thread that is not the receiver. A producer sends and
 * checks whether the door is closed; another thread closes it and checks whether the mailbox is idle:
 * one of the two must notice. A thread that finds the mailbox idle knows that the last receive, and
 * all before it, is over. No thread counts more messages than were ever sent. */

#include "client.h"
#include "mailbox/tsm_mailbox.h"

static tsm_mailbox_t box;
static tsm_mailbox_slot_t slot[2];
static TSM_ATOMIC(int) closed;
static TSM_ATOMIC(int) receives_begun;
static int missed, found_idle, found_begun;

static void *sends(void *arg)
{
    uint64_t late = 2;

    (void) arg;
    tsm_mailbox_send(&box, &late, 1);
    missed = !tsm_load(&closed, TSM_SEQ_CST);
    return NULL;
}

static void *receives(void *arg)
{
    uint64_t word = 0;

    (void) arg;
    tsm_store(&receives_begun, 1, TSM_RELAXED);
    tsm_mailbox_receive(&box, &word, 1);
    assert(word == 1);
    tsm_store(&receives_begun, 2, TSM_RELAXED);
    if (tsm_mailbox_try_receive(&box, &word, 1))
        assert(word == 2);
    return NULL;
}

static void *closes(void *arg)
{
    uint64_t length;

    (void) arg;
    tsm_store(&closed, 1, TSM_SEQ_CST);
    length = tsm_mailbox_length(&box);
    assert(length <= 2);
    found_idle = length == 0;
    found_begun = tsm_load(&receives_begun, TSM_RELAXED);
    assert(!found_idle || found_begun >= 1);
    return NULL;
}

static void *(*const bodies[])(void *) = { sends, receives, closes };

int main(void)
{
    uint64_t early = 1;

    tsm_mailbox_init(&box, slot, 2);
    tsm_mailbox_send(&box, &early, 1);
    client_team(3, bodies);
    assert(!(missed && found_idle) || found_begun == 2);
    return 0;
}
