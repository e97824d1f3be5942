/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/served.h"

MPIDI_served_t MPIDI_served;

void MPIDI_served_sleep_begin(void)
{
    tsm_fetch_add(&MPIDI_served.sleepers, 1, TSM_SEQ_CST);
    MPIDI_served_ring_all();
}

void MPIDI_served_sleep_end(void)
{
    tsm_fetch_add(&MPIDI_served.sleepers, -1, TSM_RELAXED);
}

void MPIDI_served_set_error(int mpi_errno)
{
    int none = MPI_SUCCESS;

    tsm_cas(&MPIDI_served.error, &none, mpi_errno, TSM_RELEASE, TSM_RELAXED);
}

int MPIDI_served_take_error(void)
{
    if (likely(!MPIDI_served_has_error()))
        return MPI_SUCCESS;
    return tsm_swap(&MPIDI_served.error, MPI_SUCCESS, TSM_ACQUIRE);
}

#endif
