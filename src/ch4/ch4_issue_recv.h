/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_ISSUE_RECV_H_INCLUDED
#define CH4_ISSUE_RECV_H_INCLUDED

#include "ch4_issue.h"

/* irecv and imrecv as the upper layers see them: MPIDI_*_direct of ch4_recv.h behind the issue step
 * of the model. */

MPL_STATIC_INLINE_PREFIX int MPIDI_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                         int rank, int tag, MPIR_Comm * comm, int context_offset,
                                         MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    int mpi_errno;

    if (!MPIDI_TSM_LOCKQ_ACTIVE) {
        mpi_errno = MPIDI_irecv_direct(buf, count, datatype, rank, tag, comm, context_offset, av,
                                       req);
        MPIDI_tsm_receive_issued(mpi_errno, *req);
        return mpi_errno;
    }

    int vci = MPIDI_tsm_recv_vci(comm, rank, tag);
    if (MPIDI_tsm_issue_begin(vci)) {
        mpi_errno = MPIDI_irecv_direct(buf, count, datatype, rank, tag, comm, context_offset, av,
                                       req);
        MPIDI_tsm_issue_end(vci);
        MPIDI_tsm_receive_issued(mpi_errno, *req);
    } else {
        mpi_errno = MPIDI_tsm_post(MPIDI_TSM_IRECV, vci, buf, count, datatype, rank, tag, comm,
                                   context_offset, av, MPIR_ERR_NONE, req);
    }
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_imrecv(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                          MPIR_Request * message)
{
    int mpi_errno;

    if (!MPIDI_TSM_LOCKQ_ACTIVE)
        return MPIDI_imrecv_direct(buf, count, datatype, message);

    int vci = MPIDI_Request_get_vci(message);
    if (MPIDI_tsm_issue_begin(vci)) {
        mpi_errno = MPIDI_imrecv_direct(buf, count, datatype, message);
        MPIDI_tsm_issue_end(vci);
    } else {
        mpi_errno = MPIDI_tsm_post_imrecv(vci, buf, count, datatype, message);
    }
    return mpi_errno;
}

#endif /* CH4_ISSUE_RECV_H_INCLUDED */
