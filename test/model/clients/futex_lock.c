/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The futex lock: two threads acquire, one tries first. The last one may free it. */

#include "client.h"
#include "client_lock.h"
#include "lock/tsm_futex_lock.h"

CLIENT_LOCK(tsm_futex_lock, TSM_FUTEX_LOCK_INITIALIZER)
