/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* MPI_Psend_init and MPI_Precv_init choose the transport of the peer: in place of MPICH's ch4_part.c;
 * rewritten. MPI_PROC_NULL goes the way of rank 0 (am_part_issue.h). */

#include "mpidimpl.h"

#define MPIDI_PART_INIT(call_, rank_) \
    int mpi_errno = MPIDI_no_world(); \
    MPIDI_av_entry_t *av = MPIDIU_comm_rank_to_av(comm, MPIDI_part_av_rank(rank_)); \
    if (mpi_errno == MPI_SUCCESS) \
        CH4_CALL(call_, MPIDI_av_is_local(av), mpi_errno); \
    return mpi_errno

int MPID_Psend_init(const void *buf, int partitions, MPI_Aint count, MPI_Datatype datatype, int dest,
                    int tag, MPIR_Comm * comm, MPIR_Info * info, MPIR_Request ** request)
{
    MPIDI_PART_INIT(mpi_psend_init(buf, partitions, count, datatype, dest, tag, comm, info, av,
                                   request), dest);
}

int MPID_Precv_init(void *buf, int partitions, MPI_Aint count, MPI_Datatype datatype, int source,
                    int tag, MPIR_Comm * comm, MPIR_Info * info, MPIR_Request ** request)
{
    MPIDI_PART_INIT(mpi_precv_init(buf, partitions, count, datatype, source, tag, comm, info, av,
                                   request), source);
}
