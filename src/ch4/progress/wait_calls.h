/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_WAIT_CALLS_H_INCLUDED
#define MPIDI_WAIT_CALLS_H_INCLUDED

/* For ch4_wait.h: the calls that wait for requests, in place of MPICH's. Each is one wait
 * (MPIDI_wait_begin in progress.h) around MPICH's loop. */

MPL_STATIC_INLINE_PREFIX int MPID_Wait(MPIR_Request * req, MPI_Status * status)
{
    MPID_Progress_state state;

    MPIDI_set_progress_vci(req, &state);
    MPIDI_wait_begin(&state, 0, 1, &req);
    int mpi_errno = MPIR_Wait_state(req, status, &state);
    MPIDI_wait_end(&state);
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPID_Waitall(int count, MPIR_Request * reqs[], MPI_Status statuses[],
                                          int properties)
{
    MPID_Progress_state state;

    MPIDI_set_progress_vci_n(count, reqs, &state);
    MPIDI_wait_begin(&state, 0, count, reqs);
    int mpi_errno = MPIR_Waitall_state(count, reqs, statuses, properties, &state);
    MPIDI_wait_end(&state);
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPID_Waitany(int count, MPIR_Request * reqs[], int *indx,
                                          MPI_Status * status)
{
    MPID_Progress_state state;

    MPIDI_set_progress_vci_n(count, reqs, &state);
    MPIDI_wait_begin(&state, 1, count, reqs);
    int mpi_errno = MPIR_Waitany_state(count, reqs, indx, status, &state);
    MPIDI_wait_end(&state);
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPID_Waitsome(int count, MPIR_Request * reqs[], int *outcount,
                                           int indices[], MPI_Status statuses[])
{
    MPID_Progress_state state;

    MPIDI_set_progress_vci_n(count, reqs, &state);
    MPIDI_wait_begin(&state, 1, count, reqs);
    int mpi_errno = MPIR_Waitsome_state(count, reqs, outcount, indices, statuses, &state);
    MPIDI_wait_end(&state);
    return mpi_errno;
}

#endif /* MPIDI_WAIT_CALLS_H_INCLUDED */
