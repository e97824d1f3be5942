/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_GREQ_OUTSIDE_H_INCLUDED
#define MPIDI_GREQ_OUTSIDE_H_INCLUDED

/* For mpir_request.c, behind the calls of these functions and before their definitions. With global,
 * the program's functions that cancel and free a generalized request run without the lock of the
 * process, as in MPICH those that query it: they may call MPI, and MPI_Grequest_complete is how a
 * request is cancelled. MPICH's functions, which call them, have other names here. */
static int grequest_cancel(MPIR_Request * req, int complete);
static int grequest_free(MPIR_Request * req);

int MPIR_Grequest_cancel(MPIR_Request * req, int complete)
{
    int mpi_errno;

    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    mpi_errno = grequest_cancel(req, complete);
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}

int MPIR_Grequest_free(MPIR_Request * req)
{
    int mpi_errno;

    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    mpi_errno = grequest_free(req);
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}

#define MPIR_Grequest_cancel grequest_cancel
#define MPIR_Grequest_free grequest_free

#endif /* MPIDI_GREQ_OUTSIDE_H_INCLUDED */
