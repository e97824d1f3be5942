/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ARRIVED_H_INCLUDED
#define MPIDI_ARRIVED_H_INCLUDED

/* So that a poll knows whether there may be more: shared memory calls the first for each cell that it
 * takes in (drive.h), a netmod the second with the number of events of a poll (elsewhere.h). */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../thread.h"
#define MPIDI_SHM_ARRIVED() (MPIDI_thread_local.arrived++)
#define MPIDI_NM_ARRIVED(n_) (MPIDI_thread_local.events += (unsigned) (n_))
#else
#define MPIDI_SHM_ARRIVED() do { } while (0)
#define MPIDI_NM_ARRIVED(n_) ((void) (n_))
#endif

#endif /* MPIDI_ARRIVED_H_INCLUDED */
