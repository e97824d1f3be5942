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

/* With global an MPI call has the lock of the process as it returns an error, but some calls never take
 * it. MPII_error_enter takes it if the caller does not have it, and returns whether to leave it after.
 * A handler runs without it (MPII_ERROR_OUTSIDE). The other models have no such lock. */
static inline int MPII_error_enter(void)
{
#if defined(MPICH_IS_THREADED) && MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__GLOBAL
    if (MPIR_ThreadInfo.isThreaded && MPIDUI_mutex_is_mine(&MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX))
        return 0;
#endif
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return 1;
}

static inline void MPII_error_exit(int has_entered)
{
    if (has_entered)
        MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
}

#define MPII_ERROR_OUTSIDE(call_) \
    do { \
        MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX); \
        call_; \
        MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX); \
    } while (0)

/* The next MPIR_Err_return_comm of this thread is that of a call which has an error handler as an
 * argument, and is to call that one; NULL if the argument is not valid. */
struct MPIR_Errhandler;
void MPIR_Err_give_handler(struct MPIR_Errhandler *errhandler);

/* MPIR_Err_return_comm for calls with a session, which may not be valid. */
struct MPIR_Session;
int MPIR_Err_return_session(struct MPIR_Session *session, const char fcname[], int errcode);

#endif /* ERRHANDLER_HELD_H_INCLUDED */
