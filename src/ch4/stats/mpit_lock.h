/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STATS_MPIT_LOCK_H_INCLUDED
#define MPIDI_STATS_MPIT_LOCK_H_INCLUDED

/* Around registering variables in MPI_Init: a tool's thread may look them up meanwhile. */

static inline void MPIDI_mpit_enter(void)
{
    (void) MPIR_T_users();      /* makes the mutex */
    MPIR_T_THREAD_CS_ENTER();
}

static inline void MPIDI_mpit_exit(void)
{
    MPIR_T_THREAD_CS_EXIT();
}

#endif /* MPIDI_STATS_MPIT_LOCK_H_INCLUDED */
