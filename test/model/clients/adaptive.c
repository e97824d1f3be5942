/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The adaptive lock: two threads acquire, one tries, too. The load is always crowded, so an heir
 * watches before it claims. */

#define TSM_ADAPTIVE_LOOKS 1

#include "client.h"
#include "client_lock.h"
#include "lock/tsm_adaptive.h"

CLIENT_LOCK(tsm_adaptive, TSM_ADAPTIVE_INITIALIZER)
