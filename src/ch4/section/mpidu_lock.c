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
#include "mpidu_lock.h"

int MPIDU_lock_yields;
