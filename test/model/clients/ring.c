/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Ring with room for all: two producers that share a view and a consumer, which takes up to two
 * messages before it gives them back. The contents are complete when a message is taken, the order
 * of each producer is kept, nothing is lost or doubled. */

#include "client.h"
#include "queue/tsm_ring.h"

#include <sched.h>

#define SLOTS 8

typedef struct message {
    tsm_ring_slot_t slot;       /* first, so that a slot is its message */
    int producer;
    int number;
    char pad[TSM_CACHELINE - sizeof(tsm_ring_slot_t) - 2 * sizeof(int)];
} message_t;

CLIENT_SYMMETRIC;

static struct {
    tsm_ring_t ring;
    message_t slot[SLOTS];
} memory;
static tsm_ring_writer_t writer;
static tsm_ring_reader_t reader;
static int next[2];

/* Never full: all messages have room. */
static void send(int producer, int number)
{
    uint64_t position;
    message_t *message = (message_t *) tsm_ring_claim(&writer, &position);

    assert(message == &memory.slot[position % SLOTS]);
    message->producer = producer;
    message->number = number;
    tsm_ring_publish(&message->slot, position);
}

static void *produces(void *arg)
{
    for (int i = 0; i < client_pick(3, 2); i++)
        send((int) (intptr_t) arg, i);
    return NULL;
}

static message_t *take(void)
{
    message_t *message = (message_t *) tsm_ring_take(&reader);

    if (message)
        assert(message->number == next[message->producer]++);
    return message;
}

static void *consumes(void *arg)
{
    (void) arg;
    while (next[0] + next[1] < client_pick(6, 4)) {
        message_t *first = take(), *second = first ? take() : NULL;
        if (second) {
            client_scribble(&second->number);
            tsm_ring_give_back(&reader);
        }
        if (first) {
            client_scribble(&first->number);
            tsm_ring_give_back(&reader);
        } else {
            sched_yield();
        }
    }
    assert(tsm_ring_take(&reader) == NULL);
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, produces, consumes };

int main(void)
{
    tsm_ring_init(&memory.ring, SLOTS, sizeof(message_t));
    tsm_ring_writer_init(&writer, &memory.ring, SLOTS, sizeof(message_t));
    tsm_ring_reader_init(&reader, &memory.ring, SLOTS, sizeof(message_t));
    client_team(3, bodies);
    assert(!tsm_ring_is_full(&writer));
    return 0;
}
