/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDIG_AM_PART_H_INCLUDED
#define MPIDIG_AM_PART_H_INCLUDED

/* Partitioned communication by active messages, as the netmods and shared memory call it: in place of
 * MPICH's mpidig_part.h; rewritten. A partitioned operation is one message that goes when its last
 * partition is ready (am_part_issue.h). Each function takes VCI 0 itself. */

#include "ch4_impl.h"
#include "mpidig_part_utils.h"

/* am_part.c */
int MPIDIG_mpi_psend_init(const void *buf, int partitions, MPI_Aint count, MPI_Datatype datatype,
                          int dest, int tag, MPIR_Comm * comm, MPIR_Info * info,
                          MPIR_Request ** request);
int MPIDIG_mpi_precv_init(void *buf, int partitions, MPI_Aint count, MPI_Datatype datatype,
                          int source, int tag, MPIR_Comm * comm, MPIR_Info * info,
                          MPIR_Request ** request);

/* The receive has found its send: sets the status. With the VCI held. */
void MPIDIG_precv_matched(MPIR_Request * rreq);

/* Active from here on, and with the lock held: the sender's first message, if it comes in now, finds
 * the receive active, or we see the message. (MPICH's caller makes it active once more, which changes
 * nothing, as nobody may complete a request that is being started.) An active request keeps its
 * communicator and datatype. */
MPL_STATIC_INLINE_PREFIX int MPIDIG_part_start(MPIR_Request * request)
{
    int mpi_errno = MPI_SUCCESS;

    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock);
    MPIR_cc_set(request->cc_ptr, 1);    /* the data message takes it back, by completion_notification */
    MPIR_Part_request_activate(request);
    mpi_errno = MPIDI_part_begin(request);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock);
    return mpi_errno;
}

/* n partitions are ready, whichever they are. Threads count without the lock; one sees the last. */
MPL_STATIC_INLINE_PREFIX int MPIDI_part_ready(MPIR_Request * sreq, int n)
{
    int mpi_errno = MPI_SUCCESS, goes = 0;

    for (int i = 0; i < n; i++)
        goes = MPIDI_part_count_ready(sreq);
    if (goes) {
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock);
        mpi_errno = MPIDIG_part_issue_data(sreq, MPIDIG_PART_REGULAR);
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock);
    }
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_pready_range(int low, int high, MPIR_Request * sreq)
{
    return MPIDI_part_ready(sreq, high - low + 1);
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_pready_list(int length, int partitions[], MPIR_Request * sreq)
{
    return MPIDI_part_ready(sreq, length);
}

/* A partition has arrived when all have. An inactive request is complete. */
MPL_STATIC_INLINE_PREFIX int MPIDIG_mpi_parrived(MPIR_Request * request, int partition, int *flag)
{
    *flag = MPIR_Request_is_complete(request);
    return *flag ? MPI_SUCCESS : MPIDI_test_vci(0);
}

#endif /* MPIDIG_AM_PART_H_INCLUDED */
