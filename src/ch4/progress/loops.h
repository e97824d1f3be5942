/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_LOOPS_H_INCLUDED
#define MPIDI_LOOPS_H_INCLUDED

/* For ch4_impl.h: MPICH's loops that wait with the lock of a VCI held, for one-sided operations. A turn
 * of ours (turn.h) takes the place of a poll and a yield of the lock. */

#undef MPIDIU_PROGRESS_WHILE
#define MPIDIU_PROGRESS_WHILE(cond_, vci_) \
    for (MPIDI_TURNS_BEGIN(); cond_;) { \
        mpi_errno = MPIDI_progress_turn_locked(vci_); \
        MPIR_ERR_CHECK(mpi_errno); \
    }

#undef MPIDIU_PROGRESS_DO_WHILE
#define MPIDIU_PROGRESS_DO_WHILE(cond_, vci_) \
    do { \
        MPIDI_TURNS_BEGIN(); \
        do { \
            mpi_errno = MPIDI_progress_turn_locked(vci_); \
            MPIR_ERR_CHECK(mpi_errno); \
        } while (cond_); \
    } while (0)

#endif /* MPIDI_LOOPS_H_INCLUDED */
