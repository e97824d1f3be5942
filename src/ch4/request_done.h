/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_REQUEST_DONE_H_INCLUDED
#define MPIDI_REQUEST_DONE_H_INCLUDED

/* For MPICH's calls on lists of requests: checks whether a test call can return true already, and
 * makes one turn of a wait.
 *
 * A test that can return true makes no progress, so it does not compete for a VCI with threads that
 * must (pmodels/mpich pull request 6629). An inactive persistent request is complete, but for Testany
 * and Testsome it does not count: a list that holds one would never make progress. */

static inline int MPIR_Requests_all_done(int count, MPIR_Request * reqs[])
{
    for (int i = 0; i < count; i++) {
        if (reqs[i] && !MPIR_Request_is_complete(reqs[i]))
            return 0;
    }
    return 1;
}

static inline int MPIR_Requests_any_done(int count, MPIR_Request * reqs[])
{
    for (int i = 0; i < count; i++) {
        if (reqs[i] && MPIR_Request_is_complete(reqs[i]) && MPIR_Request_is_active(reqs[i]))
            return 1;
    }
    return 0;
}

/* One turn of MPI_Waitany and MPI_Waitsome: polls, and may wait or sleep where other waits do. The
 * caller then looks at its requests. */
static inline int MPIR_Requests_wait_turn(MPID_Progress_state * state)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    return MPID_Progress_wait(state);
#else
#ifdef MPIDI_WATCHDOG_H_INCLUDED        /* in ch4 */
    MPIDI_watchdog_step();
#endif
    return MPID_Progress_test(state);
#endif
}

#endif /* MPIDI_REQUEST_DONE_H_INCLUDED */
