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
 *
 * Short data takes the cell that came back last, so that what is in use fits into the caches and the
 * table of pages. Long data takes the one that came back first: the C library copies it with string
 * instructions (from 8 KB on, glibc on processors with AVX-512), and on an AMD EPYC these took 2 to 4
 * times as long if the lines were still with the receiver's core (messages of 64 KB: 18 us in place
 * of 8). It goes round half of the cells. */

/* The longest data that counts as short, in bytes. */
#define MPIDI_POSIX_RING_SHORT 8192

#include "mpidimpl.h"
#include "tsm/queue/tsm_returns.h"

typedef struct MPIDI_POSIX_ring_cells {
    tsm_returns_t *returns;     /* shared: the receivers give them back there */
    tsm_returns_own_t own;      /* the free ones */
    uint32_t free;              /* their number */
    uint32_t *held;             /* [local rank]: how many a process has */
    int *holder;                /* [cell]: local rank, if it is not free */
} MPIDI_POSIX_ring_cells_t;

static inline int MPIDI_POSIX_ring_cells_init(MPIDI_POSIX_ring_cells_t * c, tsm_returns_t * returns,
                                              int cells, int num_local)
{
    uint32_t *used = MPL_malloc(tsm_returns_own_size(cells), MPL_MEM_SHM);

    tsm_returns_init(returns, cells, &c->own, used);
    c->returns = returns;
    c->free = cells;
    c->held = MPL_calloc(num_local, sizeof(c->held[0]), MPL_MEM_SHM);
    c->holder = MPL_calloc(cells, sizeof(c->holder[0]), MPL_MEM_SHM);
    return used && c->held && c->holder;
}

static inline void MPIDI_POSIX_ring_cells_free(MPIDI_POSIX_ring_cells_t * c)
{
    MPL_free(c->own.used);
    MPL_free(c->held);
    MPL_free(c->holder);
}

static inline void MPIDI_POSIX_ring_cells_came(void *cells, uint32_t cell)
{
    MPIDI_POSIX_ring_cells_t *c = cells;

    c->held[c->holder[cell]]--;
    c->free++;
}

/* size: of the data. */
static inline uint32_t MPIDI_POSIX_ring_cells_take(MPIDI_POSIX_ring_cells_t * c, int local_rank,
                                                   MPI_Aint size)
{
    const int is_short = size <= MPIDI_POSIX_RING_SHORT;
    uint32_t cell;

    if (is_short || c->held[local_rank] >= c->free || !tsm_returns_has_used(&c->own))
        tsm_returns_collect(c->returns, &c->own, MPIDI_POSIX_ring_cells_came, c);
    if (c->held[local_rank] >= c->free)
        return TSM_RETURNS_NONE;
    if (is_short)
        cell = tsm_returns_take_newest(&c->own);
    else
        cell = tsm_returns_take_oldest(&c->own, c->own.cells / 2);
    c->free--;
    c->held[local_rank]++;
    c->holder[cell] = local_rank;
    return cell;
}

static inline void MPIDI_POSIX_ring_cells_keep(MPIDI_POSIX_ring_cells_t * c, uint32_t cell)
{
    tsm_returns_keep(&c->own, cell);
    MPIDI_POSIX_ring_cells_came(c, cell);
}

#endif /* POSIX_EAGER_RING_CELLS_H_INCLUDED */
