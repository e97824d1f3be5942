/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_REQUEST_DONE_H_INCLUDED
#define MPIDI_REQUEST_DONE_H_INCLUDED

/* Whether a test call has its answer already. A test that can answer need not make progress, and
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

#endif /* MPIDI_REQUEST_DONE_H_INCLUDED */
