/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef AM_COUNTS_H_INCLUDED
#define AM_COUNTS_H_INCLUDED

/* The one-sided operations that are under way to one target as active messages, counted in two
 * generations. An operation belongs to the generation in which it begins; a flush starts a new one
 * and waits for those before it, so it never waits for what other threads begin meanwhile. All
 * functions with the VCI of the window locked; an operation that ends decrements the counter that
 * MPIDI_am_counts_begin returned, wherever that happens.
 *
 *   MPIDI_am_counts_init     no operation is under way
 *   MPIDI_am_counts_begin    an operation begins: returns the counter to decrement at its end
 *   MPIDI_am_counts_any      is any operation under way?
 *   MPIDI_am_counts_flushed  has everything ended that had begun before the flush?
 *
 * Why that is right. Generations are numbered g, g+1 and so on; g and g+2 share a counter, and g+1
 * starts only when g-1 is empty, which it then stays for good. So at most two generations have
 * operations under way: the present one and the one before. A flush remembers the present
 * generation, g, at its first look. All operations before it belong to g, to g-1, or have ended.
 *   - Present is g: they have ended when both counters are 0. If that of g-1 is 0, start g+1.
 *   - Present is g+1: g-1 is empty. They have ended when the counter of g is 0.
 *   - Present is g+2 or later: g was empty when g+2 started.
 *
 * Why it ends. While g is the present generation nothing joins g-1, and once g+1 has started
 * nothing joins g. A flush waits for one of them to become empty and then for the other, however
 * much is begun meanwhile. Any flush may start the next generation, so a preempted one keeps no other
 * waiting, and one that looks late sees a later generation.
 *
 * A look in vain names the counter to wait for: that of g-1, or of g once g-1 is empty. A counter that
 * has become 0 may count again before the flush looks; then g has ended, or g-1 has and the next look
 * starts g+1. */

#include <stdint.h>

typedef struct {
    MPIR_cc_t under_way[2];     /* in the generations with this last bit */
    uint64_t generation;        /* the present one */
} MPIDI_am_counts_t;

/* A flush, on the stack of its thread; begins as { 0 }. */
typedef struct {
    int begun;                  /* `generation` is set */
    int ended;                  /* the target is flushed */
    int rank;                   /* flush of a window: all targets below are flushed */
    uint64_t generation;        /* at the first look at the target */
    MPIR_cc_t *awaited;         /* after a look in vain: the next look is when this is 0 */
} MPIDI_am_flush_t;

MPL_STATIC_INLINE_PREFIX void MPIDI_am_counts_init(MPIDI_am_counts_t * counts)
{
    MPIR_cc_set(&counts->under_way[0], 0);
    MPIR_cc_set(&counts->under_way[1], 0);
    counts->generation = 0;
}

MPL_STATIC_INLINE_PREFIX MPIR_cc_t *MPIDI_am_counts_begin(MPIDI_am_counts_t * counts)
{
    MPIR_cc_t *counter = &counts->under_way[counts->generation & 1];

    MPIR_cc_inc(counter);
    return counter;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_am_counts_any(MPIDI_am_counts_t * counts)
{
    return MPIR_cc_get(counts->under_way[0]) != 0 || MPIR_cc_get(counts->under_way[1]) != 0;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_am_counts_flushed(MPIDI_am_counts_t * counts,
                                                     MPIDI_am_flush_t * flush)
{
    MPIR_cc_t *own, *other;

    if (!flush->begun) {
        flush->begun = 1;
        flush->generation = counts->generation;
    }
    if (counts->generation - flush->generation > 1)
        return 1;
    own = &counts->under_way[flush->generation & 1];
    other = &counts->under_way[~flush->generation & 1];
    flush->awaited = own;
    if (counts->generation != flush->generation)
        return MPIR_cc_get(*own) == 0;
    if (MPIR_cc_get(*other) != 0) {
        flush->awaited = other;
        return 0;
    }
    if (MPIR_cc_get(*own) == 0)
        return 1;
    counts->generation++;
    return 0;
}

#endif /* AM_COUNTS_H_INCLUDED */
