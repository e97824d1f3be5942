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
 *   MPIDI_POSIX_ring_cells_keep   the message was not sent */

#include "mpidimpl.h"
#include "tsm/queue/tsm_returns.h"

typedef struct MPIDI_POSIX_ring_cells {
    tsm_returns_t *returns;     /* shared: the receivers give them back there */
    uint32_t own;               /* list of the free ones */
    uint32_t free;              /* their number */
    uint32_t *held;             /* [local rank]: how many a process has */
    int *holder;                /* [cell]: local rank, if it is not free */
} MPIDI_POSIX_ring_cells_t;

static inline int MPIDI_POSIX_ring_cells_init(MPIDI_POSIX_ring_cells_t * c, tsm_returns_t * returns,
                                              int cells, int num_local)
{
    tsm_returns_init(returns, cells, &c->own);
    c->returns = returns;
    c->free = cells;
    c->held = MPL_calloc(num_local, sizeof(c->held[0]), MPL_MEM_SHM);
    c->holder = MPL_calloc(cells, sizeof(c->holder[0]), MPL_MEM_SHM);
    return c->held && c->holder;
}

static inline void MPIDI_POSIX_ring_cells_free(MPIDI_POSIX_ring_cells_t * c)
{
    MPL_free(c->held);
    MPL_free(c->holder);
}

static inline void MPIDI_POSIX_ring_cells_came(void *cells, uint32_t cell)
{
    MPIDI_POSIX_ring_cells_t *c = cells;

    c->held[c->holder[cell]]--;
    c->free++;
}

static inline uint32_t MPIDI_POSIX_ring_cells_take(MPIDI_POSIX_ring_cells_t * c, int local_rank)
{
    uint32_t cell;

    if (c->held[local_rank] >= c->free)
        tsm_returns_collect(c->returns, &c->own, MPIDI_POSIX_ring_cells_came, c);
    if (c->held[local_rank] >= c->free)
        return TSM_RETURNS_NONE;
    cell = tsm_returns_take(c->returns, &c->own);
    c->free--;
    c->held[local_rank]++;
    c->holder[cell] = local_rank;
    return cell;
}

static inline void MPIDI_POSIX_ring_cells_keep(MPIDI_POSIX_ring_cells_t * c, uint32_t cell)
{
    tsm_returns_keep(c->returns, &c->own, cell);
    MPIDI_POSIX_ring_cells_came(c, cell);
}

#endif /* POSIX_EAGER_RING_CELLS_H_INCLUDED */
