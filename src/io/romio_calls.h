/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_CALLS_H_INCLUDED
#define ROMIO_CALLS_H_INCLUDED

/* For the functions of MPI_File_*, the files of mpi-io/: what they call does more than it did. Included
 * by romio_let_in.h in files that begin with mpioimpl.h, which those that define these functions do
 * not. The macro of a name does not apply within its own text.
 *
 *   ADIO_Get_shared_fp, ADIO_Set_shared_fp   open the file of the shared pointer if it is not open: one
 *                           thread does, and others wait for it. If they fail, the call ends with the
 *                           error: some went on, and others made it one that ends the process
 *   MPI_Recv, MPI_Bcast, MPI_Allreduce       on the communicator of a file end its nonblocking
 *                           collective operations first (romio_queue.h): the call waits for processes
 *                           that may wait for those
 *   ADIO_IreadStridedColl, ADIO_IwriteStridedColl   give the operation the buffer of external32, by the
 *                           variables of their callers, or give it back to them (romio_queue.h)
 *   MPI_Comm_test_inter, MPIO_CHECK_INFO_ALL   let other threads in: they run the error handler of the
 *                           program's communicator. The latter frees its duplicate also where only
 *                           another process has a bad info
 *   MPIR_Abort              for the error of a call without a file ends the process: the caller's fh is
 *                           MPI_FILE_NULL, and has no communicator
 *   MPI_Comm_dup            in MPI_File_open: returns with the error, for the default handler of files
 *   MPIR_Ext_datatype_iscommitted   also refuses a type that ROMIO cannot walk (romio_types.h)
 *   assert                  in the functions with a large count, on one that is no int: an error of the
 *                           file instead
 *   MPI_Attr_put            ROMIO's delete function is called when MPI is taken down: MPI_COMM_SELF's
 *                           attributes go in MPI_Finalize, when sessions may have files open, or be
 *                           opening one, or come later */

#include "romio_external32.h"

/* Returns 1 if the caller will open the file. */
static inline int romio_shared_fp_begin(ADIO_File fd)
{
    while (fd->romio.opening_shared_fp)
        MPIR_Ext_cs_yield();
    fd->romio.opening_shared_fp = (fd->shared_fp_fd == ADIO_FILE_NULL);
    return fd->romio.opening_shared_fp;
}

static inline void romio_shared_fp_end(ADIO_File fd, int opens)
{
    if (opens)
        fd->romio.opening_shared_fp = 0;
}

/* In a collective access, without data. */
static inline void romio_take_part(ADIO_File fd, int writes)
{
    ADIO_Status status;
    int err;

    if (writes)
        (*fd->fns->ADIOI_xxx_WriteStridedColl) (fd, NULL, 0, MPI_BYTE, ADIO_EXPLICIT_OFFSET, 0, &status,
                                                &err);
    else
        (*fd->fns->ADIOI_xxx_ReadStridedColl) (fd, NULL, 0, MPI_BYTE, ADIO_EXPLICIT_OFFSET, 0, &status,
                                               &err);
}

/* Others wait for a process that is ordered before them, or that moves the pointer for all. */
static inline int romio_shared_fp_failed(ADIO_File fd, const char *caller, int err)
{
    int rank, size;

    MPI_Comm_rank(fd->comm, &rank);
    MPI_Comm_size(fd->comm, &size);
    if (strstr(caller, "ordered") && rank + 1 < size)
        MPI_Send(NULL, 0, MPI_BYTE, rank + 1, 0, fd->comm);
    if (strstr(caller, "ordered"))
        romio_take_part(fd, strstr(caller, "write") != NULL);
    if (strstr(caller, "ordered_begin"))
        fd->split_coll_count = 0;
    if (strstr(caller, "seek_shared"))
        MPI_Barrier(fd->comm);
    return MPIO_Err_return_file(fd, err);
}

#define ROMIO_SHARED_FP_CHECK(fd_) \
    if (error_code != MPI_SUCCESS) { \
        error_code = romio_shared_fp_failed(fd_, __func__, error_code); \
        goto fn_exit; \
    }

#define ADIO_Get_shared_fp(fd_, ...) \
    do { \
        int opens_ = romio_shared_fp_begin(fd_); \
        ADIO_Get_shared_fp(fd_, __VA_ARGS__); \
        romio_shared_fp_end(fd_, opens_); \
        ROMIO_SHARED_FP_CHECK(fd_) \
    } while (0)
#define ADIO_Set_shared_fp(fd_, ...) \
    do { \
        int opens_ = romio_shared_fp_begin(fd_); \
        ADIO_Set_shared_fp(fd_, __VA_ARGS__); \
        romio_shared_fp_end(fd_, opens_); \
        if (strstr(__func__, "seek_shared")) \
            ROMIO_SHARED_FP_CHECK(fd_) \
    } while (0)

/* MPI_Comm_split_type gets here without ROMIO's mutex. */
static inline void romio_queue_drain_comm(MPI_Comm comm)
{
    ADIO_File fd;

    ROMIO_QUEUE_ENTER();
    for (fd = MPIR_Ext_queued_files; fd && fd->comm != comm; fd = fd->romio.next_queued);
    if (fd)
        romio_queue_drain(fd);
    ROMIO_QUEUE_EXIT();
}

#undef MPI_Recv
#undef MPI_Bcast
#undef MPI_Allreduce
#define MPI_Recv(buf_, n_, type_, from_, tag_, comm_, status_) \
    (romio_queue_drain_comm(comm_), \
     ROMIO_LET_IN(PMPI_Recv(buf_, n_, type_, from_, tag_, comm_, status_)))
#define MPI_Bcast(buf_, n_, type_, root_, comm_) \
    (romio_queue_drain_comm(comm_), ROMIO_LET_IN(PMPI_Bcast(buf_, n_, type_, root_, comm_)))
#define MPI_Allreduce(mine_, all_, n_, type_, op_, comm_) \
    (romio_queue_drain_comm(comm_), ROMIO_LET_IN(PMPI_Allreduce(mine_, all_, n_, type_, op_, comm_)))

#undef ADIO_IreadStridedColl
#undef ADIO_IwriteStridedColl
#define ADIO_IreadStridedColl(fd_, buf_, n_, type_, ...) \
    do { \
        romio_queue_give_external32(fd_, e32_buf, buf); \
        (*(fd_)->fns->ADIOI_xxx_IreadStridedColl) (fd_, \
                                                   ROMIO_EXTERNAL32_ADDRESS(fd_, buf_, n_, type_), \
                                                   n_, type_, __VA_ARGS__); \
        e32_buf = romio_queue_left_external32(fd_); \
    } while (0)
#define ADIO_IwriteStridedColl(fd_, buf_, n_, type_, ...) \
    do { \
        romio_queue_give_external32(fd_, e32buf, e32buf); \
        (*(fd_)->fns->ADIOI_xxx_IwriteStridedColl) (fd_, \
                                                    ROMIO_EXTERNAL32_ADDRESS(fd_, buf_, n_, type_), \
                                                    n_, type_, __VA_ARGS__); \
        e32buf = romio_queue_left_external32(fd_); \
    } while (0)

#undef MPI_Comm_test_inter
#define MPI_Comm_test_inter(...) ROMIO_LET_IN(PMPI_Comm_test_inter(__VA_ARGS__))
#undef MPIO_CHECK_INFO_ALL
#define MPIO_CHECK_INFO_ALL(info_, code_, comm_) \
    do { \
        MPI_Info dup_ = MPI_INFO_NULL; \
        int worst_ = MPI_SUCCESS; \
        code_ = MPI_SUCCESS; \
        if ((info_) != MPI_INFO_NULL) \
            code_ = ROMIO_LET_IN(PMPI_Info_dup(info_, &dup_)); \
        MPI_Allreduce(&code_, &worst_, 1, MPI_INT, MPI_MAX, comm_); \
        if (dup_ != MPI_INFO_NULL) \
            MPI_Info_free(&dup_); \
        if (worst_ != MPI_SUCCESS) { \
            code_ = MPIO_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, myname, __LINE__, \
                                         MPI_ERR_OTHER, "**info", 0); \
            goto fn_fail; \
        } \
    } while (0)

/* At the end of MPI_File_open. MPI_File_close gives the reference back. */
static inline void romio_take_default_errhandler(MPI_File fh)
{
    MPI_Errhandler e;

    if (PMPI_File_get_errhandler(MPI_FILE_NULL, &e) == MPI_SUCCESS) {
        PMPI_File_set_errhandler(fh, e);
        PMPI_Errhandler_free(&e);
    }
}

/* What to call for an error of a file, or of MPI_FILE_NULL; see MPIR_Get_file_error_routine. */
void MPIR_Ext_file_error_routine(MPI_File fh, void (**function) (MPI_File *, int *, ...), int *kind);

/* With MPI_COMM_NULL this process ends, as with MPI_COMM_SELF, which may not be there yet. */
#define MPIR_Abort(comm_, ...) \
    MPIR_Abort(fh == ADIO_FILE_NULL ? MPI_COMM_NULL : (comm_), __VA_ARGS__)

/* With ROMIO's mutex, which the call that fails gives back. */
static inline int romio_open_failed(int err)
{
    err = MPIO_Err_return_file(MPI_FILE_NULL, err);
    MPIR_Ext_cs_exit();
    return err;
}

/* MPI_Comm_split_type duplicates a communicator of its caller, and has a pointer for the new one. */
#undef MPI_Comm_dup
#define MPI_Comm_dup(comm_, made_) \
    do { \
        int opens_ = (#made_)[0] == '&'; \
        int err_ = ROMIO_LET_IN((opens_ ? MPIR_Ext_comm_dup : PMPI_Comm_dup) (comm_, made_)); \
        if (opens_ && err_ != MPI_SUCCESS) \
            return romio_open_failed(err_); \
    } while (0)

/* As in adio.h, which defines it after it has included this. */
#define MPIR_ERR_RECOVERABLE 0

static inline int romio_check_type(MPI_Datatype type)
{
    int err = MPIR_Ext_datatype_iscommitted(type);

    if (err == MPI_SUCCESS && !MPIR_Ext_type_fits(type))
        err = MPIO_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, "romio_check_type", __LINE__,
                                   MPI_ERR_UNSUPPORTED_OPERATION, "**fileopunsupported", 0);
    return err;
}

#define MPIR_Ext_datatype_iscommitted romio_check_type

static inline int romio_bad_count(MPI_File fh, const char *name)
{
    ADIO_File file;
    int error_code;

    MPIR_Ext_cs_enter();
    file = MPIO_File_resolve(fh);
    MPIO_CHECK_FILE_HANDLE(file, name, error_code);
    error_code = MPIO_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, name, __LINE__, MPI_ERR_COUNT,
                                      "**iobadcount", 0);
    error_code = MPIO_Err_return_file(file, error_code);
  fn_exit:
    MPIR_Ext_cs_exit();
    return error_code;
}

/* All that mpi-io/ asserts is count <= INT_MAX, before anything else. Its files include assert.h later,
 * which defines assert again, but does not declare glibc's function again. */
#ifdef __GLIBC__
#undef NDEBUG
#include <assert.h>
#define __assert_fail(text_, ...) ({ return romio_bad_count(fh, __func__); })
#endif

#undef MPI_Attr_put
#define MPI_Attr_put(comm_, keyval_, value_) MPIR_Ext_at_end(ADIOI_End_call, &(keyval_))

/* ROMIO's mutex to the end of the function, for functions that MPICH runs without it; each begins with
 * this, since no goto may jump over it. */
static inline void romio_cs_scope_end(int *in)
{
    if (*in)
        MPIR_Ext_cs_exit();
}

#define ROMIO_THREAD_CS_SCOPE() \
    int in_scope_ __attribute__((cleanup(romio_cs_scope_end), unused)) = (MPIR_Ext_cs_enter(), 1)

#endif /* ROMIO_CALLS_H_INCLUDED */
