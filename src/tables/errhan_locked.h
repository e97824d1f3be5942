/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ERRHAN_LOCKED_H_INCLUDED
#define ERRHAN_LOCKED_H_INCLUDED

/* For errhan_impl.c: threads may set the error handlers of one session or one file (table_lock.h), and
 * handlers are called without a mutex (errhandler_held.h). */
#include "errhandler_held.h"
#include "table_lock.h"

static MPL_initlock_t file_errhan_lock = MPL_INITLOCK_INITIALIZER;

static int file_get_errhandler(MPI_File file, MPI_Errhandler * errhandler);
static int file_set_errhandler(MPI_File file, MPIR_Errhandler * errhandler);
static int session_set_errhandler(MPIR_Session * session, MPIR_Errhandler * errhandler);
static int call_errhandler(MPIR_Errhandler * errhandler, int errorcode, int handle);

int MPIR_File_get_errhandler_impl(MPI_File file, MPI_Errhandler * errhandler)
TABLE_LOCKED(file_errhan_lock, file_get_errhandler(file, errhandler))

int MPIR_File_set_errhandler_impl(MPI_File file, MPIR_Errhandler * errhandler)
TABLE_LOCKED(file_errhan_lock, file_set_errhandler(file, errhandler))

int MPIR_Session_set_errhandler_impl(MPIR_Session * session, MPIR_Errhandler * errhandler)
{
    int mpi_errno;

    MPID_THREAD_CS_ENTER(POBJ, session->mutex);
    MPID_THREAD_CS_ENTER(VCI, session->mutex);
    mpi_errno = session_set_errhandler(session, errhandler);
    MPID_THREAD_CS_EXIT(POBJ, session->mutex);
    MPID_THREAD_CS_EXIT(VCI, session->mutex);
    return mpi_errno;
}

/* With the lock of global, which MPI_Comm_call_errhandler and its kin do not take. */
static int call_held_errhandler(MPIR_Errhandler * errhandler, int errorcode, int handle)
{
    int mpi_errno;

    MPII_ERROR_OUTSIDE(mpi_errno = call_errhandler(errhandler, errorcode, handle));
    if (errhandler)
        MPIR_Errhandler_free_impl(errhandler);
    return mpi_errno;
}

int MPIR_Comm_call_errhandler_impl(MPIR_Comm * comm, int errorcode)
{
    const int has_entered = MPII_error_enter();
    MPIR_Errhandler *errhandler;

    MPII_ERRHANDLER_HOLD(comm, errhandler);
    errorcode = call_held_errhandler(errhandler, errorcode, comm->handle);
    MPII_error_exit(has_entered);
    return errorcode;
}

int MPIR_Win_call_errhandler_impl(MPIR_Win * win, int errorcode)
{
    const int has_entered = MPII_error_enter();
    MPIR_Errhandler *errhandler;

    MPII_ERRHANDLER_HOLD(win, errhandler);
    errorcode = call_held_errhandler(errhandler, errorcode, win->handle);
    MPII_error_exit(has_entered);
    return errorcode;
}

int MPIR_Session_call_errhandler_impl(MPIR_Session * session, int errorcode)
{
    const int has_entered = MPII_error_enter();
    MPIR_Errhandler *errhandler;

    MPII_ERRHANDLER_HOLD(session, errhandler);
    errorcode = call_held_errhandler(errhandler, errorcode, session->handle);
    MPII_error_exit(has_entered);
    return errorcode;
}

#define MPIR_File_get_errhandler_impl file_get_errhandler
#define MPIR_File_set_errhandler_impl file_set_errhandler
#define MPIR_Session_set_errhandler_impl session_set_errhandler

/* Nothing calls MPICH's, which hold the mutex. */
static int comm_call_errhandler(MPIR_Comm * comm, int errorcode) ATTRIBUTE((unused));
static int win_call_errhandler(MPIR_Win * win, int errorcode) ATTRIBUTE((unused));
static int session_call_errhandler(MPIR_Session * session, int errorcode) ATTRIBUTE((unused));
#define MPIR_Comm_call_errhandler_impl comm_call_errhandler
#define MPIR_Win_call_errhandler_impl win_call_errhandler
#define MPIR_Session_call_errhandler_impl session_call_errhandler

#endif /* ERRHAN_LOCKED_H_INCLUDED */
