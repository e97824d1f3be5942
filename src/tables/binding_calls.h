/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef BINDING_CALLS_H_INCLUDED
#define BINDING_CALLS_H_INCLUDED

/* What MPI functions do beside the function of MPICH that they call: it has our part here, wherever it
 * is called, but in comm_impl.c and comm_split_type.c, which define these and call each other's as they
 * are (binding_calls_not.h). The macro of a name does not apply within its own text.
 *
 * Calls that give hints to a communicator have its processes compare them (doc/casper.md).
 * MPI_Intercomm_create_from_groups gives them to the new communicator; MPICH gives them to the local
 * one, which it frees. Both calls that make one from groups are an error if that cannot be done, where
 * MPICH ends the program (comm_locked.h), and the empty group has no communicator. */
struct MPIR_Group;
int MPIR_Comm_check_groups(struct MPIR_Group *group, struct MPIR_Group *remote);

#define MPIR_Comm_dup_with_info_impl(comm_, info_, made_) \
    __extension__({ \
        int err_ = MPIR_Comm_dup_with_info_impl(comm_, info_, made_); \
        err_ ? err_ : csp_comm_agree(*(made_)); \
    })

#define MPIR_Comm_idup_with_info_impl(comm_, info_, made_, request_) \
    __extension__({ \
        int err_ = MPIR_Comm_idup_with_info_impl(comm_, info_, made_, request_); \
        csp_comm_forget(*(made_)); \
        err_; \
    })

#define MPIR_Comm_set_info_impl(comm_, info_) \
    __extension__({ \
        int err_ = MPIR_Comm_set_info_impl(comm_, info_); \
        err_ ? err_ : csp_comm_change(comm_); \
    })

#define MPIR_Comm_split_type_impl(comm_, type_, key_, info_, made_) \
    __extension__({ \
        int err_ = MPIR_Comm_split_type_impl(comm_, type_, key_, info_, made_); \
        err_ ? err_ : csp_comm_agree(*(made_)); \
    })

#define MPIR_Comm_create_from_group_impl(group_, tag_, info_, errhandler_, made_) \
    __extension__({ \
        int err_ = MPIR_Comm_check_groups(group_, NULL); \
        if (err_ == MPI_SUCCESS && (group_)->size > 0) \
            err_ = MPIR_Comm_create_from_group_impl(group_, tag_, info_, errhandler_, made_); \
        err_ ? err_ : csp_comm_agree(*(made_)); \
    })

#define MPIR_Intercomm_create_from_groups_impl(group_, leader_, remote_group_, remote_leader_, tag_, \
                                               info_, errhandler_, made_) \
    __extension__({ \
        int err_ = MPIR_Comm_check_groups(group_, remote_group_); \
        if (err_ == MPI_SUCCESS) \
            err_ = MPIR_Intercomm_create_from_groups_impl(group_, leader_, remote_group_, \
                                                          remote_leader_, tag_, NULL, errhandler_, \
                                                          made_); \
        err_ = err_ ? err_ : (MPIR_Comm_set_info_impl) (*(made_), info_); \
        err_ ? err_ : csp_comm_agree(*(made_)); \
    })

/* A session keeps the error handler of MPI_Session_init. */
#define MPIR_SESSION_KEEP_ERRHANDLER(session_, errhandler_) \
    do { \
        MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX); \
        MPIR_Session_set_errhandler_impl(session_, errhandler_);        /* never fails */ \
        MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX); \
    } while (0)

/* mpit_initthread.c: how often MPI_T is initialized, counted atomically. The tables of variables and
 * the mutex of MPI_T are there when this returns, and stay until the process exits. All tools take the
 * mutex: in MPICH, one that asks for less than MPI_THREAD_MULTIPLE turns it off for the others. */
_Atomic int *MPIR_T_users(void);

#define MPIR_T_init_balance (*MPIR_T_users())
#undef MPIR_T_THREAD_CS_INIT
#undef MPIR_T_THREAD_CS_FINALIZE
#define MPIR_T_THREAD_CS_INIT() ((void) 0)
#define MPIR_T_THREAD_CS_FINALIZE() ((void) 0)
#ifdef MPICH_IS_THREADED
#undef MPIR_T_THREAD_CS_ENTER
#undef MPIR_T_THREAD_CS_EXIT
#define MPIR_T_THREAD_CS_ENTER() \
    do { \
        int err_; \
        MPID_Thread_mutex_lock(&mpi_t_mutex, &err_); \
    } while (0)
#define MPIR_T_THREAD_CS_EXIT() \
    do { \
        int err_; \
        MPID_Thread_mutex_unlock(&mpi_t_mutex, &err_); \
    } while (0)
#endif

/* type_handles.h: give the program, or ROMIO, one more handle of a type, with a reference, which it
 * frees by MPI_Type_free; the part of MPI_Type_free. Without memory the handle is not counted, and the
 * first to be freed takes the attributes. */
struct MPIR_Datatype;
void MPIR_Type_add_handle(struct MPIR_Datatype *type);
int MPIR_Type_forget_handle(MPI_Datatype type);

#endif /* BINDING_CALLS_H_INCLUDED */
