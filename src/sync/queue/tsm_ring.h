/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * A ring of slots in memory that processes may share: many producers, one consumer, FIFO. A slot
 * carries its message, so a message moves the lines that it fills and no others: no list of free
 * cells, no pointer to follow. The next message lies behind the last one, where the processor
 * fetches ahead.
 *
 * Interface:  tsm_ring_size(), tsm_ring_init()   the memory, by the process that receives
 *             tsm_ring_writer_init()             a process's view of a ring that it sends to
 *             tsm_ring_claim(), _publish()       producer: take a slot, fill it, hand it over
 *             tsm_ring_is_full()                 a hint, before work that needs a slot
 *             tsm_ring_fetch_ahead()             a hint, before the next claims
 *             tsm_ring_reader_init()             the consumer's view
 *             tsm_ring_take(), _give_back()      consumer: the oldest message; done with it
 *             tsm_ring_look(), _take_seen()      consumer: take, in two steps
 *
 * Source:     D. Vyukov, "Bounded MPMC queue", 1024cores: a turn in each slot says whose it is.
 *             Here the consumer does not write slots: it publishes how far it has come once for an
 *             eighth of the ring, so a message costs no line for its slot's return. The papers of
 *             this project have no queue between processes.
 * Threads:    any number of producers, in any process that maps the memory. One consumer at a time;
 *             it may change if a lock lies between. Views hold addresses, the shared part does not,
 *             so each process may map it elsewhere.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_RING_H_INCLUDED
#define TSM_RING_H_INCLUDED

#include <stddef.h>

#include "../tsm_atomic.h"

/* What a slot begins with; the rest is the caller's. */
typedef struct tsm_ring_slot {
    TSM_ATOMIC(uint32_t) turn;          /* its message's position + 1, once that is complete */
} tsm_ring_slot_t;

/* The shared part; the slots follow. Begins a cache line. */
typedef struct tsm_ring {
    TSM_ATOMIC(uint64_t) tail;          /* the next position to claim; producers write it */
    char pad1[TSM_CACHELINE - sizeof(uint64_t)];
    TSM_ATOMIC(uint64_t) head;          /* positions below are given back; the consumer writes it */
    char pad2[TSM_CACHELINE - sizeof(uint64_t)];
} tsm_ring_t;

/* A process's view of a ring that it sends to; all its threads use one. */
typedef struct tsm_ring_writer {
    tsm_ring_t *ring;                   /* this and the next two do not change */
    uint32_t slots;
    uint32_t slot_size;
    TSM_ATOMIC(uint64_t) head;          /* as last read from the ring */
} tsm_ring_writer_t;

/* The consumer's view. */
typedef struct tsm_ring_reader {
    tsm_ring_t *ring;
    uint32_t slots;
    uint32_t slot_size;
    uint32_t open;                      /* slots taken and not given back */
    uint64_t next;                      /* position to take */
    uint64_t published;                 /* the ring's head */
} tsm_ring_reader_t;

/* Bytes of a ring. slots: a power of two, 8 at least; slot_size: a multiple of a cache line. */
static inline size_t tsm_ring_size(uint32_t slots, uint32_t slot_size)
{
    return sizeof(tsm_ring_t) + (size_t) slots * slot_size;
}

static inline tsm_ring_slot_t *tsm_ring_slot_(tsm_ring_t *ring, uint32_t slots, uint32_t slot_size,
                                              uint64_t position)
{
    size_t i = (size_t) position & (slots - 1);

    return (tsm_ring_slot_t *) ((char *) (ring + 1) + i * slot_size);
}

/* Make an empty ring. One thread, before any view of it is used. Memory that is all zero, as the kernel
 * gives it, is an empty ring already, and need not be touched. */
static inline void tsm_ring_init(tsm_ring_t *ring, uint32_t slots, uint32_t slot_size)
{
    tsm_store(&ring->tail, 0, TSM_RELAXED);
    tsm_store(&ring->head, 0, TSM_RELAXED);
    for (uint32_t i = 0; i < slots; i++)
        tsm_store(&tsm_ring_slot_(ring, slots, slot_size, i)->turn, 0, TSM_RELAXED);
}

/* At any time. */
static inline void tsm_ring_writer_init(tsm_ring_writer_t *writer, tsm_ring_t *ring, uint32_t slots,
                                        uint32_t slot_size)
{
    writer->ring = ring;
    writer->slots = slots;
    writer->slot_size = slot_size;
    tsm_store(&writer->head, 0, TSM_RELAXED);
}

/* Of an empty ring, before its first message. */
static inline void tsm_ring_reader_init(tsm_ring_reader_t *reader, tsm_ring_t *ring, uint32_t slots,
                                        uint32_t slot_size)
{
    *reader = (tsm_ring_reader_t) {.ring = ring,.slots = slots,.slot_size = slot_size };
}

/* ---- of a producer ---- */

/* A tail that is out of date may be below head: then the caller's claim fails. */
static inline int tsm_ring_has_room_(const tsm_ring_writer_t *writer, uint64_t tail, uint64_t head)
{
    return (int64_t) (tail - head) < (int64_t) writer->slots;
}

static inline int tsm_ring_has_room_at_(tsm_ring_writer_t *writer, uint64_t tail)
{
    uint64_t seen = tsm_load(&writer->head, TSM_ACQUIRE), head;

    if (tsm_ring_has_room_(writer, tail, seen))
        return 1;
    head = tsm_load(&writer->ring->head, TSM_ACQUIRE);
    if (head != seen)
        tsm_store(&writer->head, head, TSM_RELEASE);
    return tsm_ring_has_room_(writer, tail, head);
}

/* 1 if a claim now would fail. Any thread; wait-free. */
static inline int tsm_ring_is_full(tsm_ring_writer_t *writer)
{
    return !tsm_ring_has_room_at_(writer, tsm_load(&writer->ring->tail, TSM_RELAXED));
}

/* Take the next slot and store its position, or return NULL: the ring is full. The slots behind it
 * wait for its publish, so fill it at once. Any thread; lock-free. */
static inline tsm_ring_slot_t *tsm_ring_claim(tsm_ring_writer_t *writer, uint64_t *position)
{
    tsm_ring_t *ring = writer->ring;
    uint64_t tail = tsm_load(&ring->tail, TSM_RELAXED);

    do {
        if (!tsm_ring_has_room_at_(writer, tail))
            return NULL;
    } while (!tsm_cas(&ring->tail, &tail, tail + 1, TSM_RELAXED, TSM_RELAXED));
    *position = tail;
    return tsm_ring_slot_(ring, writer->slots, writer->slot_size, tail);
}

/* Hand over a slot that claim returned with this position; release. Wait-free. */
static inline void tsm_ring_publish(tsm_ring_slot_t *slot, uint64_t position)
{
    tsm_store(&slot->turn, (uint32_t) position + 1, TSM_RELEASE);
}

/* A hint: this process will claim the position soon, and no other one will, so fetch the first lines of
 * its slot now, which the consumer had last. Any position; any thread; wait-free. */
static inline void tsm_ring_fetch_ahead(const tsm_ring_writer_t *writer, uint64_t position, int lines)
{
    const char *slot = (const char *) tsm_ring_slot_(writer->ring, writer->slots, writer->slot_size,
                                                     position);

    for (int i = 0; i < lines; i++)
        tsm_prefetch_write(slot + i * TSM_CACHELINE);
}

/* ---- of the consumer ---- */

/* What take would return. Wait-free; acquire. */
static inline tsm_ring_slot_t *tsm_ring_look(const tsm_ring_reader_t *reader)
{
    tsm_ring_slot_t *slot = tsm_ring_slot_(reader->ring, reader->slots, reader->slot_size,
                                           reader->next);

    return tsm_load(&slot->turn, TSM_ACQUIRE) == (uint32_t) reader->next + 1 ? slot : NULL;
}

/* Take the message that look has returned. Wait-free. */
static inline void tsm_ring_take_seen(tsm_ring_reader_t *reader)
{
    reader->next++;
    reader->open++;
}

/* The oldest message, or NULL if there is none, or its producer is between claim and publish. Another
 * one may be taken before this one is given back, but slots go back only when all of them are: so do
 * not wait for a message while you keep one. Wait-free; acquire. */
static inline tsm_ring_slot_t *tsm_ring_take(tsm_ring_reader_t *reader)
{
    tsm_ring_slot_t *slot = tsm_ring_look(reader);

    if (slot)
        tsm_ring_take_seen(reader);
    return slot;
}

/* Done with a slot that take returned: do not read it any more. In any order. Wait-free. */
static inline void tsm_ring_give_back(tsm_ring_reader_t *reader)
{
    if (--reader->open > 0 || reader->next - reader->published < reader->slots / 8)
        return;
    reader->published = reader->next;
    tsm_store(&reader->ring->head, reader->published, TSM_RELEASE);
}

/*
 * Invariants: (1) head <= every position not given back < tail <= head + slots, so a position has
 *             its slot alone: a producer that claims it has found position - head < slots, and head
 *             only grows. (2) A slot's turn is written by the producer of the position alone; the
 *             turns of one slot differ by `slots`, so the consumer finds its own position + 1 only
 *             when that one is published. (The low 32 bits of a turn come again after 2^32
 *             positions, which is a whole number of rings.) (3) tail is 64 bits wide: it takes no
 *             value twice, so a claim that succeeds has checked the room of its own position.
 * No message is forgotten: a full ring has more than an eighth of its slots not published, and the
 *             consumer publishes when it gives back the last of them at the latest. So a producer
 *             that tries again finds room once the consumer has taken what there is.
 * Progress:   a claim repeats only if another one has succeeded; the other calls are wait-free. A
 *             producer that is stopped between claim and publish hides the messages behind its slot,
 *             and nobody waits for it in a loop.
 *
 *   release                               acquire
 *   publish: store of turn                look, take: load of turn (the slot's contents)
 *   give_back: store of the ring's head   claim: load of the ring's head (the slots before are read)
 *   claim: store of the writer's head     claim: load of the writer's head, by another thread
 */

#endif /* TSM_RING_H_INCLUDED */
