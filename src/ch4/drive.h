/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_DRIVE_H_INCLUDED
#define MPIDI_DRIVE_H_INCLUDED

/* Drives a VCI once, with its lock held: shared memory first, then the netmod. Which thread may do so
 * and when is decided elsewhere (progress/poll.h, section/section.h). Two settings keep a stream of
 * short messages from running at the speed of the netmod's polls: MPIR_CVAR_CH4_SHM_BATCH and
 * MPIR_CVAR_CH4_NETMOD_TURN. */

#include "thread.h"
#include "vci.h"

/* Active messages (those from shared memory) of the VCI that came before their receives. */
#define MPIDI_DRIVE_EARLY(vci_) MPIDI_VCI((vci_)->index).unexp_table.seq

#ifndef MPIDI_CH4_DIRECT_NETMOD
/* Take up to MPIR_CVAR_CH4_SHM_BATCH messages from shared memory, while each of them completes
 * something or comes before its receive. MPICH's shared memory takes one a call, so without this a
 * lock pair, and a look at all that is waited for, comes with each message. *productive: one came. */
MPL_STATIC_INLINE_PREFIX int MPIDI_drive_shm(MPIDI_vci_t * vci, int *productive)
{
    int mpi_errno, n = 0;
    unsigned completed;
    uint64_t early;

    do {
        completed = MPIDI_thread_local.completed;
        early = MPIDI_DRIVE_EARLY(vci);
        mpi_errno = MPIDI_SHM_progress(vci->index, 0);
    } while ((completed != MPIDI_thread_local.completed || early != MPIDI_DRIVE_EARLY(vci)) &&
             ++n < MPIR_CVAR_CH4_SHM_BATCH && mpi_errno == MPI_SUCCESS);
    *productive = n > 0;
    return mpi_errno;
}
#endif

/* One poll. flag: MPIDI_PROGRESS_SHM, MPIDI_PROGRESS_NM. Looking into shared memory is much cheaper
 * than asking a netmod (ten times, with libfabric over TCP): while shared memory brings something,
 * the netmod has one turn in MPIR_CVAR_CH4_NETMOD_TURN; when it has brought nothing for as many, the
 * netmod has each. The holder of the VCI. */
MPL_STATIC_INLINE_PREFIX int MPIDI_drive(MPIDI_vci_t * vci, int flag)
{
    int mpi_errno = MPI_SUCCESS;

    tsm_store(&vci->polls, (int) (1u + (unsigned) tsm_load(&vci->polls, TSM_RELAXED)), TSM_RELAXED);
    tsm_store(&vci->poll_wanted, 0, TSM_RELAXED);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (flag & MPIDI_PROGRESS_SHM) {
        unsigned turn = MPIR_CVAR_CH4_NETMOD_TURN;
        int productive;
        mpi_errno = MPIDI_drive_shm(vci, &productive);
        if (productive)
            vci->shm_quiet = 0;
        if (mpi_errno != MPI_SUCCESS || (++vci->shm_quiet <= turn && ++vci->nm_skipped < turn))
            return mpi_errno;
    }
#endif
    if (flag & MPIDI_PROGRESS_NM) {
        mpi_errno = MPIDI_NM_progress(vci->index, 0);
        vci->nm_skipped = 0;
    }
    return mpi_errno;
}

#endif /* MPIDI_DRIVE_H_INCLUDED */
