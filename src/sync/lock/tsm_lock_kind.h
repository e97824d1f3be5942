/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The locks of locks.def behind one table of functions, for a program that chooses among them while it
 * runs. Each works as with tsm_lock.h, whose rules hold; a call through the table takes a few
 * nanoseconds more.
 *
 * Invariants, progress, release and acquire, source: those of the lock that is chosen.
 */

#ifndef TSM_LOCK_KIND_H_INCLUDED
#define TSM_LOCK_KIND_H_INCLUDED

#include <stdint.h>

typedef struct tsm_lock_kind {
    const char *name;                       /* as in locks.def, and the number there */
    int number;
    /* Makes a free lock, or returns NULL if there is no memory. Any thread. */
    void *(*create)(void);
    /* End of use; the lock must be free. */
    void (*destroy)(void *lock);
    /* Blocks. low: with low priority, in a lock that has one. */
    void (*acquire)(void *lock, int low);
    /* 1: the lock is ours; 0: it was held. Never waits. */
    int (*try)(void *lock, int low);
    /* By the thread that acquired. */
    void (*release)(void *lock);
} tsm_lock_kind_t;

/* Returns the lock of that name, whatever its case, or NULL. Any thread; never waits. */
__attribute__((visibility("hidden"))) const tsm_lock_kind_t *tsm_lock_kind(const char *name);

/* The names of all: "mutex, ticket, ...". */
__attribute__((visibility("hidden"))) const char *tsm_lock_kind_names(void);

/* The most levels of HMCS locks, 1 to 8, in place of TSM_LOCK_HMCS_DEPTH. One thread, before the first
 * HMCS lock of the process is made; later it does nothing. In tsm_lock.c. */
__attribute__((visibility("hidden"))) void tsm_lock_hmcs_levels(uint32_t most);

#endif /* TSM_LOCK_KIND_H_INCLUDED */
