/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_WRAPPERS_H_INCLUDED
#define MPIDI_ISSUE_WRAPPERS_H_INCLUDED

/* isend, isend_coll, issend, irecv and imrecv for the upper layers: each puts its arguments into an
 * operation and gives it to the model in force. What starts the operation is MPIDI_*_direct
 * (../direct_send.h). On an offloaded communicator the ghost gets it (casper/csp.h). */

#include "../direct_send.h"
#include "issue.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../transport/early.h"
#else
#define MPIDI_early_found(mpi_errno_, req_) do { } while (0)
#endif

MPL_STATIC_INLINE_PREFIX int MPIDI_issue_send(MPIDI_op_kind_t kind, const void *buf, MPI_Aint count,
                                              MPI_Datatype datatype, int rank, int tag,
                                              MPIR_Comm * comm, int context_offset,
                                              MPIDI_av_entry_t * av, MPIR_Errflag_t errflag,
                                              MPIR_Request ** req)
{
    const MPIDI_op_t op = {
        .kind = kind,.rank = rank,.tag = tag,.context_offset = context_offset,.errflag = errflag,
        .datatype = datatype,.buf = (void *) buf,.count = count,.comm = comm,.av = av
    };

    return MPIDI_issue(MPIDI_op_send_vci(comm, rank, tag), &op, req);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_isend(const void *buf, MPI_Aint count, MPI_Datatype datatype,
                                         int rank, int tag, MPIR_Comm * comm, int context_offset,
                                         MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    if (csp_takes_msg(comm, context_offset, count, datatype))
        return csp_isend(buf, count, datatype, rank, tag, comm, 0, req);
    return MPIDI_issue_send(MPIDI_OP_ISEND, buf, count, datatype, rank, tag, comm, context_offset,
                            av, MPIR_ERR_NONE, req);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_isend_coll(const void *buf, MPI_Aint count,
                                              MPI_Datatype datatype, int rank, int tag,
                                              MPIR_Comm * comm, int context_offset,
                                              MPIDI_av_entry_t * av, MPIR_Request ** req,
                                              MPIR_Errflag_t * errflag)
{
    return MPIDI_issue_send(MPIDI_OP_ISEND_COLL, buf, count, datatype, rank, tag, comm,
                            context_offset, av, *errflag, req);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_issend(const void *buf, MPI_Aint count, MPI_Datatype datatype,
                                          int rank, int tag, MPIR_Comm * comm, int context_offset,
                                          MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    if (csp_takes_msg(comm, context_offset, count, datatype))
        return csp_isend(buf, count, datatype, rank, tag, comm, 1, req);
    return MPIDI_issue_send(MPIDI_OP_ISSEND, buf, count, datatype, rank, tag, comm, context_offset,
                            av, MPIR_ERR_NONE, req);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                         int rank, int tag, MPIR_Comm * comm, int context_offset,
                                         MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    if (csp_takes_msg(comm, context_offset, count, datatype))
        return csp_irecv(buf, count, datatype, rank, tag, comm, req);

    const MPIDI_op_t op = {
        .kind = MPIDI_OP_IRECV,.rank = rank,.tag = tag,.context_offset = context_offset,
        .datatype = datatype,.buf = buf,.count = count,.comm = comm,.av = av
    };
    int mpi_errno = MPIDI_issue(MPIDI_op_recv_vci(comm, rank, tag), &op, req);

    MPIDI_early_found(mpi_errno, *req);
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_imrecv(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                          MPIR_Request * message)
{
    if (csp_has(message))
        return csp_imrecv(buf, count, datatype, message);

    const MPIDI_op_t op = {
        .kind = MPIDI_OP_IMRECV,.datatype = datatype,.buf = buf,.count = count
    };

    return MPIDI_issue(MPIDI_Request_get_vci(message), &op, &message);
}

#endif /* MPIDI_ISSUE_WRAPPERS_H_INCLUDED */
