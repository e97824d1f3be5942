/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ERR_RETURN_H_INCLUDED
#define ERR_RETURN_H_INCLUDED

/* For errutil.c: the error handler of a communicator or window is called for an error of an MPI call,
 * without a mutex (errhandler_held.h). The handle is a copy, because the handler may free the
 * object. */
#include "dynerr_copy.h"
#include "errhandler_held.h"

/* Sets reason, MPICH's number of a fault, for the code that a new one wraps. 2: newer messages have
 * taken its place in the ring, so its text is lost, but its class holds. */
#define ERR_CHECK_LAST(reason_, code_) \
    do { \
        error_ring_mutex_lock(); \
        (reason_) = checkErrcodeIsValid(code_); \
        error_ring_mutex_unlock(); \
        if ((reason_) == 2) \
            (reason_) = 0; \
    } while (0)

static bool err_is_abort(MPIR_Errhandler * errhandler)
{
    return errhandler == NULL || errhandler->handle == MPI_ERRORS_ARE_FATAL ||
        errhandler->handle == MPI_ERRORS_ABORT;
}

/* Calls a handler of the user's, and returns what the MPI call is to return. cxx_kind is MPICH's number
 * of the kind of object. */
static int err_call_handler(MPIR_Errhandler * errhandler, int handle, int cxx_kind ATTRIBUTE((unused)),
                            int errcode)
{
    if (errhandler->language == MPIR_LANG__C) {
        /* the type of a handle of a communicator and of a window is int; the 0 is for old programs */
        errhandler->errfn.C_Comm_Handler_function(&handle, &errcode, 0);
    }
#ifdef HAVE_CXX_BINDING
    else if (errhandler->language == MPIR_LANG__CXX) {
        MPIR_Process.cxx_call_errfn(cxx_kind, &handle, &errcode,
                                    (void (*)(void)) errhandler->errfn.C_Comm_Handler_function);
        errcode = MPI_SUCCESS;  /* for any other value the binding throws an exception */
    }
#endif
#ifdef HAVE_FORTRAN_BINDING
    else if (errhandler->language == MPIR_LANG__FORTRAN ||
             errhandler->language == MPIR_LANG__FORTRAN90) {
        MPI_Fint f_handle = handle, f_code = errcode;
        errhandler->errfn.F77_Handler_function(&f_handle, &f_code);
    }
#endif
    return errcode;
}

/* The same for any handler, whose reference it gives back. */
static int err_run_handler(MPIR_Errhandler * errhandler, int handle, int cxx_kind, int errcode)
{
    if (errhandler->handle != MPI_ERRORS_RETURN &&
        errhandler->handle != MPIR_ERRORS_THROW_EXCEPTIONS)
        MPII_ERROR_OUTSIDE(errcode = err_call_handler(errhandler, handle, cxx_kind, errcode));
    MPIR_Errhandler_free_impl(errhandler);
    return errcode;
}

/* Errors of file operations are returned whatever the handler of MPI_COMM_WORLD, and those of one-sided
 * operations with a request go to the handler of their window; the handler of MPI_COMM_WORLD counts for
 * calls with a list of requests. So a thread remembers of which requests it has met an error since it
 * last returned one. A request of a file operation is a generalized one with a communicator, the
 * file's; one of a window is marked when it is issued (issue/rma_wrappers.h). */
typedef enum {
    ERR_OF_NONE,
    ERR_OF_FILES,
    ERR_OF_WINDOW,              /* several windows: of the first */
    ERR_OF_OTHERS               /* too, or of both */
} err_of_t;
static MPL_TLS err_of_t err_of_requests;
static MPL_TLS MPIR_Win *err_window;

/* The error of any other request goes to the handler of its communicator, which may have been freed
 * but for the request, and that is freed before the call returns: so there is a reference to the
 * communicator of the latest one that failed. It goes as the call returns its error: with a handler of
 * its own, if it has a communicator, as a collective, whose requests come here, too. */
static MPL_TLS MPIR_Comm *err_comm;

/* comm: NULL for none. */
static void err_keep_comm(MPIR_Comm * comm)
{
    MPIR_Comm *before = err_comm;

    err_comm = comm;
    if (comm)
        MPIR_Comm_add_ref(comm);
    if (before)
        MPIR_Comm_release(before);
}

/* For errors that have nothing to do with requests, but those within the call. */
static void err_forget_requests(void)
{
    err_of_requests = ERR_OF_NONE;
    err_keep_comm(NULL);
}

static err_of_t err_of_kind(const MPIR_Request * req)
{
    if (req->kind == MPIR_REQUEST_KIND__GREQUEST && req->comm)
        return ERR_OF_FILES;
    return req->kind == MPIR_REQUEST_KIND__RMA ? ERR_OF_WINDOW : ERR_OF_OTHERS;
}

/* A status has the code of a file operation itself, not one of a failed query function. */
int MPIR_Err_of_request(MPIR_Request * req, int err)
{
    const err_of_t kind = err_of_kind(req);

    if (err_of_requests == ERR_OF_NONE) {
        err_of_requests = kind;
        err_window = kind == ERR_OF_WINDOW ? req->u.rma.errors_to : NULL;
    } else if (err_of_requests != kind) {
        err_of_requests = ERR_OF_OTHERS;
    }
    err_keep_comm(kind == ERR_OF_FILES ? NULL : req->comm);
    return kind == ERR_OF_FILES ? checkForUserErrcode(err) : err;
}

static err_of_t err_take_kind(void)
{
    const err_of_t met = err_of_requests;

    err_of_requests = ERR_OF_NONE;
    return met;
}

/* MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups have no communicator, but the handler
 * of the one that they were to make. */
static MPL_TLS MPIR_Errhandler *err_given;

void MPIR_Err_give_handler(MPIR_Errhandler * errhandler)
{
    err_forget_requests();
    err_given = errhandler;
}

/* Sets *comm to the communicator whose handler counts, or to NULL if there is none, and returns its
 * handler, with a reference. */
static MPIR_Errhandler *err_hold_handler(MPIR_Comm ** comm)
{
    MPIR_Errhandler *errhandler = err_given;

    err_given = NULL;
    if (errhandler) {
        *comm = NULL;
        MPIR_Errhandler_add_ref(errhandler);
        return errhandler;
    }
    if (*comm)
        MPII_ERRHANDLER_HOLD(*comm, errhandler);
    if (errhandler == NULL && MPIR_Process.comm_world) {
        *comm = MPIR_Process.comm_world;
        MPII_ERRHANDLER_HOLD(*comm, errhandler);
    }
    return errhandler;
}

/* Gives back what err_keep_comm kept, before a handler is called, which may not return; but a handler
 * gets the communicator's handle, so the last reference stays. If others are left, and the handler
 * waits for their requests, the handle is good only until then. Returns the last reference or NULL. */
static MPIR_Comm *err_drop_comm(MPIR_Comm * kept)
{
    if (kept == NULL || MPIR_Object_get_ref(kept) == 1)
        return kept;
    MPIR_Comm_release(kept);
    return NULL;
}

/* With the lock of global. */
static int err_return_comm(MPIR_Comm * comm, const char fcname[], int errcode)
{
    MPIR_Comm *kept = err_comm;
    MPIR_Errhandler *errhandler;
    int handle;

    err_comm = NULL;
    /* a call with a list of requests has no communicator, nor has MPI_Mrecv */
    if (comm == NULL && ERROR_GET_CLASS(errcode) != MPI_ERR_IN_STATUS)
        comm = kept;
    errhandler = err_hold_handler(&comm);
    if (MPIR_Err_is_fatal(errcode) || err_is_abort(errhandler))
        MPIR_Handle_fatal_error(comm, fcname, errcode); /* does not return */
    handle = comm ? comm->handle : MPI_COMM_NULL;
    kept = err_drop_comm(kept);
    errcode = err_run_handler(errhandler, handle, 0, checkForUserErrcode(errcode));
    if (kept)
        MPIR_Comm_release(kept);
    return errcode;
}

/* comm: NULL for the handler of MPI_COMM_WORLD, or of the communicator of the request that failed. */
int MPIR_Err_return_comm(MPIR_Comm * comm, const char fcname[], int errcode)
{
    int has_entered;

    checkValidErrcode(ERROR_GET_CLASS(errcode), fcname, &errcode);
    switch (err_take_kind()) {
        case ERR_OF_FILES:
            return checkForUserErrcode(errcode);
        case ERR_OF_WINDOW:
            /* the program may have freed it before it waited for the request */
            if (MPIR_Object_get_ref(err_window) > 0)
                return MPIR_Err_return_win(err_window, fcname, errcode);
            break;
        default:
            break;
    }
    if (!MPIR_Errutil_is_initialized()) {
        err_given = NULL;
        MPIR_Handle_fatal_error(MPIR_Process.comm_world, fcname, errcode);
        return MPI_ERR_INTERN;
    }
    has_entered = MPII_error_enter();
    errcode = err_return_comm(comm, fcname, errcode);
    MPII_error_exit(has_entered);
    return errcode;
}

/* The same for the held handler of another object. */
static int err_return_held(MPIR_Errhandler * errhandler, int handle, int cxx_kind, const char fcname[],
                           int errcode)
{
    checkValidErrcode(ERROR_GET_CLASS(errcode), fcname, &errcode);
    if (MPIR_Err_is_fatal(errcode) || err_is_abort(errhandler))
        MPIR_Handle_fatal_error(NULL, fcname, errcode); /* does not return */
    return err_run_handler(errhandler, handle, cxx_kind, checkForUserErrcode(errcode));
}

int MPIR_Err_return_win(MPIR_Win * win, const char fcname[], int errcode)
{
    const int has_entered = MPII_error_enter();
    MPIR_Errhandler *errhandler = NULL;

    err_forget_requests();
    if (win)
        MPII_ERRHANDLER_HOLD(win, errhandler);
    errcode = errhandler ? err_return_held(errhandler, win->handle, 2, fcname, errcode) :
        MPIR_Err_return_comm(NULL, fcname, errcode);
    MPII_error_exit(has_entered);
    return errcode;
}

int MPIR_Err_return_session(MPIR_Session * session, const char fcname[], int errcode)
{
    const int has_entered = MPII_error_enter();
    MPIR_Errhandler *errhandler = NULL;

    err_forget_requests();
    if (session && ERROR_GET_CLASS(errcode) != MPI_ERR_SESSION) /* else it may be gone */
        MPII_ERRHANDLER_HOLD(session, errhandler);
    errcode = errhandler ? err_return_held(errhandler, session->handle, 0, fcname, errcode) :
        MPIR_Err_return_comm(NULL, fcname, errcode);
    MPII_error_exit(has_entered);
    return errcode;
}

#endif /* ERR_RETURN_H_INCLUDED */
