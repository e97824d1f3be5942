/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The process-wide half of tsm_lock.h, with the machine's topology from the hwloc that MPICH uses. */

#include "mpichconf.h"
#ifdef HAVE_HWLOC
#define TSM_HAVE_HWLOC 1
#endif
#define TSM_LOCK_HMCS_DEPTH MPICH_THREAD_HMCS_LEVELS
#include "tsm/lock/tsm_lock.c"
#include "mpiimpl.h"

int MPIDU_lock_yields;

#ifdef MPIDU_CHOSEN_LOCK_H_INCLUDED
int MPIDU_chosen_lock_init(MPIDU_chosen_lock_t * lock)
{
    const char *name = MPIR_CVAR_CH4_THREAD_LOCK;
    const int levels = MPIR_CVAR_CH4_HMCS_LEVELS;

    lock->kind = name && *name ? tsm_lock_kind(name) : NULL;
    lock->chosen = NULL;
    if (lock->kind && lock->kind->number == MPICH_THREAD_LOCK)
        lock->kind = NULL;
    if (lock->kind && lock->kind->number == TSM_LOCK_KIND_HMCS && levels > 0)
        tsm_lock_hmcs_levels((uint32_t) levels);
    if (lock->kind && !(lock->chosen = lock->kind->create()))
        return ENOMEM;
    return tsm_lock_init(&lock->own);
}
#endif
