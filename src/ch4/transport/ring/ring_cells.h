/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_CELLS_H_INCLUDED
#define POSIX_EAGER_RING_CELLS_H_INCLUDED

/* The cells of one of our VCIs. A receiver that computes gives none back, so no process may have more
 * than are free: one such receiver leaves half of them to the others, two leave a third (the rule of
 * A. K. Choudhury and E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet
 * switches", IEEE/ACM Trans. Networking 6(2), 1998, with factor 1). With the VCI held.
 *
 *   MPIDI_POSIX_ring_cells_init   all are free; returns 0 if there is no memory
 *   MPIDI_POSIX_ring_cells_free   at the end
 *   MPIDI_POSIX_ring_cells_take   one for a message to a process, or TSM_RETURNS_NONE
 *   MPIDI_POSIX_ring_cells_keep   the message was not sent
 *   MPIDI_POSIX_ring_cells_next   the one that the next tiny data will take, or TSM_RETURNS_NONE
 *
 * Short data takes the cell that came back last, so that what is in use fits into the caches and the
 * table of pages. A look whether any came back costs a line, which the receiver had last. For tiny data
 * that is much, so it looks only when it has used up what was free, 8 cells at least. Long data takes
 * the cell that came back first, and goes round half of them: on an AMD EPYC a copy took up to 4 times
 * as long if the lines were still with the receiver's core (64 KB by the string instructions that the C
 * library uses from 8 KB on: 18 us in place of 8). */

/* The longest data that counts as tiny, and as short if it is not copied past the caches, in bytes. */
#define MPIDI_POSIX_RING_TINY 1024
#define MPIDI_POSIX_RING_SHORT 8192

/* The payload of tiny data: header and data. */
#define MPIDI_POSIX_RING_TINY_PAYLOAD (MPIDI_POSIX_RING_TINY + 64)

/* The cells that tiny data begins with, and what is copied past the caches. */
#define MPIDI_POSIX_RING_CELLS_FEW 8

#include "mpidimpl.h"
#include "ring_way.h"
#include "tsm/queue/tsm_returns.h"

typedef struct MPIDI_POSIX_ring_cells {
    tsm_returns_t *returns;     /* shared: the receivers give them back there */
    tsm_returns_own_t own;      /* the free ones */
    uint32_t free;              /* their number */
    uint32_t timed;             /* the one whose copy is timed, or TSM_RETURNS_NONE */
    uint32_t *held;             /* [local rank]: how many a process has */
    int *holder;                /* [cell]: local rank, if it is not free */
    MPIDI_POSIX_ring_ways_t *ways;
} MPIDI_POSIX_ring_cells_t;

static inline int MPIDI_POSIX_ring_cells_init(MPIDI_POSIX_ring_cells_t * c, tsm_returns_t * returns,
                                              int cells, int num_local)
{
    uint32_t *used = MPL_malloc(tsm_returns_own_size(cells), MPL_MEM_SHM);

    tsm_returns_init(returns, cells, &c->own, used);
    c->returns = returns;
    c->free = cells;
    c->timed = TSM_RETURNS_NONE;
    c->held = MPL_calloc(num_local, sizeof(c->held[0]), MPL_MEM_SHM);
    c->holder = MPL_calloc(cells, sizeof(c->holder[0]), MPL_MEM_SHM);
    c->ways = MPL_calloc(1, MPIDI_POSIX_ring_ways_size(num_local), MPL_MEM_SHM);
    return used && c->held && c->holder && c->ways;
}

static inline void MPIDI_POSIX_ring_cells_free(MPIDI_POSIX_ring_cells_t * c)
{
    MPL_free(c->own.used);
    MPL_free(c->held);
    MPL_free(c->holder);
    MPL_free(c->ways);
}

static inline void MPIDI_POSIX_ring_cells_came(void *cells, uint32_t cell)
{
    MPIDI_POSIX_ring_cells_t *c = cells;

    if (cell == c->timed) {
        MPIDI_POSIX_ring_way_end(&c->ways->timing);
        c->timed = TSM_RETURNS_NONE;
    }
    c->held[c->holder[cell]]--;
    c->free++;
}

/* 1 if such data looks which cells came back whenever it has a multiple of four, to go on with
 * one that came back lately. All other data looks when it has none. size: of the data; away: it is
 * copied past the caches. */
static inline int MPIDI_POSIX_ring_cells_looks(MPI_Aint size, int away)
{
    return size > MPIDI_POSIX_RING_TINY && size <= MPIDI_POSIX_RING_SHORT && !away;
}

static inline int MPIDI_POSIX_ring_cells_must_look(const MPIDI_POSIX_ring_cells_t * c, int looks)
{
    const uint32_t used = tsm_returns_used(&c->own);

    return looks ? used % 4 == 0 : used == 0;
}

/* *is_new: the cell was never used, so its pages may not be there yet. */
static inline uint32_t MPIDI_POSIX_ring_cells_take(MPIDI_POSIX_ring_cells_t * c, int local_rank,
                                                   MPI_Aint size, int away, int *is_new)
{
    const uint32_t half = c->own.cells / 2, few = MPL_MIN(half, MPIDI_POSIX_RING_CELLS_FEW);
    const uint32_t touched = c->own.touched;
    const int looks = MPIDI_POSIX_ring_cells_looks(size, away);
    uint32_t cell;

    if (c->held[local_rank] >= c->free || MPIDI_POSIX_ring_cells_must_look(c, looks))
        tsm_returns_collect(c->returns, &c->own, MPIDI_POSIX_ring_cells_came, c);
    if (c->held[local_rank] >= c->free)
        return TSM_RETURNS_NONE;
    if (looks)
        cell = tsm_returns_take_newest(&c->own, 0);
    else if (size <= MPIDI_POSIX_RING_TINY)
        cell = tsm_returns_take_newest(&c->own, few);
    else
        cell = tsm_returns_take_oldest(&c->own, away ? few : half);
    *is_new = c->own.touched != touched;
    c->free--;
    c->held[local_rank]++;
    c->holder[cell] = local_rank;
    return cell;
}

static inline uint32_t MPIDI_POSIX_ring_cells_next(const MPIDI_POSIX_ring_cells_t * c)
{
    return tsm_returns_used(&c->own) ? tsm_returns_newest(&c->own) : TSM_RETURNS_NONE;
}

static inline void MPIDI_POSIX_ring_cells_keep(MPIDI_POSIX_ring_cells_t * c, uint32_t cell)
{
    tsm_returns_keep(&c->own, cell);
    MPIDI_POSIX_ring_cells_came(c, cell);
}

#endif /* POSIX_EAGER_RING_CELLS_H_INCLUDED */
