/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_MUTEX_H_INCLUDED
#define ROMIO_MUTEX_H_INCLUDED

/* For glue_romio.c, which has ROMIO's mutex: it is made once, and a thread knows how often it has it,
 * so that it can take it again and let others in (romio_let_in.h). MPICH's functions, which follow,
 * have other names here. */

#include "romio_types.h"
#include "tsm/tsm_wait.h"

static MPL_initlock_t romio_init_lock = MPL_INITLOCK_INITIALIZER;

/* times that the calling thread has romio_mutex */
static MPL_TLS int romio_depth;

/* files with a queue: romio_queue.h */
struct ADIOI_FileD *MPIR_Ext_queued_files;

static void romio_mutex_init(void);
static void romio_cs_enter(void);
static void romio_cs_exit(void);
static void romio_cs_yield(void) ATTRIBUTE((unused));

/* as in romio_let_in.h, romio_queue.h and romio_external32.h */
int MPIR_Ext_cs_let_in(void);
void MPIR_Ext_cs_take_back(int depth);
int MPIR_Ext_is_initialized(void);
int MPIR_Ext_comm_dup(MPI_Comm comm, MPI_Comm * made);
void MPIR_Ext_at_end(MPI_Delete_function * function, int *keyval);
int MPIR_Ext_grequest_class_create(MPI_Grequest_query_function * query,
                                   MPI_Grequest_free_function * end,
                                   MPI_Grequest_cancel_function * cancel,
                                   MPIX_Grequest_poll_function * poll,
                                   MPIX_Grequest_wait_function * wait, MPIX_Grequest_class * made);
void MPIR_Ext_grequest_return_errors(MPI_Request request, MPI_Comm comm);
void MPIR_Ext_file_error_routine(MPI_File file, void (**function) (MPI_File *, int *, ...), int *kind);
int MPIR_Ext_pack_external32(const void *buf, MPI_Aint n, MPI_Datatype type, void *packed,
                             MPI_Aint size, MPI_Aint * position);
int MPIR_Ext_unpack_external32(const void *packed, MPI_Aint size, MPI_Aint * position, void *buf,
                               MPI_Aint n, MPI_Datatype type);

void MPIR_Ext_mutex_init(void)
{
    if (MPL_atomic_load_int(&romio_mutex_initialized))
        return;
    MPL_initlock_lock(&romio_init_lock);
    romio_mutex_init();
    MPL_initlock_unlock(&romio_init_lock);
}

void MPIR_Ext_cs_enter(void)
{
    if (MPIR_IS_THREADED) {
        MPIR_Ext_mutex_init();
        if (romio_depth++ == 0)
            romio_cs_enter();
    }
}

void MPIR_Ext_cs_exit(void)
{
    if (MPIR_IS_THREADED) {
        if (--romio_depth == 0)
            romio_cs_exit();
    }
}

int MPIR_Ext_cs_let_in(void)
{
    int depth;

    for (depth = 0; romio_depth > 0; depth++)
        MPIR_Ext_cs_exit();
    return depth;
}

void MPIR_Ext_cs_take_back(int depth)
{
    while (depth-- > 0)
        MPIR_Ext_cs_enter();
}

void MPIR_Ext_cs_yield(void)
{
    int depth = MPIR_Ext_cs_let_in();

    tsm_yield();
    MPIR_Ext_cs_take_back(depth);
}

int MPIR_Ext_is_initialized(void)
{
    int mpi_errno = MPI_SUCCESS;

    if (MPL_atomic_load_int(&MPIR_Process.mpich_state) != MPICH_MPI_STATE__INITIALIZED)
        return 0;
    /* ROMIO needs MPI_COMM_SELF, which a process with sessions only may not have yet */
    MPL_initlock_lock(&MPIR_init_lock);
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    if (!MPIR_Process.comm_self)
        mpi_errno = MPIR_init_comm_self();
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPL_initlock_unlock(&MPIR_init_lock);
    return mpi_errno == MPI_SUCCESS;
}

int MPIR_Ext_comm_dup(MPI_Comm comm, MPI_Comm * made)
{
    MPIR_Comm *comm_ptr, *made_ptr = NULL;
    int mpi_errno;

    *made = MPI_COMM_NULL;
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPIR_Comm_get_ptr(comm, comm_ptr);
    mpi_errno = MPIR_Comm_dup_impl(comm_ptr, &made_ptr);
    if (mpi_errno == MPI_SUCCESS)
        MPIR_OBJ_PUBLISH_HANDLE(*made, made_ptr->handle);
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}

static MPI_Delete_function *romio_end;

static int end_romio(void *keyval)
{
    return romio_end(MPI_COMM_NULL, *(int *) keyval, NULL, NULL);
}

void MPIR_Ext_at_end(MPI_Delete_function * function, int *keyval)
{
    romio_end = function;
    MPIR_Add_finalize(end_romio, keyval, MPIR_FINALIZE_CALLBACK_MAX_PRIO);
}

int MPIR_Ext_grequest_class_create(MPI_Grequest_query_function * query,
                                   MPI_Grequest_free_function * end,
                                   MPI_Grequest_cancel_function * cancel,
                                   MPIX_Grequest_poll_function * poll,
                                   MPIX_Grequest_wait_function * wait, MPIX_Grequest_class * made)
{
    int mpi_errno;

    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    mpi_errno = MPIR_Grequest_class_create_impl(query, end, cancel, poll, wait, made);
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}

/* comm is the file's own, which no program sees. */
void MPIR_Ext_grequest_return_errors(MPI_Request request, MPI_Comm comm)
{
    MPIR_Request *req;
    MPIR_Comm *comm_ptr;

    MPIR_Request_get_ptr(request, req);
    MPIR_Comm_get_ptr(comm, comm_ptr);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPIR_Comm_add_ref(comm_ptr);
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    req->comm = comm_ptr;
}

/* Another thread may set another handler, so the file's is held while it is read. */
void MPIR_Ext_file_error_routine(MPI_File file, void (**function) (MPI_File *, int *, ...), int *kind)
{
    MPI_Errhandler handle;
    MPIR_Errhandler *errhandler;

    *function = NULL;
    *kind = 1;  /* return */
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    if (MPIR_File_get_errhandler_impl(file, &handle) == MPI_SUCCESS) {
        if (handle != MPIR_ERRORS_THROW_EXCEPTIONS)
            MPIR_Get_file_error_routine(handle, function, kind);
        MPIR_Errhandler_get_ptr(handle, errhandler);
        MPIR_Errhandler_free_impl(errhandler);
    }
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
}

/* The functions of MPI refuse MPI_BOTTOM. */
int MPIR_Ext_pack_external32(const void *buf, MPI_Aint n, MPI_Datatype type, void *packed,
                             MPI_Aint size, MPI_Aint * position)
{
    if (n == 0)
        return MPI_SUCCESS;
    return MPIR_Pack_external_impl("external32", buf, n, type, packed, size, position);
}

int MPIR_Ext_unpack_external32(const void *packed, MPI_Aint size, MPI_Aint * position, void *buf,
                               MPI_Aint n, MPI_Datatype type)
{
    if (n == 0)
        return MPI_SUCCESS;
    return MPIR_Unpack_external_impl("external32", packed, size, position, buf, n, type);
}

#define MPIR_Ext_mutex_init romio_mutex_init
#define MPIR_Ext_cs_enter romio_cs_enter
#define MPIR_Ext_cs_exit romio_cs_exit
#define MPIR_Ext_cs_yield romio_cs_yield

#endif /* ROMIO_MUTEX_H_INCLUDED */
