/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/drive.h"
#include "threads/alone.h"
#include "threads/one_node.h"
#include "threads/stats/hooks.h"
#include "threads/thread.h"

/* What a poll counts for that time may pass after: see drive_shm_first. */
#define LONG_POLL 8u

/* Where the clock is read, the netmod is asked after so long. */
#define NETMOD_NS 10000

/* So many times more seldom, and after so long, while it has no process to bring a message of. */
#define ONE_NODE_TURNS 64u
#define ONE_NODE_NS 1000000

#ifndef MPIDI_CH4_DIRECT_NETMOD
/* Take in one cell from shared memory, and send one message that had no room. Returns whether it did
 * either. Counts a cell as handled if it is for the process rather than for a request: the thread has
 * found work then, and does not back off. An early message is no such work; it would make its thread
 * poll on and keep the receiver from running. */
MPL_STATIC_INLINE_PREFIX int drive_shm_once(MPIDI_per_vci_t * vci, int *mpi_errno)
{
    const unsigned arrived = MPIDI_thread_local.arrived;
    const unsigned completed = MPIDI_thread_local.completed;
    const uint64_t early = vci->unexp_table.seq;        /* messages that came before their receives */

    *mpi_errno = MPIDI_SHM_progress(vci->threads.index, 0);
    if (completed != MPIDI_thread_local.completed || early != vci->unexp_table.seq)
        return 1;
    if (arrived == MPIDI_thread_local.arrived)
        return 0;
    MPIDI_thread_local.handled++;
    return 1;
}

/* Do so up to MPIR_CVAR_CH4_SHM_BATCH times. MPICH does it once in a call, so without this each message
 * would cost a lock pair and a check of all awaited requests. A nonblocking call ends with the first
 * request that completes. If it went on, a program that tests its send might see it done each time,
 * and not look at its receive, which completed in the same call; its peer would wait meanwhile for the
 * receive that the program posts next. *found: how often there was something. */
MPL_STATIC_INLINE_PREFIX int drive_shm(MPIDI_per_vci_t * vci, int wait, int *found)
{
    const unsigned completed = MPIDI_thread_local.completed;
    int mpi_errno = MPI_SUCCESS, n = 0;

    while (n < MPIR_CVAR_CH4_SHM_BATCH && drive_shm_once(vci, &mpi_errno) &&
           mpi_errno == MPI_SUCCESS) {
        n++;
        if (!wait && completed != MPIDI_thread_local.completed)
            break;
    }
    *found = n;
    return mpi_errno;
}

/* 1 if the thread goes on to poll: it waits alone, and has nothing else to poll. */
MPL_STATIC_INLINE_PREFIX int drive_goes_on(int wait)
{
    return wait && MPIDI_global.n_vcis == 1 && !MPIDI_thread_local.is_server && MPIDI_waits_alone();
}

/* 1 if much time may have passed since the thread's last poll, in the program or in a nap, or may pass
 * until the next one, because it offers its processor. */
MPL_STATIC_INLINE_PREFIX int drive_may_pause(int wait, int found)
{
    return wait != MPIDI_DRIVE_AGAIN || (!found && tsm_load_crowded());
}

static int drive_netmod_waits(MPIDI_vci_t * v, uint64_t ns)
{
    const uint64_t now = tsm_now_ns();

    if (now - v->nm_asked < ns)
        return 0;
    v->nm_asked = now;
    return 1;
}

/* 1 if it is time to ask the netmod: see drive_shm_first. */
MPL_STATIC_INLINE_PREFIX int drive_netmod_is_due(MPIDI_vci_t * v, int wait, int found)
{
    const unsigned turn = MPIR_CVAR_CH4_NETMOD_TURN;
    const int is_alone = MPIDI_on_one_node();

    if (is_alone ? v->nm_skipped >= turn * ONE_NODE_TURNS :
        v->shm_quiet >= turn || v->nm_skipped >= turn)
        return 1;
    return drive_may_pause(wait, found) &&
        drive_netmod_waits(v, is_alone ? ONE_NODE_NS : NETMOD_NS);
}

/* Poll shared memory. A poll of it is much cheaper than one of a netmod (ten times, with libfabric over
 * TCP), during which a message in shared memory waits. So while shared memory brings messages, the
 * netmod is asked once in MPIR_CVAR_CH4_NETMOD_TURN messages and polls in vain; after as many polls in
 * vain in a row, each poll asks it. Only polls of a thread that waits alone follow each other at once;
 * others count as LONG_POLL. Where much time may pass between polls, the clock decides as well: a
 * program that computes between calls which each find their message would keep the network from its
 * turn. A job on one node asks seldom: a poll of TCP is a system call. *found: as in drive_shm;
 * *ask_netmod: 1 if it is time. */
MPL_STATIC_INLINE_PREFIX int drive_shm_first(MPIDI_per_vci_t * vci, int wait, int *found,
                                             int *ask_netmod)
{
    MPIDI_vci_t *v = &vci->threads;
    int mpi_errno = drive_shm(vci, wait, found);
    const unsigned polls = drive_goes_on(wait) ? MPL_MAX((unsigned) *found, 1u) : LONG_POLL;

    v->shm_quiet = *found ? 0 : v->shm_quiet + polls;
    v->nm_skipped += polls;
    *ask_netmod = drive_netmod_is_due(v, wait, *found);
    return mpi_errno;
}
#endif

/* A number that changes if a poll finds something: the calling thread has completed a request or taken
 * in a cell of shared memory, or an active message came before its receive. */
#define FOUND(vci_) \
    (MPIDI_thread_local.completed + MPIDI_thread_local.arrived + (unsigned) (vci_)->unexp_table.seq)

/* *found: 0 if the poll has found nothing; only with statistics. */
MPL_STATIC_INLINE_PREFIX int drive_netmod(MPIDI_per_vci_t * vci, int *found)
{
    const unsigned before = MPIDI_STATS_ARE_ON ? FOUND(vci) : 0;
    int mpi_errno = MPIDI_NM_progress(vci->threads.index, 0);

    vci->threads.nm_skipped = 0;
    *found |= MPIDI_STATS_ARE_ON && before != FOUND(vci);
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int drive_parts(MPIDI_per_vci_t * vci, int flag, int wait, int *found)
{
    MPIDI_vci_t *v = &vci->threads;
    int mpi_errno = MPI_SUCCESS;

    *found = 0;
    MPIDI_count(&v->polls, 1);
    if (tsm_load(&v->poll_wanted, TSM_RELAXED))
        tsm_store(&v->poll_wanted, 0, TSM_RELAXED);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (flag & MPIDI_PROGRESS_SHM) {
        int ask_netmod;
        mpi_errno = drive_shm_first(vci, wait, found, &ask_netmod);
        if (mpi_errno != MPI_SUCCESS || !ask_netmod)
            return mpi_errno;
    }
#endif
    if (flag & MPIDI_PROGRESS_NM)
        mpi_errno = drive_netmod(vci, found);
    return mpi_errno;
}

/* For MPIDI_early_yield, before the thread's next poll. */
static void note_early(uint64_t messages)
{
    MPIDI_thread_t *self = MPIDI_thread_self();

    self->early += (int) messages;
    self->attention |= MPIDI_THREAD_EARLY;
}

int MPIDI_drive(MPIDI_per_vci_t * vci, int flag, int wait)
{
    const uint64_t early = vci->unexp_table.seq;
    int found;
    int mpi_errno = drive_parts(vci, flag, wait, &found);

    if (unlikely(early != vci->unexp_table.seq))
        note_early(vci->unexp_table.seq - early);
    MPIDI_STATS(MPIDI_stats_polled(&vci->threads, found));
    return mpi_errno;
}

#endif
