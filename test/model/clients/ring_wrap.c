/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Ring that is full at the start: a producer gets a slot only when the consumer has given one back,
 * and writes it while the consumer may still look at the other ones. Two producers that share a
 * view, so that what one has seen of the consumer serves the other. At the end the ring has all
 * messages that were not taken, in order. */

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
static int next[3];             /* of the two producers, and of main */
static int sent[2];

static int try_send(int producer, int number)
{
    uint64_t position;
    message_t *message = (message_t *) tsm_ring_claim(&writer, &position);

    if (message == NULL)
        return 0;
    message->producer = producer;
    message->number = number;
    tsm_ring_publish(&message->slot, position);
    return 1;
}

/* Until it has sent two; enumerated: tries twice. */
static void *produces(void *arg)
{
    int me = (int) (intptr_t) arg;

    for (int i = 0; client_pick(sent[me], i) < 2; i++) {
        if (try_send(me, sent[me]))
            sent[me]++;
        else
            sched_yield();
    }
    return NULL;
}

static message_t *take(void)
{
    message_t *message = (message_t *) tsm_ring_take(&reader);

    if (message)
        assert(message->number == next[message->producer]++);
    return message;
}

/* The two oldest together, then one by one; these are there already. Both of the two stay until
 * the last one is given back. */
static void *consumes(void *arg)
{
    message_t *first = take(), *second = take();

    (void) arg;
    tsm_ring_give_back(&reader);
    assert(first->number == 0 && second->number == 1);
    tsm_ring_give_back(&reader);
    for (int i = 2; i < client_pick(SLOTS, 3); i++) {
        assert(take());
        tsm_ring_give_back(&reader);
    }
    return NULL;
}

static void *(*const bodies[])(void *) = { produces, produces, consumes };

int main(void)
{
    tsm_ring_init(&memory.ring, SLOTS, sizeof(message_t));
    tsm_ring_writer_init(&writer, &memory.ring, SLOTS, sizeof(message_t));
    tsm_ring_reader_init(&reader, &memory.ring, SLOTS, sizeof(message_t));
    for (int i = 0; i < SLOTS; i++)
        assert(try_send(2, i));
    assert(!try_send(2, SLOTS) && tsm_ring_is_full(&writer));
    client_team(3, bodies);
    while (take())
        tsm_ring_give_back(&reader);
    assert(next[2] == SLOTS && next[0] == sent[0] && next[1] == sent[1]);
    return 0;
}
