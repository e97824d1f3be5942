/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What test_unload calls in the library that it loads and unloads. */

#define TSM_LOCK_KIND 5         /* mcs: its threads have nodes */

#include "lock/tsm_lock.h"
#include "tsm_load.h"

void unload_use(void);

/* The calling thread now has what must be given back when it ends. */
void unload_use(void)
{
    tsm_lock_t lock;

    tsm_load_touch();
    if (tsm_lock_init(&lock) != 0)
        return;
    tsm_lock_acquire(&lock);
    tsm_lock_release(&lock);
    tsm_lock_destroy(&lock);
}
