/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_DRIVE_H_INCLUDED
#define MPIDI_DRIVE_H_INCLUDED

/* Drives a VCI once, with its lock held: shared memory first, then the netmod. progress/poll.h and
 * section/section.h decide which thread drives and when. Two settings keep the netmod's slow polls
 * from limiting a stream of short messages: MPIR_CVAR_CH4_SHM_BATCH and MPIR_CVAR_CH4_NETMOD_TURN. */

#include "stats/hooks.h"
#include "thread.h"
#include "vci.h"

/* Active messages (those from shared memory) of the VCI that arrived before their receives. */
#define MPIDI_DRIVE_EARLY(vci_) (MPL_container_of(vci_, MPIDI_per_vci_t, threads))->unexp_table.seq

#ifndef MPIDI_CH4_DIRECT_NETMOD
/* Take in one cell from shared memory, and send one message that had no room. Returns whether it did
 * either. Counts a cell as handled if it is for the process rather than for a request: the thread has
 * found work then, and does not back off. An early message is no such work; it would make its thread
 * poll on and keep the receiver from running. */
MPL_STATIC_INLINE_PREFIX int MPIDI_drive_shm_once(MPIDI_vci_t * vci, int *mpi_errno)
{
    unsigned arrived = MPIDI_thread_local.arrived;
    unsigned completed = MPIDI_thread_local.completed;
    uint64_t early = MPIDI_DRIVE_EARLY(vci);

    *mpi_errno = MPIDI_SHM_progress(vci->index, 0);
    if (completed != MPIDI_thread_local.completed || early != MPIDI_DRIVE_EARLY(vci))
        return 1;
    MPIDI_thread_local.handled += arrived != MPIDI_thread_local.arrived;
    return arrived != MPIDI_thread_local.arrived;
}

/* Do so up to MPIR_CVAR_CH4_SHM_BATCH times. MPICH does it once in a call, so without this each message
 * would cost a lock pair and a check of all awaited requests. A nonblocking call ends with the first
 * request that completes. If it went on, a program that tests its send might see it done each time,
 * and not look at its receive, which completed in the same call; its peer would wait meanwhile for the
 * receive that the program posts next. *productive: 1 if there was something. */
MPL_STATIC_INLINE_PREFIX int MPIDI_drive_shm(MPIDI_vci_t * vci, int wait, int *productive)
{
    const unsigned completed = MPIDI_thread_local.completed;
    int mpi_errno = MPI_SUCCESS, n = 0;

    while (n < MPIR_CVAR_CH4_SHM_BATCH && MPIDI_drive_shm_once(vci, &mpi_errno) &&
           mpi_errno == MPI_SUCCESS) {
        n++;
        if (!wait && completed != MPIDI_thread_local.completed)
            break;
    }
    *productive = n > 0;
    return mpi_errno;
}
#endif

/* A number that changes if a poll finds something: the calling thread has completed a request or taken
 * in a cell of shared memory, or an active message came before its receive. */
#define MPIDI_DRIVE_FOUND(vci_) \
    (MPIDI_thread_local.completed + MPIDI_thread_local.arrived + (unsigned) MPIDI_DRIVE_EARLY(vci_))

/* See MPIDI_drive. A poll of shared memory is much cheaper than one of a netmod (ten times, with
 * libfabric over TCP). So while shared memory brings messages, one poll in MPIR_CVAR_CH4_NETMOD_TURN
 * asks the netmod; after as many polls without a message, each poll does. */
MPL_STATIC_INLINE_PREFIX int MPIDI_drive_parts(MPIDI_vci_t * vci, int flag, int wait)
{
    int mpi_errno = MPI_SUCCESS;

    tsm_store(&vci->polls, (int) (1u + (unsigned) tsm_load(&vci->polls, TSM_RELAXED)), TSM_RELAXED);
    tsm_store(&vci->poll_wanted, 0, TSM_RELAXED);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (flag & MPIDI_PROGRESS_SHM) {
        unsigned turn = MPIR_CVAR_CH4_NETMOD_TURN;
        int productive;
        mpi_errno = MPIDI_drive_shm(vci, wait, &productive);
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

/* Poll once. flag: MPIDI_PROGRESS_SHM, MPIDI_PROGRESS_NM. wait: 0 in a nonblocking call. By the holder
 * of the VCI. */
MPL_STATIC_INLINE_PREFIX int MPIDI_drive(MPIDI_vci_t * vci, int flag, int wait)
{
    const unsigned found = MPIDI_STATS_ARE_ON ? MPIDI_DRIVE_FOUND(vci) : 0;
    int mpi_errno = MPIDI_drive_parts(vci, flag, wait);

    MPIDI_STATS(MPIDI_stats_polled(vci, found != MPIDI_DRIVE_FOUND(vci)));
    (void) found;
    return mpi_errno;
}

#endif /* MPIDI_DRIVE_H_INCLUDED */
