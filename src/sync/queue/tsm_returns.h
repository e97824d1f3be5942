/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * Cells that one owner hands out and any process gives back: a stack of numbers in shared memory.
 * The owner takes back all that has come at once, and hands out the one that it has had free for the
 * shortest or for the longest time.
 *
 * Interface:  tsm_returns_size(), _init()   the memory, by the owner
 *             tsm_returns_own_size()        bytes of the owner's list
 *             tsm_returns_take_newest()     a free cell's number, or TSM_RETURNS_NONE: one that was
 *                                           never used, while fewer than `early' have been or if no
 *                                           other is free, else the one that came back last. The owner
 *             tsm_returns_take_oldest()     the same, but the one that came back first. The owner
 *             tsm_returns_used()            how many are free that came back. The owner
 *             tsm_returns_newest()          which one came back last, if there is one. The owner
 *             tsm_returns_collect()         make those free that were given back. The owner
 *             tsm_returns_keep()            give one back, as the newest. The owner
 *             tsm_returns_give()            give one back. Any thread of any process
 *             tsm_returns_expect()          a hint: a give will follow. Any thread of any process
 *
 * Source:     R. K. Treiber, "Systems Programming: Coping with Parallelism", IBM RJ 5118, 1986,
 *             with a collect that empties the stack by one swap, and no link below the first cell:
 *             one that comes back alone moves the line of the top, and no other.
 * Threads:    any number that give; one owner at a time, which may change if a lock lies between.
 * Proof:      a top says which cell is first, and whether its link counts. A give that has read a top,
 *             and finds the same value there later, links to that cell: whether it was away meanwhile
 *             does not matter, as its link is what its own last give has stored. In all other cases the
 *             compare-and-swap fails. The owner reads links only of cells that it has just taken from
 *             the stack. A giver that is stopped keeps its own cell, and nobody waits for it.
 * Progress:   take, keep and collect (a step for each cell) are wait-free; give is lock-free.
 *
 *   release                   acquire
 *   give: CAS of top          collect: swap of top (the giver has read the cell; what it has written
 *                             there, and in its link, is complete). A give after another one
 *                             continues its release sequence
 */

#ifndef TSM_RETURNS_H_INCLUDED
#define TSM_RETURNS_H_INCLUDED

#include <stddef.h>

#include "../tsm_atomic.h"

#define TSM_RETURNS_NONE UINT32_MAX

/* In a top or link: that cell is the last of the list, and its own link says nothing. */
#define TSM_RETURNS_LAST_ (UINT32_C(1) << 31)

/* The shared part: begins a cache line. The top, 0 if there is no cell, and links hold a number + 1. */
typedef struct tsm_returns {
    TSM_ATOMIC(uint32_t) top;
    char pad[TSM_CACHELINE - sizeof(uint32_t)];
    TSM_ATOMIC(uint32_t) next[];
} tsm_returns_t;

/* The owner's part: the numbers of the free cells that were used before, oldest first, in a ring. */
typedef struct tsm_returns_own {
    uint32_t *used;             /* [mask + 1]; the caller's */
    uint32_t mask;
    uint32_t oldest, newest;    /* positions: newest - oldest cells */
    uint32_t touched, cells;    /* so many were ever taken, of so many */
} tsm_returns_own_t;

/* Bytes for so many cells. */
static inline size_t tsm_returns_size(uint32_t cells)
{
    return sizeof(tsm_returns_t) + cells * sizeof(uint32_t);
}

static inline uint32_t tsm_returns_room_(uint32_t cells)
{
    uint32_t room = 1;

    while (room < cells)
        room *= 2;
    return room;
}

/* Bytes of `used' for so many cells, fewer than 2^31. */
static inline size_t tsm_returns_own_size(uint32_t cells)
{
    return tsm_returns_room_(cells) * sizeof(uint32_t);
}

/* All cells are free. used: memory of tsm_returns_own_size(), which stays the caller's. One thread,
 * before any other call. */
static inline void tsm_returns_init(tsm_returns_t *returns, uint32_t cells, tsm_returns_own_t *own,
                                    uint32_t *used)
{
    tsm_store(&returns->top, 0, TSM_RELAXED);
    *own = (tsm_returns_own_t) { used, tsm_returns_room_(cells) - 1, 0, 0, 0, cells };
}

static inline uint32_t tsm_returns_used(const tsm_returns_own_t *own)
{
    return own->newest - own->oldest;
}

static inline uint32_t tsm_returns_newest(const tsm_returns_own_t *own)
{
    return own->used[(own->newest - 1) & own->mask];
}

static inline uint32_t tsm_returns_cell_(uint32_t link)
{
    return (link & ~TSM_RETURNS_LAST_) - 1;
}

/* The link behind this one, or 0. */
static inline uint32_t tsm_returns_after_(tsm_returns_t *returns, uint32_t link)
{
    if (link & TSM_RETURNS_LAST_)
        return 0;
    return tsm_load(&returns->next[tsm_returns_cell_(link)], TSM_RELAXED);
}

/* came(arg, cell) is called for each, unless it is NULL. The stack has the newest first. */
static inline void tsm_returns_collect(tsm_returns_t *returns, tsm_returns_own_t *own,
                                       void (*came)(void *arg, uint32_t cell), void *arg)
{
    uint32_t first, link, n = 0;

    if (tsm_load(&returns->top, TSM_RELAXED) == 0)
        return;
    first = tsm_swap(&returns->top, 0, TSM_ACQUIRE);
    for (link = first; link != 0; link = tsm_returns_after_(returns, link))
        n++;
    own->newest += n;
    n = own->newest;
    for (link = first; link != 0; link = tsm_returns_after_(returns, link)) {
        own->used[--n & own->mask] = tsm_returns_cell_(link);
        if (came)
            came(arg, tsm_returns_cell_(link));
    }
}

static inline uint32_t tsm_returns_touch_(tsm_returns_own_t *own)
{
    return own->touched < own->cells ? own->touched++ : TSM_RETURNS_NONE;
}

/* early: at most the number of cells. */
static inline uint32_t tsm_returns_take_newest(tsm_returns_own_t *own, uint32_t early)
{
    if (own->touched < early || !tsm_returns_used(own))
        return tsm_returns_touch_(own);
    return own->used[--own->newest & own->mask];
}

static inline uint32_t tsm_returns_take_oldest(tsm_returns_own_t *own, uint32_t early)
{
    if (own->touched < early || !tsm_returns_used(own))
        return tsm_returns_touch_(own);
    return own->used[own->oldest++ & own->mask];
}

static inline void tsm_returns_keep(tsm_returns_own_t *own, uint32_t cell)
{
    own->used[own->newest++ & own->mask] = cell;
}

static inline void tsm_returns_give(tsm_returns_t *returns, uint32_t cell)
{
    uint32_t top = tsm_load(&returns->top, TSM_RELAXED), link;

    do {
        link = cell + 1;
        if (top == 0)
            link |= TSM_RETURNS_LAST_;
        else
            tsm_store(&returns->next[cell], top, TSM_RELAXED);
    } while (!tsm_cas(&returns->top, &top, link, TSM_RELEASE, TSM_RELAXED));
}

/* The owner has had the line last. */
static inline void tsm_returns_expect(tsm_returns_t *returns)
{
    tsm_prefetch_write(returns);
}

#endif /* TSM_RETURNS_H_INCLUDED */
