/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ERRHANDLER_HELD_H_INCLUDED
#define ERRHANDLER_HELD_H_INCLUDED

/* Error handlers are called without the mutex of their communicator or window, where MPICH holds it: a
 * handler may call MPI, wait for a thread that needs the mutex, or not return. A reference keeps it
 * meanwhile; the caller gives that back by MPIR_Errhandler_free_impl.
 *
 * Sets errhandler_ to the error handler of obj_, with a reference, or to NULL if it has none. */
#define MPII_ERRHANDLER_HOLD(obj_, errhandler_) \
    do { \
        MPID_THREAD_CS_ENTER(POBJ, (obj_)->mutex); \
        MPID_THREAD_CS_ENTER(VCI, (obj_)->mutex); \
        (errhandler_) = (obj_)->errhandler; \
        if (errhandler_) \
            MPIR_Errhandler_add_ref(errhandler_); \
        MPID_THREAD_CS_EXIT(POBJ, (obj_)->mutex); \
        MPID_THREAD_CS_EXIT(VCI, (obj_)->mutex); \
    } while (0)

/* The next MPIR_Err_return_comm of this thread is that of a call which has an error handler as an
 * argument, and is to call that one; NULL if the argument is not valid. */
struct MPIR_Errhandler;
void MPIR_Err_give_handler(struct MPIR_Errhandler *errhandler);

/* MPIR_Err_return_comm for calls with a session, which may not be valid. */
struct MPIR_Session;
int MPIR_Err_return_session(struct MPIR_Session *session, const char fcname[], int errcode);

#endif /* ERRHANDLER_HELD_H_INCLUDED */
