/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_WAY_H_INCLUDED
#define POSIX_EAGER_RING_WAY_H_INCLUDED

/* How long data gets into a cell: by an ordinary copy, or past the caches (tsm_copy.h). Which one is
 * faster depends on where the receiver runs. On an AMD EPYC a message of 64 KB took 3.5 us by ordinary
 * copies and 7 us past the caches while handing over a line took 30 ns, and 18 and 7.5 us while it took
 * 160 ns. So some copies are timed, for each receiver and size, and a few go the other way, to see
 * whether that has become faster. What counts is the sender's time and the receiver's, who leaves his
 * in the cell: data past the caches is got rid of fast, and fetched slowly.
 *
 *   MPIDI_POSIX_ring_way_of       what is known of a receiver and size
 *   MPIDI_POSIX_ring_way_choose   how the next copy goes: 1: past the caches; *timed: by both sides
 *   MPIDI_POSIX_ring_way_end      the cell of the timed copy has come back
 *
 * By the sender, with the VCI held. */

#include <stddef.h>
#include <stdint.h>

/* The least data that is worth it. */
#define MPIDI_POSIX_RING_WAY_LEAST 4096

/* Classes of sizes: each twice the one before. */
#define MPIDI_POSIX_RING_WAY_SIZES 5

/* A copy past the caches has to be faster by this factor. Where the processors are near each other, an
 * ordinary copy among others past the caches took up to 1.7 times as long as among its like, so the
 * wrong way would stay; where they are far apart, the factor was 2 (4 KB) to 5 (64 KB). */
#define MPIDI_POSIX_RING_WAY_FACTOR(ns_) ((uint64_t) (ns_) * 7 / 4)

/* Of so many copies one is timed, and one goes the other way; powers of two. */
#define MPIDI_POSIX_RING_WAY_TIMED 16
#define MPIDI_POSIX_RING_WAY_OTHER 128

/* Of one receiver and class. */
typedef struct MPIDI_POSIX_ring_way {
    uint32_t ns[2];             /* of a copy, lately; of one past the caches. 0: not known */
    uint32_t copies;
} MPIDI_POSIX_ring_way_t;

/* The copy that is timed; one at a time. */
typedef struct MPIDI_POSIX_ring_timing {
    MPIDI_POSIX_ring_way_t *way;
    const uint32_t *theirs;     /* where the receiver leaves its time, before it gives the cell back */
    uint64_t ns;                /* of the sender */
    int away;
} MPIDI_POSIX_ring_timing_t;

typedef struct MPIDI_POSIX_ring_ways {
    MPIDI_POSIX_ring_timing_t timing;
    MPIDI_POSIX_ring_way_t of[][MPIDI_POSIX_RING_WAY_SIZES];    /* [local rank] */
} MPIDI_POSIX_ring_ways_t;

static inline size_t MPIDI_POSIX_ring_ways_size(int num_local)
{
    return sizeof(MPIDI_POSIX_ring_ways_t) +
        (size_t) num_local *MPIDI_POSIX_RING_WAY_SIZES * sizeof(MPIDI_POSIX_ring_way_t);
}

/* size: at least MPIDI_POSIX_RING_WAY_LEAST. */
static inline MPIDI_POSIX_ring_way_t *MPIDI_POSIX_ring_way_of(MPIDI_POSIX_ring_ways_t * ways,
                                                              int local_rank, size_t size)
{
    int i = 0;

    for (size /= 2 * MPIDI_POSIX_RING_WAY_LEAST; size && i < MPIDI_POSIX_RING_WAY_SIZES - 1; size /= 2)
        i++;
    return &ways->of[local_rank][i];
}

static inline int MPIDI_POSIX_ring_way_choose(MPIDI_POSIX_ring_way_t * way, int *timed)
{
    const uint32_t n = way->copies++;
    const int is_faster = MPIDI_POSIX_RING_WAY_FACTOR(way->ns[1]) < way->ns[0];

    *timed = 1;
    if (!way->ns[0] || !way->ns[1])
        return way->ns[0] != 0;
    if (n % MPIDI_POSIX_RING_WAY_OTHER == MPIDI_POSIX_RING_WAY_OTHER - 1)
        return !is_faster;
    *timed = n % MPIDI_POSIX_RING_WAY_TIMED == 0;
    return is_faster;
}

/* A time much longer than the ones before may be that of another thread; a short one is right. */
static inline void MPIDI_POSIX_ring_way_add(uint32_t * ns, uint64_t took)
{
    const uint64_t before = *ns ? *ns : took;
    uint64_t now;

    if (took < before)
        now = (before + took) / 2;
    else if (took < 2 * before)
        now = before + (took - before) / 4;
    else
        now = before + before / 4;
    *ns = (uint32_t) (now < UINT32_MAX ? now : UINT32_MAX);
}

static inline void MPIDI_POSIX_ring_way_end(const MPIDI_POSIX_ring_timing_t * timing)
{
    MPIDI_POSIX_ring_way_add(&timing->way->ns[timing->away], timing->ns + *timing->theirs);
}

#endif /* POSIX_EAGER_RING_WAY_H_INCLUDED */
