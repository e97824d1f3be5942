/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The adaptive lock, never crowded: strictly in order. */

#define CLIENT_LOAD 0
#define TSM_ADAPTIVE_LOOKS 1

#include "client.h"
#include "client_lock.h"
#include "lock/tsm_adaptive.h"

CLIENT_LOCK(tsm_adaptive, TSM_ADAPTIVE_INITIALIZER)
