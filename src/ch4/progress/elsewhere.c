/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

/* A thread that drives a VCI polls it more often between two global polls of another thread, which
 * makes 256 turns then. Fewer polls are global ones. */
#define FEW_POLLS 16

static __thread unsigned turns;

static int is_on(void)
{
    return MPIDI_global.n_vcis > 1 && MPIDI_global.is_initialized && MPIR_CVAR_CH4_GLOBAL_PROGRESS;
}

static int polls_of(int vci)
{
    return (int) tsm_load(&MPIDI_VCI(vci).threads.polls, TSM_RELAXED);
}

static int poll_one(int vci, int flag, int wait)
{
    int mpi_errno = MPIDI_poll(vci, flag, wait);

    MPIDI_thread_self()->watch[vci].polled = polls_of(vci);
    return mpi_errno;
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
    int mpi_errno = MPI_SUCCESS;

    for (int vci = 0; is_on() && vci < MPIDI_global.n_vcis && mpi_errno == MPI_SUCCESS; vci++) {
        MPIDI_thread_watch_t *watch = &MPIDI_thread_self()->watch[vci];
        if (is_polled_anyway(state, vci))
            continue;
        watch->is_left_alone = (unsigned) polls_of(vci) - (unsigned) watch->polled < FEW_POLLS;
        /* not the VCI that the caller has just polled in vain */
        mpi_errno = poll_one(vci, state->flag, wait ? MPIDI_DRIVE_WAIT : MPIDI_DRIVE_TEST);
    }
    return mpi_errno;
}

int MPIDI_elsewhere_next(void)
{
    /* in a session without a communicator of all processes only VCI 0 has its endpoint */
    if (MPIDI_global.n_vcis == 1 || !MPIDI_global.is_initialized)
        return MPI_SUCCESS;
    return poll_one(++turns % MPIDI_global.n_vcis, MPIDI_PROGRESS_ALL, 1);
}

/* With another VCI held: poll the netmod of this one, which the thread has entered. As in a poll for
 * others (section.c), nothing lets other threads in, and the next poll of the VCI has the error. */
static void poll_netmod_nested(MPIDI_vci_t * v)
{
    int mpi_errno;

    MPIDI_thread_local.draining++;
    mpi_errno = MPIDI_NM_progress(v->index, 0);
    MPIDI_thread_local.draining--;
    if (v->poll_error == MPI_SUCCESS)
        v->poll_error = mpi_errno;
}

/* Poll the netmod of the next VCI, unless another thread holds that. */
static int poll_another_netmod(void)
{
    MPIDI_per_vci_t *p;

    if (MPIDI_global.n_vcis == 1 || !MPIDI_global.is_initialized)
        return MPI_SUCCESS;
    p = &MPIDI_VCI(++turns % (unsigned) MPIDI_global.n_vcis);
    if (!MPIR_ThreadInfo.isThreaded)
        return MPIDI_NM_progress(p->threads.index, 0);
    if (MPIDI_section_try(&p->lock)) {
        poll_netmod_nested(&p->threads);
        MPIDI_section_exit(&p->lock);
    }
    return MPI_SUCCESS;
}

/* Shared memory waits: the caller may be in the middle of one of its messages. Threads whose requests
 * are complete do not wait until the caller releases its VCI: the peer may wait for what they do. */
int MPIDI_progress_netmods_locked(int vci)
{
    int mpi_errno = MPIDI_NM_progress(vci, 0);

    MPIDI_watchdog_step();      /* the call, if it waits, does so here */
    if (mpi_errno == MPI_SUCCESS)
        mpi_errno = poll_another_netmod();
    if (MPIDI_thread_local.to_wake)
        MPIDI_section_wake();
    return mpi_errno;
}

/* If two threads help a VCI, the one that notices first stops, until its next global poll. */
int MPIDI_elsewhere_spin(const MPID_Progress_state * state)
{
    MPIDI_thread_watch_t *watch;
    int vci;

    if (!is_on())
        return MPI_SUCCESS;
    vci = ++turns % MPIDI_global.n_vcis;
    watch = &MPIDI_thread_self()->watch[vci];
    if (!watch->is_left_alone || is_polled_anyway(state, vci))
        return MPI_SUCCESS;
    watch->is_left_alone = polls_of(vci) == watch->polled;
    return watch->is_left_alone ? poll_one(vci, state->flag, 1) : MPI_SUCCESS;
}

#endif
