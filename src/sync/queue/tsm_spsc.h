/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The indexes of a ring in shared memory with one writer and one reader at a time; the entries are
 * the caller's, and so is their number, a power of 2. Each index is written by one side, and counts
 * entries. A side that stops keeps the other one from nothing but the ring.
 *
 * Interface:  tsm_spsc_has_room()    room for one more entry? The writer
 *             tsm_spsc_write()       number of the entry to fill in; there is room. The writer
 *             tsm_spsc_publish()     it is filled in. The writer
 *             tsm_spsc_has_entry()   is there an entry? The reader
 *             tsm_spsc_read()        number of the entry to read; there is one. The reader
 *             tsm_spsc_release()     it has been read and may be filled in again. The reader
 *
 * Source:     L. Lamport, "Proving the Correctness of Multiprocess Programs", IEEE TSE 3(2), 1977.
 * Invariants: read <= written <= read + entries.
 * Progress:   wait-free.
 * Threads:    one writer and one reader; each may change if a lock lies between.
 *
 *   release                            acquire
 *   publish: store of written          has_entry: load of it (the entry is filled in)
 *   release: store of read             has_room: load of it (the entry has been read)
 *   publish and has_entry are seq_cst for a bell (tsm_bell.h): the reader arms it and then looks, the
 *   writer publishes and then looks at the bell, so one of the two sees the other
 */

#ifndef TSM_SPSC_H_INCLUDED
#define TSM_SPSC_H_INCLUDED

#include "../tsm_atomic.h"

/* Zeros: empty. */
typedef struct tsm_spsc {
    TSM_ATOMIC(uint64_t) written TSM_ALIGNED;
    TSM_ATOMIC(uint64_t) read TSM_ALIGNED;
} tsm_spsc_t;

static inline int tsm_spsc_has_room(tsm_spsc_t *ring, uint64_t entries)
{
    return tsm_load(&ring->written, TSM_RELAXED) - tsm_load(&ring->read, TSM_ACQUIRE) < entries;
}

static inline int tsm_spsc_write(tsm_spsc_t *ring, uint64_t entries)
{
    return (int) (tsm_load(&ring->written, TSM_RELAXED) % entries);
}

static inline void tsm_spsc_publish(tsm_spsc_t *ring)
{
    tsm_store(&ring->written, tsm_load(&ring->written, TSM_RELAXED) + 1, TSM_SEQ_CST);
}

static inline int tsm_spsc_has_entry(tsm_spsc_t *ring)
{
    return tsm_load(&ring->written, TSM_SEQ_CST) != tsm_load(&ring->read, TSM_RELAXED);
}

static inline int tsm_spsc_read(tsm_spsc_t *ring, uint64_t entries)
{
    return (int) (tsm_load(&ring->read, TSM_RELAXED) % entries);
}

static inline void tsm_spsc_release(tsm_spsc_t *ring)
{
    tsm_store(&ring->read, tsm_load(&ring->read, TSM_RELAXED) + 1, TSM_RELEASE);
}

#endif /* TSM_SPSC_H_INCLUDED */
