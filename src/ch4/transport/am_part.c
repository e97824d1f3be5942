/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Partitioned requests are made and matched (am_part.h): in place of MPICH's mpidig_part.c;
 * rewritten. The sender tells the receiver of its request when it makes it. The receiver keeps that
 * until it makes its own (part_unexp_list), or the other way round (part_posted_list). */

#include "mpidimpl.h"
#include "mpidch4r.h"
#include "mpidig_part_utils.h"

/* An inactive request, which is complete, with one reference: the user's. With the VCI held. */
static int new_request(MPIR_Request_kind_t kind, void *buf, int partitions, MPI_Aint count,
                       MPI_Datatype datatype, int rank, int tag, MPIR_Comm * comm,
                       MPIR_Request ** request)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *req = NULL;

    MPIDI_CH4_REQUEST_CREATE(req, kind, 0, 1);
    MPIR_ERR_CHKANDSTMT(req == NULL, mpi_errno, MPIX_ERR_NOREQ, goto fn_fail, "**nomemreq");
    MPIR_cc_set(req->cc_ptr, 0);
    req->u.part.partitions = partitions;
    MPIR_Part_request_inactivate(req);
    MPIR_Comm_add_ref(comm);
    req->comm = comm;
#ifndef MPIDI_CH4_DIRECT_NETMOD
    MPIDI_REQUEST(req, is_local) =
        MPIDI_av_is_local(MPIDIU_comm_rank_to_av(comm, MPIDI_part_av_rank(rank)));
#endif

    MPIR_Datatype_add_ref_if_not_builtin(datatype);
    MPIDI_PART_REQUEST(req, buffer) = buf;
    MPIDI_PART_REQUEST(req, count) = count;
    MPIDI_PART_REQUEST(req, datatype) = datatype;
    MPIDIG_PART_REQUEST(req, peer_req_ptr) = NULL;
    if (kind == MPIR_REQUEST_KIND__PART_SEND) {
        MPIDI_PART_REQUEST(req, u.send.dest) = rank;
        MPIDI_part_reset_ready(req);
    } else {
        MPIDI_PART_REQUEST(req, u.recv.source) = rank;
        MPIDI_PART_REQUEST(req, u.recv.tag) = tag;
        MPIDI_PART_REQUEST(req, u.recv.context_id) = comm->recvcontext_id;
    }
    *request = req;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The sizes of both buffers must be the same; the error is that of the operation. */
void MPIDIG_precv_matched(MPIR_Request * rreq)
{
    const MPI_Aint sent = MPIDIG_PART_REQUEST(rreq, u.recv).sdata_size;
    MPI_Aint expected;

    MPIR_Datatype_get_size_macro(MPIDI_PART_REQUEST(rreq, datatype), expected);
    expected *= MPIDI_PART_REQUEST(rreq, count) * rreq->u.part.partitions;

    rreq->status.MPI_SOURCE = MPIDI_PART_REQUEST(rreq, u.recv.source);
    rreq->status.MPI_TAG = MPIDI_PART_REQUEST(rreq, u.recv.tag);
    MPIR_STATUS_SET_COUNT(rreq->status, sent);
    rreq->status.MPI_ERROR = sent == expected ? MPI_SUCCESS :
        MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__, MPI_ERR_OTHER,
                             "**ch4|partmismatchsize", "**ch4|partmismatchsize %d %d",
                             (int) expected, (int) sent);
}

static int tell_receiver(MPIR_Request * sreq, int dest, int tag)
{
    int mpi_errno = MPI_SUCCESS;
    MPIDIG_part_send_init_msg_t hdr = {
        .src_rank = sreq->comm->rank,
        .tag = tag,
        .context_id = sreq->comm->context_id,
        .sreq_ptr = sreq
    };

    MPIR_Datatype_get_size_macro(MPIDI_PART_REQUEST(sreq, datatype), hdr.data_sz);
    hdr.data_sz *= MPIDI_PART_REQUEST(sreq, count) * sreq->u.part.partitions;
    CH4_CALL(am_send_hdr(dest, sreq->comm, MPIDIG_PART_SEND_INIT, &hdr, sizeof(hdr), 0, 0),
             MPIDI_REQUEST(sreq, is_local), mpi_errno);
    return mpi_errno;
}

/* Has the sender told, or will it? */
static void meet_sender(MPIR_Request * rreq, int source, int tag)
{
    MPIR_Request *told = MPIDIG_rreq_dequeue(source, tag, rreq->comm->recvcontext_id,
                                             &MPIDI_global.part_unexp_list, MPIDIG_PART);

    if (!told) {
        MPIR_Request_add_ref(rreq);     /* for the list */
        MPIDIG_enqueue_request(rreq, &MPIDI_global.part_posted_list, MPIDIG_PART);
        return;
    }
    MPIDIG_PART_REQUEST(rreq, peer_req_ptr) = MPIDIG_PART_REQUEST(told, peer_req_ptr);
    MPIDIG_PART_REQUEST(rreq, u.recv).sdata_size = MPIDIG_PART_REQUEST(told, u.recv).sdata_size;
    MPIDI_CH4_REQUEST_FREE(told);
    MPIDIG_precv_matched(rreq);
}

int MPIDIG_mpi_psend_init(const void *buf, int partitions, MPI_Aint count, MPI_Datatype datatype,
                          int dest, int tag, MPIR_Comm * comm, MPIR_Info * info,
                          MPIR_Request ** request)
{
    int mpi_errno = MPI_SUCCESS;

    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock);
    mpi_errno = new_request(MPIR_REQUEST_KIND__PART_SEND, (void *) buf, partitions, count, datatype,
                            dest, tag, comm, request);
    MPIR_ERR_CHECK(mpi_errno);
    if (dest != MPI_PROC_NULL)
        mpi_errno = tell_receiver(*request, dest, tag);

  fn_fail:
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock);
    return mpi_errno;
}

int MPIDIG_mpi_precv_init(void *buf, int partitions, MPI_Aint count, MPI_Datatype datatype,
                          int source, int tag, MPIR_Comm * comm, MPIR_Info * info,
                          MPIR_Request ** request)
{
    int mpi_errno = MPI_SUCCESS;

    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock);
    mpi_errno = new_request(MPIR_REQUEST_KIND__PART_RECV, buf, partitions, count, datatype, source,
                            tag, comm, request);
    MPIR_ERR_CHECK(mpi_errno);
    if (source != MPI_PROC_NULL)
        meet_sender(*request, source, tag);
    else
        MPIR_Status_set_procnull(&(*request)->status);

  fn_fail:
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock);
    return mpi_errno;
}
