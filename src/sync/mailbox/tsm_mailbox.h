/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * A mailbox: a bounded FIFO queue of small messages with many senders and one receiver. Each message
 * has one cache line. It replaces the message hardware for which the delegation algorithms of the
 * thesis are written.
 *
 * Source:     thesis on communication and synchronization on manycore processors, section 6.2.1
 *             (what the hardware queue of the TILE-Gx does) and 6.3 (a full queue delays the sender
 *             and nothing is dropped). The ring with a round number in each slot is D. Vyukov's
 *             bounded queue; we added that the receiver parks on the slot that it waits for.
 * Threads:    any number of senders, which may come and go; one receiver at a time, which may
 *             change if a release-acquire edge lies between. Fewer than 2^29 rounds' worth of
 *             blocked senders. The swap to FULL is a sender's last access: the receiver of the
 *             message may free the mailbox if no other message is on its way. Blocked senders share
 *             slots, so they yield but do not park.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_MAILBOX_H_INCLUDED
#define TSM_MAILBOX_H_INCLUDED

#include <assert.h>
#include <stdint.h>

#include "../tsm_atomic.h"
#include "../tsm_wait.h"

/* Most 64-bit words of one message: with the state they fill a line. */
#define TSM_MAILBOX_WORDS 7

/* Pauses between two looks of a blocked sender, for each round before its own. */
#define TSM_MAILBOX_PAUSES 8

/* The low two bits of a slot's state; above them is the round. */
#define TSM_MAILBOX_EMPTY  0u
#define TSM_MAILBOX_PARKED 1u
#define TSM_MAILBOX_FULL   2u

typedef struct tsm_mailbox_slot {
    TSM_ATOMIC(uint32_t) state;
    _Alignas(8) uint64_t word[TSM_MAILBOX_WORDS];       /* also where 4 would do */
} tsm_mailbox_slot_t;

_Static_assert(sizeof(tsm_mailbox_slot_t) == TSM_CACHELINE, "one message is one line");

typedef struct tsm_mailbox {
    TSM_ATOMIC(uint64_t) tail;                          /* senders write here ... */
    char pad[TSM_CACHELINE - sizeof(uint64_t)];
    tsm_mailbox_slot_t *slot;                           /* ... no thread here after init ... */
    uint64_t mask;
    uint32_t shift;
    char pad2[TSM_CACHELINE - sizeof(void *) - sizeof(uint64_t) - sizeof(uint32_t)];
    TSM_ATOMIC(uint64_t) head;                          /* ... the receiver here */
} tsm_mailbox_t;

/* The ticket that the receiver takes next; for the receiver. */
static inline uint64_t tsm_mailbox_head_(const tsm_mailbox_t *box)
{
    return tsm_load(&box->head, TSM_RELAXED);
}

/* Returns the state of the ticket's slot that means `what` for that ticket. */
static inline uint32_t tsm_mailbox_state_(const tsm_mailbox_t *box, uint64_t ticket, uint32_t what)
{
    return (uint32_t) (ticket >> box->shift) << 2 | what;
}

static inline tsm_mailbox_slot_t *tsm_mailbox_slot_(const tsm_mailbox_t *box, uint64_t ticket)
{
    return &box->slot[ticket & box->mask];
}

/* Make an empty mailbox of `capacity` messages, a power of two from 1 to 2^30, in the caller's
 * memory, which must stay as long as the mailbox is used; align it to TSM_CACHELINE for speed. One
 * thread, before any use. The mailbox may not be moved or copied. */
static inline void tsm_mailbox_init(tsm_mailbox_t *box, tsm_mailbox_slot_t *slot, uint32_t capacity)
{
    assert(capacity >= 1 && capacity <= 1u << 30 && (capacity & (capacity - 1)) == 0 &&
           "tsm_mailbox: the capacity must be a power of two");
    tsm_store(&box->tail, 0, TSM_RELAXED);
    tsm_store(&box->head, 0, TSM_RELAXED);
    box->slot = slot;
    box->mask = capacity - 1;
    box->shift = (uint32_t) __builtin_ctz(capacity);
    for (uint32_t i = 0; i < capacity; i++)
        tsm_store(&slot[i].state, TSM_MAILBOX_EMPTY, TSM_RELAXED);
}

/* May the owner of this ticket fill its slot? Returns in *weight the pauses before the next look. */
static inline int tsm_mailbox_free_(const tsm_mailbox_t *box, uint64_t ticket, uint32_t *weight)
{
    uint32_t empty = tsm_mailbox_state_(box, ticket, TSM_MAILBOX_EMPTY);
    uint32_t seen = tsm_load(&tsm_mailbox_slot_(box, ticket)->state, TSM_ACQUIRE);
    uint32_t rounds = (empty - (seen & ~3u)) >> 2;

    *weight = rounds * TSM_MAILBOX_PAUSES;
    return seen == empty || seen == (empty | TSM_MAILBOX_PARKED);
}

/* Fill the slot, which is ours, and wake the receiver if it sleeps on it. */
static inline void tsm_mailbox_put_(tsm_mailbox_t *box, uint64_t ticket, const uint64_t *words,
                                    uint32_t n)
{
    tsm_mailbox_slot_t *slot = tsm_mailbox_slot_(box, ticket);
    uint32_t full = tsm_mailbox_state_(box, ticket, TSM_MAILBOX_FULL);
    uint32_t parked = tsm_mailbox_state_(box, ticket, TSM_MAILBOX_PARKED);

    assert(n <= TSM_MAILBOX_WORDS && "tsm_mailbox: the message is too long");
    for (uint32_t i = 0; i < n; i++)
        slot->word[i] = words[i];
    /* from here on the receiver may free the mailbox */
    tsm_wake_word(&slot->state, full, parked);
}

/* Copy out the oldest message, which is FULL, and give its slot to the next round. */
static inline void tsm_mailbox_take_(tsm_mailbox_t *box, uint64_t *words, uint32_t n)
{
    uint64_t head = tsm_mailbox_head_(box);
    uint64_t again = head + box->mask + 1;
    tsm_mailbox_slot_t *slot = tsm_mailbox_slot_(box, head);

    assert(n <= TSM_MAILBOX_WORDS && "tsm_mailbox: the message is too long");
    assert(tsm_load(&slot->state, TSM_RELAXED) ==
           tsm_mailbox_state_(box, head, TSM_MAILBOX_FULL) && "tsm_mailbox: two receivers at once");
    for (uint32_t i = 0; i < n; i++)
        words[i] = slot->word[i];
    tsm_store(&box->head, head + 1, TSM_RELEASE);
    tsm_store(&slot->state, tsm_mailbox_state_(box, again, TSM_MAILBOX_EMPTY), TSM_RELEASE);
}

/* The first half of a send: take a ticket. The caller must fill the slot, and hides later messages
 * until it has. */
static inline uint64_t tsm_mailbox_ticket_(tsm_mailbox_t *box)
{
    return tsm_fetch_add(&box->tail, 1, TSM_SEQ_CST);
}

/* Append a message of n words; receivers must ask for no more than were sent. Any thread; blocks
 * while the mailbox is full; FIFO. */
static inline void tsm_mailbox_send(tsm_mailbox_t *box, const uint64_t *words, uint32_t n)
{
    uint64_t ticket = tsm_mailbox_ticket_(box);
    uint32_t weight = 0;

    tsm_wait_until_weighted(tsm_mailbox_free_(box, ticket, &weight), weight, TSM_WAIT_POLL);
    tsm_mailbox_put_(box, ticket, words, n);
}

/* As tsm_mailbox_send, but returns 0 instead of waiting if the mailbox is full or another sender was
 * faster; else 1. Any thread; bounded: two loads, one compare-and-swap. */
static inline int tsm_mailbox_try_send(tsm_mailbox_t *box, const uint64_t *words, uint32_t n)
{
    uint64_t ticket = tsm_load(&box->tail, TSM_RELAXED);
    uint32_t weight;

    /* the slot is free and no thread has the ticket: if the ticket becomes ours, so does the slot */
    if (!tsm_mailbox_free_(box, ticket, &weight))
        return 0;
    if (!tsm_cas(&box->tail, &ticket, ticket + 1, TSM_SEQ_CST, TSM_RELAXED))
        return 0;
    tsm_mailbox_put_(box, ticket, words, n);
    return 1;
}

/* 0 if a receive would find a message now, else 1. A message that is still being written hides
 * those behind it. Receiver only; one load. */
static inline int tsm_mailbox_is_empty(const tsm_mailbox_t *box)
{
    uint64_t head = tsm_mailbox_head_(box);
    uint32_t full = tsm_mailbox_state_(box, head, TSM_MAILBOX_FULL);

    return tsm_load(&tsm_mailbox_slot_(box, head)->state, TSM_RELAXED) != full;
}

/* How many messages are in the mailbox or on their way into it; exact for the receiver. Any thread;
 * to others, messages that are received meanwhile may still count. After a write of X, seq_cst, it
 * counts every message that is not received and whose sender does not then read the new X. A message
 * that it does not count because it was received has been copied out, and so have those before it. */
static inline uint64_t tsm_mailbox_length(const tsm_mailbox_t *box)
{
    /* first and acquire: the tail that is loaded then is not below it */
    uint64_t head = tsm_load(&box->head, TSM_ACQUIRE);

    return tsm_load(&box->tail, TSM_SEQ_CST) - head;
}

/* 1 if there is none, else 0; likewise. */
static inline int tsm_mailbox_is_idle(const tsm_mailbox_t *box)
{
    return tsm_mailbox_length(box) == 0;
}

/* Receive the first n words of the oldest message. Receiver only; blocks, and may park, until there
 * is one. */
static inline void tsm_mailbox_receive(tsm_mailbox_t *box, uint64_t *words, uint32_t n)
{
    uint64_t head = tsm_mailbox_head_(box);

    tsm_wait_word(&tsm_mailbox_slot_(box, head)->state,
                  tsm_mailbox_state_(box, head, TSM_MAILBOX_EMPTY),
                  tsm_mailbox_state_(box, head, TSM_MAILBOX_PARKED), TSM_WAIT_PARK);
    tsm_mailbox_take_(box, words, n);
}

/* As tsm_mailbox_receive, but returns 0 instead of waiting; else 1. Receiver only; bounded. */
static inline int tsm_mailbox_try_receive(tsm_mailbox_t *box, uint64_t *words, uint32_t n)
{
    uint64_t head = tsm_mailbox_head_(box);
    uint32_t full = tsm_mailbox_state_(box, head, TSM_MAILBOX_FULL);

    if (tsm_load(&tsm_mailbox_slot_(box, head)->state, TSM_ACQUIRE) != full)
        return 0;
    tsm_mailbox_take_(box, words, n);
    return 1;
}

/*
 * Invariants: (1) ticket t belongs to slot t modulo the capacity and to round t / capacity.
 *             (2) A slot's state is its round and one of EMPTY, PARKED, FULL. Only the owner of the
 *             ticket turns EMPTY or PARKED into FULL; only the receiver turns EMPTY into PARKED
 *             (asleep, or about to be) and FULL into EMPTY of the next round. (3) The words of a
 *             slot belong to the owner of the ticket until it is FULL, then to the receiver until
 *             it is EMPTY. (4) head <= tail <= head + capacity + blocked senders.
 * Progress:   send is wait-free while there is room, else blocking; FIFO in the order of the
 *             fetch-and-add of tail. try_send and try_receive are bounded. receive is blocking. A
 *             sender between its ticket and FULL hides the messages behind it, as a message in the
 *             network would: they are delayed, not lost.
 *
 *   release                                acquire
 *   send: swap of the state to FULL, in    receive: end of tsm_wait_word; try_receive: load of the
 *     tsm_wake_word                          state that finds FULL (the words)
 *   receive: store of EMPTY, next round    send, try_send: load of the state that finds EMPTY or
 *                                            PARKED of its round (the words are read)
 *   receive: store of head                 length, is_idle: load of head (a tail that is not below;
 *                                            what the receiver did before)
 *   tail only hands out tickets. A send that happens before another one gets the lower ticket,
 *   because both modify the same word. Its accesses are seq_cst for callers of length and is_idle
 *   alone. head is atomic for them, too; it is one receiver's at a time. length: the receiver has
 *   acquired the tail's increase for each message before it stores the head behind it.
 */

#endif /* TSM_MAILBOX_H_INCLUDED */
