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
 * whether that has become faster. What counts is the sender's time and the receiver's, which the
 * receiver leaves in the cell: data past the caches leaves fast, and is fetched slowly.
 *
 *   MPIDI_POSIX_ring_way_of       what is known of a receiver and size
 *   MPIDI_POSIX_ring_way_choose   how the next copy goes: 1: past the caches; *timed: by both sides,
 *                                 if it can be: only one is timed at a time
 *   MPIDI_POSIX_ring_way_sent     what was copied in that way is on its way
 *   MPIDI_POSIX_ring_way_end      the cell of the timed copy has come back
 *
 * By the sender, with the VCI held. */

#include <stddef.h>
#include <stdint.h>

/* The least data that is worth it. */
#define MPIDI_POSIX_RING_WAY_LEAST 4096

/* Classes of sizes: each twice the one before. */
#define MPIDI_POSIX_RING_WAY_SIZES 5

/* After so many copies the next that can be timed is, and goes the other way. Cells come back many at a
 * time, so the time of one may be waited for during as many copies: what is due stays so. Between two
 * that go the other way, one that does not is timed. */
#define MPIDI_POSIX_RING_WAY_TIMED 16
#define MPIDI_POSIX_RING_WAY_OTHER 128

/* Of one receiver and class. */
typedef struct MPIDI_POSIX_ring_way {
    uint32_t ns[2];             /* of a copy, lately; of one past the caches. 0: not known */
    uint32_t untimed;           /* copies since one was timed */
    uint32_t same;              /* since one was timed that went the other way */
    int was_other;              /* that was the last one timed */
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

static inline int MPIDI_POSIX_ring_way_is_away(const MPIDI_POSIX_ring_way_t * way)
{
    return way->ns[1] < way->ns[0];
}

/* can_time: none is being timed. */
static inline int MPIDI_POSIX_ring_way_choose(const MPIDI_POSIX_ring_way_t * way, int can_time,
                                              int *timed)
{
    const int is_away = MPIDI_POSIX_ring_way_is_away(way);

    *timed = can_time;
    if (!way->ns[0] || !way->ns[1])
        return way->ns[0] && can_time;
    if (can_time && way->same >= MPIDI_POSIX_RING_WAY_OTHER && !way->was_other)
        return !is_away;
    *timed = can_time && way->untimed >= MPIDI_POSIX_RING_WAY_TIMED;
    return is_away;
}

/* Not before it is sent: a message that waits is tried often. */
static inline void MPIDI_POSIX_ring_way_sent(MPIDI_POSIX_ring_way_t * way, int away, int timed)
{
    const int is_other = away != MPIDI_POSIX_ring_way_is_away(way);

    way->untimed = timed ? 0 : way->untimed + 1;
    way->same = timed && is_other ? 0 : way->same + 1;
    if (timed)
        way->was_other = is_other;
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
