/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef UCX_RECV_H_INCLUDED
#define UCX_RECV_H_INCLUDED

/* Receives that UCX matches, in place of MPICH's file. New is that one from any source may have a half
 * in shared memory (direct_recv.h): the two halves are of one VCI, which is held in every function
 * here, also in those that UCX calls back. UCX takes a posted receive out of its queue within
 * ucp_request_cancel, or has found a message for it; the network adapter must not match receives, which
 * could not be called back at once (ucx_init_locked.h). */

#include "ucx_impl.h"
#include "threads/transport/enter_once.h"
#include "threads/transport/ucx_gaps.h"

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_recv_status(MPI_Status * of, ucs_status_t status,
                                                    const ucp_tag_recv_info_t * info)
{
    if (unlikely(status == UCS_ERR_CANCELED)) {
        MPIR_STATUS_SET_CANCEL_BIT(*of, TRUE);
        MPIR_STATUS_SET_COUNT(*of, 0);
        return;
    }
    of->MPI_SOURCE = MPIDI_UCX_get_source(info->sender_tag);
    of->MPI_TAG = MPIDI_UCX_get_tag(info->sender_tag);
    MPIR_STATUS_SET_COUNT(*of, (MPI_Aint) info->length);        /* of the message, also if it is cut */
    if (likely(status == UCS_OK)) {
        of->MPI_ERROR = MPI_SUCCESS;
    } else if (status == UCS_ERR_MESSAGE_TRUNCATED) {
        of->MPI_ERROR = MPI_ERR_TRUNCATE;
    } else {
        of->MPI_ERROR = MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
                                             MPI_ERR_OTHER, "**ucx_nm_status",
                                             "**ucx_nm_status %s %d %s %s", __SHORT_FILE__, __LINE__,
                                             __func__, ucs_status_string(status));
    }
}

/* A half in shared memory is posted until here, unless it has met a message of its own and was told
 * that this one is first. It ends with this one's status. A message that UCX had when the receive was
 * posted comes here before the two know each other: MPIDI_irecv_anysource sees to that one. */
MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_recv_cmpl_cb(void *request, ucs_status_t status,
                                                     const ucp_tag_recv_info_t * info, void *user_data)
{
    MPIDI_UCX_ucp_request_t *ucp_request = request;
    MPIR_Request *rreq = user_data;
#ifndef MPIDI_CH4_DIRECT_NETMOD
    int is_cancelled;
#endif

    MPIDI_UCX_recv_status(&rreq->status, status, info);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (unlikely(MPIDI_REQUEST_ANYSOURCE_PARTNER(rreq)) && status != UCS_ERR_CANCELED) {
        MPIDI_anysrc_try_cancel_partner(rreq, &is_cancelled);
        MPIR_Assert(is_cancelled);
        MPIDI_anysrc_complete_partner(rreq);
    }
#endif
    MPIDIU_request_complete(rreq);
    ucp_request->req = NULL;
    ucp_request_release(ucp_request);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_recv_gaps_cb(void *request, ucs_status_t status,
                                                     const ucp_tag_recv_info_t * info, void *gaps)
{
    MPIDI_UCX_recv_cmpl_cb(request, status, info, MPIDI_UCX_gaps_free(gaps));
}

/* Where the data go, as UCX wants it: bytes, or one element of a type of its own. */
MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_recv_into(void **buf, MPI_Aint * count, MPI_Datatype datatype,
                                                 MPIR_Request * rreq, ucp_request_param_t * param)
{
    int is_contig, mpi_errno = MPI_SUCCESS;
    size_t size;
    MPI_Aint true_lb;
    MPIR_Datatype *type;

    MPIDI_Datatype_get_info(*count, datatype, is_contig, size, type, true_lb);
    if (is_contig) {
        *buf = MPIR_get_contig_ptr(*buf, true_lb);
        *count = size;
    } else {
        MPIDI_UCX_gaps_t *gaps = MPIDI_UCX_gaps_new(rreq, *buf, *count, type);
        MPIR_ERR_CHKANDJUMP(!gaps, mpi_errno, MPI_ERR_OTHER, "**nomem");
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param->datatype = MPIDI_UCX_gaps_type;
        param->cb.recv = MPIDI_UCX_recv_gaps_cb;
        param->user_data = gaps;
        *buf = gaps;
        *count = 1;
    }

  fn_fail:
    return mpi_errno;
}

/* UCX finds a receive by hash only if all bits of its tag count; error bits are for collectives. */
MPL_STATIC_INLINE_PREFIX uint64_t MPIDI_UCX_recv_mask(int rank, int tag, int context_offset)
{
    if (context_offset == MPIR_CONTEXT_INTRA_PT2PT && rank != MPI_ANY_SOURCE && tag != MPI_ANY_TAG)
        return UINT64_MAX;
    return MPIDI_UCX_tag_mask(tag, rank);
}

#define MPIDI_UCX_RECV_PARAM(req_) { \
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | \
            UCP_OP_ATTR_FLAG_NO_IMM_CMPL, \
        .cb.recv = MPIDI_UCX_recv_cmpl_cb, \
        .user_data = (req_), \
    }

/* *request: NULL, or a request to use. It keeps the communicator, whose context id is not used anew
 * before the message is here. */
MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_recv(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank,
                                            int tag, MPIR_Comm * comm, int context_offset, int vni,
                                            MPIR_Request ** request)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *req = *request;
    MPIDI_UCX_ucp_request_t *ucp_request;
    MPIR_FUNC_ENTER;

    if (req == NULL) {
        req = MPIR_Request_create_from_pool(MPIR_REQUEST_KIND__RECV, vni, 2);
        MPIR_ERR_CHKANDSTMT(req == NULL, mpi_errno, MPIX_ERR_NOREQ, goto fn_fail, "**nomemreq");
    } else {
        MPIR_Request_add_ref(req);
    }
    MPIDI_CH4_REQUEST_KEEPS(req, comm);
    MPIDI_REQUEST_SET_LOCAL(req, 0, NULL);

    ucp_request_param_t param = MPIDI_UCX_RECV_PARAM(req);
    mpi_errno = MPIDI_UCX_recv_into(&buf, &count, datatype, req, &param);
    MPIR_ERR_CHECK(mpi_errno);
    ucp_request = ucp_tag_recv_nbx(MPIDI_UCX_global.ctx[vni].worker, buf, count,
                                   MPIDI_UCX_recv_tag(tag, rank, comm->recvcontext_id + context_offset),
                                   MPIDI_UCX_recv_mask(rank, tag, context_offset), &param);
    MPIDI_UCX_CHK_REQUEST(ucp_request);
    if (!MPIR_Request_is_complete(req))
        MPIDI_UCX_REQ(req).ucp_request = ucp_request;
    *request = req;

  fn_exit:
    MPIR_FUNC_EXIT;
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* A receive of the message of a matched probe, which is the request. */
MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_imrecv(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                                 MPIR_Request * message)
{
    int mpi_errno = MPI_SUCCESS;
    const int vci = MPIDI_Request_get_vci(message);
    const int entered = MPIDI_enter_once(vci);
    MPIDI_UCX_ucp_request_t *ucp_request;
    ucp_request_param_t param = MPIDI_UCX_RECV_PARAM(message);
    MPIR_FUNC_ENTER;

    MPIDI_REQUEST_SET_LOCAL(message, 0, NULL);
    mpi_errno = MPIDI_UCX_recv_into(&buf, &count, datatype, message, &param);
    MPIR_ERR_CHECK(mpi_errno);
    ucp_request = ucp_tag_msg_recv_nbx(MPIDI_UCX_global.ctx[vci].worker, buf, count,
                                       MPIDI_UCX_REQ(message).message_handler, &param);
    MPIDI_UCX_CHK_REQUEST(ucp_request);
    if (!MPIR_Request_is_complete(message))
        MPIDI_UCX_REQ(message).ucp_request = ucp_request;

  fn_exit:
    MPIDI_exit_once(vci, entered);
    MPIR_FUNC_EXIT;
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* partner: the half in shared memory, or NULL. */
MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                                int rank, int tag, MPIR_Comm * comm, int context_offset,
                                                MPIDI_av_entry_t * addr, MPIR_Request ** request,
                                                MPIR_Request * partner)
{
    int mpi_errno;
    const int vni = MPIDI_UCX_get_vni(DST_VCI_FROM_RECVER, comm, rank, comm->rank, tag);
    const int entered = MPIDI_enter_once(vni);
    MPIR_FUNC_ENTER;

    mpi_errno = MPIDI_UCX_recv(buf, count, datatype, rank, tag, comm, context_offset, vni, request);
    if (mpi_errno == MPI_SUCCESS)
        MPIDI_REQUEST_SET_LOCAL(*request, 0, partner);
    MPIDI_exit_once(vni, entered);

    MPIR_FUNC_EXIT;
    return mpi_errno;
}

/* Returns at once, with the receive completed as cancelled, or not if UCX has a message for it. */
MPL_STATIC_INLINE_PREFIX int MPIDI_NM_mpi_cancel_recv(MPIR_Request * rreq)
{
    MPIR_FUNC_ENTER;

    if (!MPIR_Request_is_complete(rreq))
        ucp_request_cancel(MPIDI_UCX_global.ctx[MPIDI_Request_get_vci(rreq)].worker,
                           MPIDI_UCX_REQ(rreq).ucp_request);

    MPIR_FUNC_EXIT;
    return MPI_SUCCESS;
}

#endif /* UCX_RECV_H_INCLUDED */
