/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDIG_REQUEST_H_INCLUDED
#define MPIDIG_REQUEST_H_INCLUDED

/* Requests of active messages, and the two halves of a receive from any source: in place of MPICH's
 * mpidig_request.h. What an active message needs is in the request itself (am_ext in op.h). */

#include "ch4_types.h"

MPL_STATIC_INLINE_PREFIX void MPIDIG_request_begin(MPIR_Request * req, int local_vci, int remote_vci)
{
    MPIDI_NM_am_request_init(req);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    MPIDI_SHM_am_request_init(req);
#endif
    MPIDIG_REQUEST(req, req) = &MPIDI_REQUEST(req, am_ext);
    MPIDIG_REQUEST(req, req->local_vci) = local_vci;
    MPIDIG_REQUEST(req, req->remote_vci) = remote_vci;
    MPIDIG_REQUEST(req, req->status) = 0;
    MPIDIG_REQUEST(req, req->recv_async).data_copy_cb = NULL;
    MPIDIG_REQUEST(req, req->recv_async).recv_type = MPIDIG_RECV_NONE;
}

/* A new request of an active message, or NULL without memory. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDIG_request_create(MPIR_Request_kind_t kind, int ref_count,
                                                             int local_vci, int remote_vci)
{
    MPIR_Request *req;

    MPIDI_CH4_REQUEST_CREATE(req, kind, local_vci, ref_count);
    if (req)
        MPIDIG_request_begin(req, local_vci, remote_vci);
    return req;
}

/* req, which the user has already, becomes one: with a reference for the active message. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDIG_request_init(MPIR_Request * req,
                                                           MPIR_Request_kind_t kind ATTRIBUTE((unused)),
                                                           int local_vci, int remote_vci)
{
    MPIR_Assert(req != NULL);
    MPIR_Request_add_ref(req);
    MPIDIG_request_begin(req, local_vci, remote_vci);
    return req;
}

/* The same for a receive that was posted and has matched a message that announces its data: until the
 * data is there, cancel and any-source look at it. */
MPL_STATIC_INLINE_PREFIX void MPIDIG_request_init_matched(MPIR_Request * req, int vci)
{
    MPIDIG_request_init(req, MPIR_REQUEST_KIND__RECV, vci, -1);
    MPIDIG_REQUEST(req, req->status) |= MPIDIG_REQ_IN_PROGRESS;
}

/* The request of a send within the node: given, by a model that posts operations, or a new one if that
 * is NULL. NULL without memory. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDIG_local_send_request(MPIR_Request * given, int local_vci,
                                                                 int remote_vci)
{
    MPIR_Request *req = given ?
        MPIDIG_request_init(given, MPIR_REQUEST_KIND__SEND, local_vci, remote_vci) :
        MPIDIG_request_create(MPIR_REQUEST_KIND__SEND, 2, local_vci, remote_vci);

    if (req)
        MPIDI_REQUEST_SET_IS_LOCAL(req, 1);
    return req;
}

/* The request of an operation of a netmod: req_, given by a model that posts operations, with a
 * reference for the netmod; or, if it is NULL, a new one. */
#define MPIDI_CH4_REQUEST_OF(req_, kind_, vci_) \
    do { \
        if (req_) \
            MPIR_Request_add_ref(req_); \
        else \
            MPIDI_CH4_REQUEST_CREATE(req_, kind_, vci_, 2); \
    } while (0)

/* req_ refers to its communicator, unless it was given and does so already. */
#define MPIDI_CH4_REQUEST_KEEPS(req_, comm_) \
    do { \
        if ((req_)->comm == NULL) { \
            (req_)->comm = comm_; \
            MPIR_Comm_add_ref(comm_); \
        } \
    } while (0)

/* The same for a send by the transport of addr_. */
#define MPIDI_CH4_REQUEST_SENDS(req_, comm_, addr_) \
    do { \
        MPIDI_CH4_REQUEST_KEEPS(req_, comm_); \
        MPIDI_REQUEST_SET_IS_LOCAL(req_, MPIDI_av_is_local(addr_)); \
    } while (0)

/* The message for rreq is longer than its room: error and status, which no later step sets. */
MPL_STATIC_INLINE_PREFIX void MPIDIG_recv_truncated(MPIR_Request * rreq, MPI_Aint room,
                                                    MPI_Aint size)
{
    MPI_Status *status = &rreq->status;

    status->MPI_SOURCE = MPIDIG_REQUEST(rreq, u.recv.source);
    status->MPI_TAG = MPIDIG_REQUEST(rreq, u.recv.tag);
    MPIR_STATUS_SET_COUNT(*status, room);
    status->MPI_ERROR = MPIR_Err_create_code(status->MPI_ERROR, MPIR_ERR_RECOVERABLE, __func__,
                                             __LINE__, MPI_ERR_TRUNCATE, "**truncate",
                                             "**truncate %d %d %d %d", status->MPI_SOURCE,
                                             status->MPI_TAG, (int) MPL_MIN(size, INT_MAX),
                                             (int) MPL_MIN(room, INT_MAX));
}

/* Copy the data of a message that has come before its receive. The function may complete rreq, in a
 * poll of its own, so nothing of rreq is used after it. */
MPL_STATIC_INLINE_PREFIX int MPIDIG_recv_check_rndv_cb(MPIR_Request * rreq)
{
    int mpi_errno = MPI_SUCCESS;
    MPIDIG_recv_data_copy_cb copy = MPIDIG_REQUEST(rreq, req->recv_async).data_copy_cb;

    if (copy) {
        void *rndv_hdr = MPIDIG_REQUEST(rreq, rndv_hdr);
        MPIDIG_REQUEST(rreq, req->recv_async).data_copy_cb = NULL;
        mpi_errno = copy(rreq);
        MPL_free(rndv_hdr);
    }
    return mpi_errno;
}

#ifndef MPIDI_CH4_DIRECT_NETMOD
/* A receive from any source is two requests that know each other, its partner: the user's in shared
 * memory and one of the netmod. Whichever gets a message first cancels the other; the netmod's then
 * completes both with its status, at the end of the receive. All with the VCI held, which is that of
 * both, since cancelling takes no lock. */

/* Before rreq takes a message: *is_cancelled is 0 if it must not, because the netmod's half has one or
 * cannot be cancelled; rreq then counts as cancelled. The netmod may poll in a cancel, which can
 * complete either half: hence the references. */
MPL_STATIC_INLINE_PREFIX int MPIDI_anysrc_try_cancel_partner(MPIR_Request * rreq, int *is_cancelled)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *partner = MPIDI_REQUEST_ANYSOURCE_PARTNER(rreq);

    *is_cancelled = 1;
    if (likely(!partner) || MPIR_STATUS_GET_CANCEL_BIT(partner->status))
        goto fn_exit;

    if (!MPIDI_REQUEST(rreq, is_local)) {
        /* Shared memory matches only once the netmod's half is cancelled, so this cancel succeeds. One
         * event more, as the partner completes with the status of the receive. */
        MPIR_cc_inc(partner->cc_ptr);
        mpi_errno = MPIDI_SHM_mpi_cancel_recv(partner);
        MPIR_ERR_CHECK(mpi_errno);
        goto fn_exit;
    }

    MPIR_Request_add_ref(rreq);
    MPIR_Request_add_ref(partner);
    mpi_errno = MPIDI_NM_mpi_cancel_recv(partner);
    MPIR_ERR_CHECK(mpi_errno);
    if (MPIR_STATUS_GET_CANCEL_BIT(partner->status)) {
        MPIDI_REQUEST_ANYSOURCE_PARTNER(rreq) = NULL;
        MPIDI_REQUEST_ANYSOURCE_PARTNER(partner) = NULL;
        /* the cancel has dropped one reference; this is that of the mpi layer, which never sees it */
        MPIDI_CH4_REQUEST_FREE(partner);
    } else {
        /* not if the netmod has completed rreq meanwhile, which cut the link */
        if (MPIDI_REQUEST_ANYSOURCE_PARTNER(rreq))
            MPIR_STATUS_SET_CANCEL_BIT(rreq->status, TRUE);
        MPIR_Datatype_release_if_not_builtin(MPIDIG_REQUEST(rreq, datatype));
        *is_cancelled = 0;
    }
    MPIDI_CH4_REQUEST_FREE(partner);
    MPIDI_CH4_REQUEST_FREE(rreq);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Cut the link between the two; the partner. It is completed when the receive is done. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDI_anysrc_detach_partner(MPIR_Request * rreq)
{
    MPIR_Request *partner = MPIDI_REQUEST_ANYSOURCE_PARTNER(rreq);

    if (unlikely(partner)) {
        MPIDI_REQUEST_ANYSOURCE_PARTNER(rreq) = NULL;
        MPIDI_REQUEST_ANYSOURCE_PARTNER(partner) = NULL;
    }
    return partner;
}

/* rreq, of the netmod, is done but for its own completion: complete the user's request. That of shared
 * memory never comes here with a partner, which it has cancelled before. */
MPL_STATIC_INLINE_PREFIX void MPIDI_anysrc_complete_partner(MPIR_Request * rreq)
{
    MPIR_Request *partner = MPIDI_anysrc_detach_partner(rreq);

    if (unlikely(partner)) {
        MPIR_Assert(!MPIDI_REQUEST(rreq, is_local));
        partner->status = rreq->status;
        MPID_Request_complete(partner);
        MPIDI_CH4_REQUEST_FREE(rreq);   /* on behalf of the mpi layer */
    }
}

#else
#define MPIDI_anysrc_complete_partner(rreq_) do { } while (0)
#endif /* MPIDI_CH4_DIRECT_NETMOD */

/* MPICH's name of it, in the handlers of active messages. */
#define MPIDI_anysrc_free_partner(rreq_) MPIDI_anysrc_complete_partner(rreq_)

#endif /* MPIDIG_REQUEST_H_INCLUDED */
