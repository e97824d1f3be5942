/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_LET_IN_H_INCLUDED
#define ROMIO_LET_IN_H_INCLUDED

/* ROMIO has one mutex for the process, which each call of MPI_File_* holds from its beginning to its
 * end. In a collective call it would be held while the call waits for other processes, whose threads
 * may hold theirs in a collective call on another file: then all wait forever. So ROMIO's own calls
 * of MPI that may wait, or that run functions of the program, let other threads in meanwhile. All
 * that the mutex guards beyond one file is changed between two such calls. Included by adio.h.
 *
 *   ROMIO_LET_IN(call_)     the value of a call, made without the mutex if the thread has it
 *   ROMIO_SYSTEM_HINTS(fd_) make ADIOI_syshints: another thread sees all hints or none
 *   ROMIO_THREAD_CS_SCOPE() the mutex for the rest of a function
 *   MPI_Comm_dup            in the functions of the shared file pointer: they return, with the error in
 *                           a parameter, for the handler of the file and not that of MPI_COMM_SELF (in
 *                           mpi-io/: romio_calls.h)
 *   MPI_Type_get_envelope, MPI_Type_get_contents, MPI_Type_free   also for types made with large
 *                           counts, and for pairs */

#ifdef ROMIO_INSIDE_MPICH
#include "mpir_ext.h"

/* 1 while the program is in MPI, by MPI_Init or by a session. */
int MPIR_Ext_is_initialized(void);

/* Release the mutex if the calling thread has it; returns whether it had. */
int MPIR_Ext_cs_let_in(void);
void MPIR_Ext_cs_take_back(int had);
/* With the mutex: let other threads in once. */
void MPIR_Ext_cs_yield(void);

void MPIR_Ext_at_end(MPI_Delete_function * function, int *keyval);

/* MPI_Comm_dup without an error handler; the communicator is known to be one. */
int MPIR_Ext_comm_dup(MPI_Comm comm, MPI_Comm * made);

/* romio_types.h */
int MPIR_Ext_type_envelope(MPI_Datatype type, int *nints, int *nadds, int *ntypes, int *combiner);
int MPIR_Ext_type_contents(MPI_Datatype type, int max_ints, int max_adds, int max_types, int *ints,
                           MPI_Aint * adds, MPI_Datatype * types);
int MPIR_Ext_type_fits(MPI_Datatype type);
int MPIR_Ext_type_free(MPI_Datatype * type);
#undef MPI_Type_free
#undef MPI_Type_get_envelope
#undef MPI_Type_get_contents
#define MPI_Type_free MPIR_Ext_type_free
#define MPI_Type_get_envelope MPIR_Ext_type_envelope
#define MPI_Type_get_contents MPIR_Ext_type_contents

#define ROMIO_LET_IN(call_) \
    ({ \
        int had_ = MPIR_Ext_cs_let_in(); \
        int err_ = (call_); \
        MPIR_Ext_cs_take_back(had_); \
        err_; \
    })

/* MPI_Initialized knows nothing of sessions. */
#undef MPI_Initialized
#define MPI_Initialized(flag_) (*(flag_) = MPIR_Ext_is_initialized())
/* The macro of a name does not apply within its own text: the function is called. */
#define MPIR_File_call_cxx_errhandler(...) ROMIO_LET_IN(MPIR_File_call_cxx_errhandler(__VA_ARGS__))

#undef MPI_Allgather
#undef MPI_Allreduce
#undef MPI_Alltoall
#undef MPI_Alltoallv
#undef MPI_Alltoallv_c
#undef MPI_Alltoallw
#undef MPI_Barrier
#undef MPI_Bcast
#undef MPI_Comm_create
#undef MPI_Comm_dup
#undef MPI_Comm_free
#undef MPI_Comm_split
#undef MPI_Gather
#undef MPI_Gatherv
#undef MPI_Recv
#undef MPI_Reduce
#undef MPI_Send
#undef MPI_Test
#undef MPI_Testall
#undef MPI_Wait
#undef MPI_Waitall
#undef MPI_Waitany
#undef MPI_Win_create
#undef MPI_Win_free
#undef MPI_Win_lock
#undef MPI_Win_unlock
#define MPI_Allgather(...) ROMIO_LET_IN(PMPI_Allgather(__VA_ARGS__))
#define MPI_Allreduce(...) ROMIO_LET_IN(PMPI_Allreduce(__VA_ARGS__))
#define MPI_Alltoall(...) ROMIO_LET_IN(PMPI_Alltoall(__VA_ARGS__))
#define MPI_Alltoallv(...) ROMIO_LET_IN(PMPI_Alltoallv(__VA_ARGS__))
#define MPI_Alltoallv_c(...) ROMIO_LET_IN(PMPI_Alltoallv_c(__VA_ARGS__))
#define MPI_Alltoallw(...) ROMIO_LET_IN(PMPI_Alltoallw(__VA_ARGS__))
#define MPI_Barrier(...) ROMIO_LET_IN(PMPI_Barrier(__VA_ARGS__))
#define MPI_Bcast(...) ROMIO_LET_IN(PMPI_Bcast(__VA_ARGS__))
#define MPI_Comm_create(...) ROMIO_LET_IN(PMPI_Comm_create(__VA_ARGS__))
#define MPI_Comm_dup(...) \
    do { \
        *error_code = ROMIO_LET_IN(MPIR_Ext_comm_dup(__VA_ARGS__)); \
        if (*error_code != MPI_SUCCESS) \
            return; \
    } while (0)
#define MPI_Comm_free(...) ROMIO_LET_IN(PMPI_Comm_free(__VA_ARGS__))
#define MPI_Comm_split(...) ROMIO_LET_IN(PMPI_Comm_split(__VA_ARGS__))
#define MPI_Gather(...) ROMIO_LET_IN(PMPI_Gather(__VA_ARGS__))
#define MPI_Gatherv(...) ROMIO_LET_IN(PMPI_Gatherv(__VA_ARGS__))
#define MPI_Recv(...) ROMIO_LET_IN(PMPI_Recv(__VA_ARGS__))
#define MPI_Reduce(...) ROMIO_LET_IN(PMPI_Reduce(__VA_ARGS__))
#define MPI_Send(...) ROMIO_LET_IN(PMPI_Send(__VA_ARGS__))
#define MPI_Test(...) ROMIO_LET_IN(PMPI_Test(__VA_ARGS__))
#define MPI_Testall(...) ROMIO_LET_IN(PMPI_Testall(__VA_ARGS__))
#define MPI_Wait(...) ROMIO_LET_IN(PMPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...) ROMIO_LET_IN(PMPI_Waitall(__VA_ARGS__))
#define MPI_Waitany(...) ROMIO_LET_IN(PMPI_Waitany(__VA_ARGS__))
#define MPI_Win_create(...) ROMIO_LET_IN(PMPI_Win_create(__VA_ARGS__))
#define MPI_Win_free(...) ROMIO_LET_IN(PMPI_Win_free(__VA_ARGS__))
#define MPI_Win_lock(...) ROMIO_LET_IN(PMPI_Win_lock(__VA_ARGS__))
#define MPI_Win_unlock(...) ROMIO_LET_IN(PMPI_Win_unlock(__VA_ARGS__))

#else
#define ROMIO_LET_IN(call_) (call_)
#define ROMIO_THREAD_CS_SCOPE() do { } while (0)
#endif

#define ROMIO_SYSTEM_HINTS(fd_) \
    do { \
        MPI_Info hints_; \
        MPI_Info_create(&hints_); \
        ADIOI_process_system_hints(fd_, hints_); \
        if (ADIOI_syshints == MPI_INFO_NULL) \
            ADIOI_syshints = hints_; \
        else \
            MPI_Info_free(&hints_); \
    } while (0)

#include "romio_holes.h"
#include "romio_queue.h"

/* The functions that read count the etypes of a filetype by an int where an offset is given, but not
 * with the individual file pointer. */
static inline void romio_read_strided(ADIO_File fd, void *buf, int count, MPI_Datatype datatype,
                                      int file_ptr_type, ADIO_Offset offset, ADIO_Status * status,
                                      int *error_code)
{
    const ADIO_Offset own = fd->fp_ind;
    MPI_Count size;
    int many;

    MPI_Type_size_x(fd->filetype, &size);
    many = file_ptr_type == ADIO_EXPLICIT_OFFSET && fd->etype_size > 0 &&
        size / fd->etype_size > 0x7fffffff;
    if (many) {
        ADIOI_Get_byte_offset(fd, offset, &fd->fp_ind);
        file_ptr_type = ADIO_INDIVIDUAL;
    }
    (*fd->fns->ADIOI_xxx_ReadStrided) (fd, buf, count, datatype, file_ptr_type, offset, status,
                                       error_code);
    if (many)
        fd->fp_ind = own;
}

#undef ADIO_ReadStrided
#define ADIO_ReadStrided romio_read_strided
#if defined(ROMIO_INSIDE_MPICH) && defined(MPIOIMPL_H_INCLUDED)
#include "romio_calls.h"
#endif

#endif /* ROMIO_LET_IN_H_INCLUDED */
