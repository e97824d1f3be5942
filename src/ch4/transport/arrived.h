/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ARRIVED_H_INCLUDED
#define MPIDI_ARRIVED_H_INCLUDED

/* Shared memory calls this for each cell that it takes in, so that a poll knows whether there may be
 * more; see drive.h. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../thread.h"
#define MPIDI_SHM_ARRIVED() (MPIDI_thread_local.arrived++)
#else
#define MPIDI_SHM_ARRIVED() do { } while (0)
#endif

#endif /* MPIDI_ARRIVED_H_INCLUDED */
