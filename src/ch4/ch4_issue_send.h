/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_ISSUE_SEND_H_INCLUDED
#define CH4_ISSUE_SEND_H_INCLUDED

#include "ch4_issue.h"

/* isend, isend_coll and issend as the upper layers see them: MPIDI_*_direct of ch4_send.h behind
 * the issue step of the model. */

MPL_STATIC_INLINE_PREFIX int MPIDI_isend(const void *buf, MPI_Aint count, MPI_Datatype datatype,
                                         int rank, int tag, MPIR_Comm * comm, int context_offset,
                                         MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    int mpi_errno;

    if (!MPIDI_TSM_LOCKQ_ACTIVE)
        return MPIDI_isend_direct(buf, count, datatype, rank, tag, comm, context_offset, av, req);

    int vci = MPIDI_tsm_send_vci(comm, rank, tag);
    if (MPIDI_tsm_issue_begin(vci)) {
        mpi_errno = MPIDI_isend_direct(buf, count, datatype, rank, tag, comm, context_offset, av,
                                       req);
        MPIDI_tsm_issue_end(vci);
    } else {
        mpi_errno = MPIDI_tsm_post(MPIDI_TSM_ISEND, vci, buf, count, datatype, rank, tag, comm,
                                   context_offset, av, MPIR_ERR_NONE, req);
    }
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_isend_coll(const void *buf, MPI_Aint count,
                                              MPI_Datatype datatype, int rank, int tag,
                                              MPIR_Comm * comm, int context_offset,
                                              MPIDI_av_entry_t * av, MPIR_Request ** req,
                                              MPIR_Errflag_t * errflag)
{
    int mpi_errno;

    if (!MPIDI_TSM_LOCKQ_ACTIVE)
        return MPIDI_isend_coll_direct(buf, count, datatype, rank, tag, comm, context_offset, av,
                                       req, errflag);

    int vci = MPIDI_tsm_send_vci(comm, rank, tag);
    if (MPIDI_tsm_issue_begin(vci)) {
        mpi_errno = MPIDI_isend_coll_direct(buf, count, datatype, rank, tag, comm, context_offset,
                                            av, req, errflag);
        MPIDI_tsm_issue_end(vci);
    } else {
        mpi_errno = MPIDI_tsm_post(MPIDI_TSM_ISEND_COLL, vci, buf, count, datatype, rank, tag, comm,
                                   context_offset, av, *errflag, req);
    }
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_issend(const void *buf, MPI_Aint count, MPI_Datatype datatype,
                                          int rank, int tag, MPIR_Comm * comm, int context_offset,
                                          MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    int mpi_errno;

    if (!MPIDI_TSM_LOCKQ_ACTIVE)
        return MPIDI_issend_direct(buf, count, datatype, rank, tag, comm, context_offset, av, req);

    int vci = MPIDI_tsm_send_vci(comm, rank, tag);
    if (MPIDI_tsm_issue_begin(vci)) {
        mpi_errno = MPIDI_issend_direct(buf, count, datatype, rank, tag, comm, context_offset, av,
                                        req);
        MPIDI_tsm_issue_end(vci);
    } else {
        mpi_errno = MPIDI_tsm_post(MPIDI_TSM_ISSEND, vci, buf, count, datatype, rank, tag, comm,
                                   context_offset, av, MPIR_ERR_NONE, req);
    }
    return mpi_errno;
}

#endif /* CH4_ISSUE_SEND_H_INCLUDED */
