/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDIG_PART_UTILS_H_INCLUDED
#define MPIDIG_PART_UTILS_H_INCLUDED

/* Messages of partitioned communication, in place of MPICH's mpidig_part_utils.h; rewritten. With
 * VCI 0 held, which has all partitioned requests.
 *
 *   MPIDIG_part_issue_cts    the receiver has started: the sender may send
 *   MPIDIG_part_issue_data   all partitions are ready and the receiver has started: send them
 *
 * A send counts down to its data message in ready_cntr, from the number of partitions and one more for
 * the receiver.
 *
 * With MPI_PROC_NULL there is no handshake: a receive is complete when it is started, a send when its
 * last partition is ready, since MPI_Pready needs an active request. The status of the receive is set
 * once and stays. */

#include "ch4_impl.h"

/* The data message answers the receiver's, or does not: netmods send from a handler in another way. */
enum MPIDIG_part_issue_mode {
    MPIDIG_PART_REGULAR,
    MPIDIG_PART_REPLY
};

/* The rank whose address stands for that of rank; any will do for MPI_PROC_NULL: nothing is sent. */
MPL_STATIC_INLINE_PREFIX int MPIDI_part_av_rank(int rank)
{
    return rank == MPI_PROC_NULL ? 0 : rank;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_part_has_no_peer(MPIR_Request * req)
{
    return MPI_PROC_NULL == (req->kind == MPIR_REQUEST_KIND__PART_SEND ?
                             MPIDI_PART_REQUEST(req, u.send.dest) :
                             MPIDI_PART_REQUEST(req, u.recv.source));
}

/* Before the send can complete: the user may start it again then. */
MPL_STATIC_INLINE_PREFIX void MPIDI_part_reset_ready(MPIR_Request * sreq)
{
    MPIR_cc_set(&MPIDIG_PART_REQUEST(sreq, u.send).ready_cntr, sreq->u.part.partitions + 1);
}

/* One event less until the data goes. Returns 1 if it has to go now. */
MPL_STATIC_INLINE_PREFIX int MPIDI_part_count_ready(MPIR_Request * sreq)
{
    int incomplete;

    MPIR_cc_decr(&MPIDIG_PART_REQUEST(sreq, u.send).ready_cntr, &incomplete);
    return !incomplete;
}

/* Without a peer. The user keeps the request, and may start or free it once it is complete. */
MPL_STATIC_INLINE_PREFIX void MPIDI_part_complete_alone(MPIR_Request * req)
{
    if (req->kind == MPIR_REQUEST_KIND__PART_SEND)
        MPIDI_part_reset_ready(req);
    MPIR_Request_add_ref(req);
    MPID_Request_complete(req);
}

MPL_STATIC_INLINE_PREFIX int MPIDIG_part_issue_cts(MPIR_Request * rreq)
{
    int mpi_errno = MPI_SUCCESS;
    MPIDIG_part_cts_msg_t hdr = {
        .sreq_ptr = MPIDIG_PART_REQUEST(rreq, peer_req_ptr),
        .rreq_ptr = rreq
    };

    CH4_CALL(am_send_hdr_reply(rreq->comm, MPIDI_PART_REQUEST(rreq, u.recv.source), MPIDIG_PART_CTS,
                               &hdr, sizeof(hdr), 0, 0), MPIDI_REQUEST(rreq, is_local), mpi_errno);
    return mpi_errno;
}

/* The request has been made active. A receiver without a peer would have nothing to say. */
MPL_STATIC_INLINE_PREFIX int MPIDI_part_begin(MPIR_Request * req)
{
    const int receives = req->kind == MPIR_REQUEST_KIND__PART_RECV;

    if (unlikely(MPIDI_part_has_no_peer(req))) {
        if (receives || MPIDI_part_count_ready(req))
            MPIDI_part_complete_alone(req);
        return MPI_SUCCESS;
    }
    return receives && MPIDIG_PART_REQUEST(req, peer_req_ptr) ? MPIDIG_part_issue_cts(req) :
        MPI_SUCCESS;
}

/* The message has a request of its own, which takes the partitioned one with it when it completes. */
MPL_STATIC_INLINE_PREFIX int MPIDIG_part_issue_data(MPIR_Request * part_sreq,
                                                    enum MPIDIG_part_issue_mode mode)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *sreq;
    MPIDIG_part_send_data_msg_t hdr;
    const int dest = MPIDI_PART_REQUEST(part_sreq, u.send.dest);
    const void *buf = MPIDI_PART_REQUEST(part_sreq, buffer);
    const MPI_Datatype datatype = MPIDI_PART_REQUEST(part_sreq, datatype);
    const MPI_Aint count = MPIDI_PART_REQUEST(part_sreq, count) * part_sreq->u.part.partitions;

    if (unlikely(MPIDI_part_has_no_peer(part_sreq))) {
        MPIDI_part_complete_alone(part_sreq);
        goto fn_exit;
    }

    sreq = MPIDIG_request_create(MPIR_REQUEST_KIND__PART, 1, 0, 0);
    MPIR_ERR_CHKANDSTMT(sreq == NULL, mpi_errno, MPIX_ERR_NOREQ, goto fn_fail, "**nomemreq");
    MPIR_Assert(count < MPIR_AINT_MAX);
    MPIR_Comm_add_ref(part_sreq->comm);
    sreq->comm = part_sreq->comm;
    sreq->completion_notification = &part_sreq->cc;
    MPIDIG_REQUEST(sreq, req->part_am_req.part_req_ptr) = part_sreq;
    hdr.rreq_ptr = MPIDIG_PART_REQUEST(part_sreq, peer_req_ptr);
    MPIDI_part_reset_ready(part_sreq);

    if (mode == MPIDIG_PART_REPLY) {
        CH4_CALL(am_isend_reply(sreq->comm, dest, MPIDIG_PART_SEND_DATA, &hdr, sizeof(hdr), buf, count,
                                datatype, 0, 0, sreq), MPIDI_REQUEST(part_sreq, is_local), mpi_errno);
    } else {
        CH4_CALL(am_isend(dest, sreq->comm, MPIDIG_PART_SEND_DATA, &hdr, sizeof(hdr), buf, count,
                          datatype, 0, 0, sreq), MPIDI_REQUEST(part_sreq, is_local), mpi_errno);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#endif /* MPIDIG_PART_UTILS_H_INCLUDED */
