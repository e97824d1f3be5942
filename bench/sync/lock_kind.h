/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The loops of lock_kinds.c over one lock. lock_kind.c is compiled for each lock of locks.def. */
#ifndef BENCH_SYNC_LOCK_KIND_H_INCLUDED
#define BENCH_SYNC_LOCK_KIND_H_INCLUDED

#include <stdint.h>

#include "common.h"

typedef struct lock_loops {
    void *(*create)(void);
    void (*destroy)(void *lock);
    /* Seconds for this many pairs of acquire and release, on one thread. */
    double (*pairs)(void *lock, int n);
    /* Acquire, count in *inside, work cs, release, work ps, until the team stops. Returns how often
     * this thread did. */
    uint64_t (*contend)(void *lock, bench_team_t *team, uint64_t *inside, uint64_t cs, uint64_t ps);
} lock_loops_t;

#endif
