/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The process-wide half of tsm_lock.h, with the machine's topology from the hwloc that MPICH uses. */

#include "mpichconf.h"
#ifdef HAVE_HWLOC
#define TSM_HAVE_HWLOC 1
#endif
#include "tsm/lock/tsm_lock.c"
