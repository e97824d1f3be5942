/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* LockQ's posts with SWP and the futex lock: see client_look.h. */

#include "client.h"

#define LOOK_LOCK futex_lock

#include "lock/tsm_futex_lock.h"
#include "client_look_swp.h"
