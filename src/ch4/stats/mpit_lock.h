/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STATS_MPIT_LOCK_H_INCLUDED
#define MPIDI_STATS_MPIT_LOCK_H_INCLUDED

/* Around registering variables in MPI_Init: a tool's thread may look them up meanwhile. MPI_T has its
 * mutex only while it is initialized, and for threads. */

/* Returns what MPIDI_mpit_exit takes: MPI_T may become initialized in between. */
static inline int MPIDI_mpit_enter(void)
{
    int is_held = 0;
#ifdef MPICH_IS_THREADED
    int err;

    is_held = MPIR_T_is_initialized() && MPIR_T_is_threaded;
    if (is_held)
        MPID_Thread_mutex_lock(&mpi_t_mutex, &err);
#endif
    return is_held;
}

static inline void MPIDI_mpit_exit(int is_held)
{
#ifdef MPICH_IS_THREADED
    int err;

    if (is_held)
        MPID_Thread_mutex_unlock(&mpi_t_mutex, &err);
#endif
}

#endif /* MPIDI_STATS_MPIT_LOCK_H_INCLUDED */
