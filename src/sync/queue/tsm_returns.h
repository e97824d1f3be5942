/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * Cells that one owner hands out and any process gives back: a stack of numbers in shared memory.
 * The owner takes back all that has come at once, and hands out from its own list; the cell that
 * came back last goes out first.
 *
 * Interface:  tsm_returns_size(), _init()   the memory, by the owner
 *             tsm_returns_take()            a free cell's number, or TSM_RETURNS_NONE. The owner
 *             tsm_returns_collect()         make those free that were given back. The owner
 *             tsm_returns_keep()            give one back. The owner
 *             tsm_returns_give()            give one back. Any thread of any process
 *
 * Source:     R. K. Treiber, "Systems Programming: Coping with Parallelism", IBM RJ 5118, 1986,
 *             with a collect that empties the stack by one swap.
 * Threads:    any number that give; one owner at a time, which may change if a lock lies between.
 * Progress:   take, keep and collect (a step for each cell) are wait-free; give is lock-free.
 *
 *   release                   acquire
 *   give: CAS of top          collect: swap of top (the giver has read the cell, and its link). A
 *                             give after another one continues its release sequence
 */

#ifndef TSM_RETURNS_H_INCLUDED
#define TSM_RETURNS_H_INCLUDED

#include <stddef.h>

#include "../tsm_atomic.h"

#define TSM_RETURNS_NONE UINT32_MAX

/* The shared part: begins a cache line. Links hold a number + 1; 0 ends a list. */
typedef struct tsm_returns {
    TSM_ATOMIC(uint32_t) top;
    char pad[TSM_CACHELINE - sizeof(uint32_t)];
    TSM_ATOMIC(uint32_t) next[];
} tsm_returns_t;

/* Bytes for so many cells. */
static inline size_t tsm_returns_size(uint32_t cells)
{
    return sizeof(tsm_returns_t) + cells * sizeof(uint32_t);
}

/* All cells are free. *own is the owner's list. One thread, before any other call. */
static inline void tsm_returns_init(tsm_returns_t *returns, uint32_t cells, uint32_t *own)
{
    tsm_store(&returns->top, 0, TSM_RELAXED);
    for (uint32_t i = 0; i < cells; i++)
        tsm_store(&returns->next[i], i + 1 < cells ? i + 2 : 0, TSM_RELAXED);
    *own = cells > 0 ? 1 : 0;
}

/* came(arg, cell) is called for each, unless it is NULL. They go out before those of *own. */
static inline void tsm_returns_collect(tsm_returns_t *returns, uint32_t *own,
                                       void (*came)(void *arg, uint32_t cell), void *arg)
{
    uint32_t last = 0, first;

    if (tsm_load(&returns->top, TSM_RELAXED) == 0)
        return;
    first = tsm_swap(&returns->top, 0, TSM_ACQUIRE);
    for (uint32_t link = first; link != 0; link = tsm_load(&returns->next[link - 1], TSM_RELAXED)) {
        if (came)
            came(arg, link - 1);
        last = link;
    }
    tsm_store(&returns->next[last - 1], *own, TSM_RELAXED);
    *own = first;
}

static inline uint32_t tsm_returns_take(tsm_returns_t *returns, uint32_t *own)
{
    const uint32_t first = *own;

    if (first == 0)
        return TSM_RETURNS_NONE;
    *own = tsm_load(&returns->next[first - 1], TSM_RELAXED);
    return first - 1;
}

static inline void tsm_returns_keep(tsm_returns_t *returns, uint32_t *own, uint32_t cell)
{
    tsm_store(&returns->next[cell], *own, TSM_RELAXED);
    *own = cell + 1;
}

static inline void tsm_returns_give(tsm_returns_t *returns, uint32_t cell)
{
    uint32_t top = tsm_load(&returns->top, TSM_RELAXED);

    do
        tsm_store(&returns->next[cell], top, TSM_RELAXED);
    while (!tsm_cas(&returns->top, &top, cell + 1, TSM_RELEASE, TSM_RELAXED));
}

#endif /* TSM_RETURNS_H_INCLUDED */
