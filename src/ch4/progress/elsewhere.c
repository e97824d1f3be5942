/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

/* Turns from one poll to the next while they find nothing: MPICH's number. */
#define MOST_TURNS 256

/* Changes if a poll finds something. */
#define FOUND (MPIDI_thread_done() + MPIDI_thread_local.events)

/* Polls of a VCI by other threads since this thread's last one. */
static unsigned polls_of_others(const MPIDI_thread_watch_t * watch, MPIDI_vci_t * v)
{
    return (unsigned) tsm_load(&v->polls, TSM_RELAXED) - watch->elsewhere;
}

/* Returns 1 if the poll found work that nobody else would have done soon. Many polls by others in
 * these turns mean that they drive the VCI; one or two may be of threads that wait elsewhere, too. */
static int poll_one(int vci, int flag, int wait, unsigned turns, int *mpi_errno)
{
    MPIDI_vci_t *v = &MPIDI_VCI(vci).threads;
    MPIDI_thread_watch_t *watch = &MPIDI_thread_self()->watch[vci];
    const unsigned done = FOUND;
    const int is_left_alone = polls_of_others(watch, v) <= 1 + turns / 16;

    *mpi_errno = MPIDI_poll(vci, flag, wait);
    watch->elsewhere = (unsigned) tsm_load(&v->polls, TSM_RELAXED);
    return is_left_alone && done != FOUND;
}

static int is_polled_anyway(const MPID_Progress_state * state, int vci)
{
    for (int i = 0; i < state->vci_count; i++) {
        if (state->vci[i] == vci)
            return 1;
    }
    return 0;
}

int MPIDI_elsewhere_poll(const MPID_Progress_state * state, int wait)
{
    MPIDI_thread_local_t *self = &MPIDI_thread_local;
    const unsigned turns = self->elsewhere_turns ? self->elsewhere_turns : MOST_TURNS;
    int mpi_errno = MPI_SUCCESS, found = 0;

    if (!MPIDI_global.is_initialized || !MPIR_CVAR_CH4_GLOBAL_PROGRESS ||
        state->vci_count == MPIDI_global.n_vcis)
        return MPI_SUCCESS;
    for (int vci = 0; vci < MPIDI_global.n_vcis && mpi_errno == MPI_SUCCESS; vci++) {
        if (!is_polled_anyway(state, vci))
            found |= poll_one(vci, state->flag, wait, turns, &mpi_errno);
    }
    self->elsewhere_turns = found ? MPL_MAX(turns / 2, 1) : MPL_MIN(2 * turns, MOST_TURNS);
    self->elsewhere_left = self->elsewhere_turns - 1;
    return mpi_errno;
}

#endif
