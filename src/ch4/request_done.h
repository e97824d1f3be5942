/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_REQUEST_DONE_H_INCLUDED
#define MPIDI_REQUEST_DONE_H_INCLUDED

/* What MPICH's calls on lists of requests ask: whether there is an answer yet, and a turn of waiting
 * for one.
 *
 * Whether a test call has its answer already. A test that can answer need not make progress, and
 * does not contend for a VCI with threads that must (pmodels/mpich pull request 6629). An inactive
 * persistent request is complete but is no answer to Testany and Testsome: a list that holds one
 * would never see progress. */

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
    return MPID_Progress_test(state);
#endif
}

#endif /* MPIDI_REQUEST_DONE_H_INCLUDED */
