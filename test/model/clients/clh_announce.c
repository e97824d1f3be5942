/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* CLH lock: all tickets announce that their release wakes sleepers, so that waiters sleep from the
 * start. */

#define CLH_ANNOUNCE UINT32_MAX
#include "clh.c"
