/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The adaptive lock; the load changes at each call, so that an heir that watches meets a claim left by
 * the heir before. */

#define CLIENT_LOAD -1
#define TSM_ADAPTIVE_LOOKS 1

#include "client.h"
#include "client_lock.h"
#include "lock/tsm_adaptive.h"

CLIENT_LOCK(tsm_adaptive, TSM_ADAPTIVE_INITIALIZER)
