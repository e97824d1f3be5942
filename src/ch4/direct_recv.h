/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_DIRECT_RECV_H_INCLUDED
#define MPIDI_DIRECT_RECV_H_INCLUDED

/* What ch4_recv.h calls to start and to cancel a receive in shared memory or the network, in place of
 * MPICH's functions: *req may be a request to use, and a receive from any source, which is two
 * requests, completes and is cancelled once. The user's is that in shared memory; its partner is the
 * netmod's (mpidig_request.h). */

#include "direct_send.h"
#include "one_node.h"

#ifndef MPIDI_CH4_DIRECT_NETMOD
/* A message that had come before its receive or probe from any source was looked for in shared memory,
 * but is of the network, if that does not match and shares the list of early messages
 * (MPIR_CVAR_CH4_OFI_ENABLE_TAGGED=0): its sender gets the answer where it is. source: below 0 if the
 * request is not that of the message. */
MPL_STATIC_INLINE_PREFIX void MPIDI_message_set_local(MPIR_Request * message, MPIR_Comm * comm,
                                                      int source)
{
    if (source >= 0)
        MPIDI_REQUEST(message, is_local) = MPIDI_av_is_local(MPIDIU_comm_rank_to_av(comm, source));
}

/* The half in shared memory of a receive that fails takes no message any more. One that was given is
 * for the caller to complete, with the error; any other goes. */
MPL_STATIC_INLINE_PREFIX void MPIDI_irecv_anysource_undo(MPIR_Request ** req, int is_given)
{
    if (is_given)
        MPIR_cc_inc((*req)->cc_ptr);    /* the cancel takes this one */
    MPIDI_SHM_mpi_cancel_recv(*req);
    MPIR_STATUS_SET_CANCEL_BIT((*req)->status, FALSE);
    MPIDI_CH4_REQUEST_FREE(*req);
    if (!is_given)
        *req = NULL;
}

/* Both halves of a receive from any source, or one if nothing can come from the network. The VCI is
 * held meanwhile, so shared memory brings nothing between the two; the netmod enters it once more. */
MPL_STATIC_INLINE_PREFIX int MPIDI_irecv_anysource(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                                   int rank, int tag, MPIR_Comm * comm,
                                                   int context_offset, MPIDI_av_entry_t * av,
                                                   MPIR_Request ** req)
{
    int mpi_errno;
    int vci ATTRIBUTE((unused)) = -1;
    const int is_given = *req != NULL;
    MPIR_Request *nm_req = NULL;

    mpi_errno = MPIDI_SHM_mpi_irecv(buf, count, datatype, rank, tag, comm, context_offset, req);
    if (mpi_errno != MPI_SUCCESS || MPIDI_on_one_node())
        return mpi_errno;
    MPIR_Assert(*req);
    vci = MPIDI_Request_get_vci(*req);
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock);
    if (MPIR_Request_is_complete(*req))
        goto fn_exit;
    if (MPIDIG_REQUEST_IN_PROGRESS(*req)) {     /* a message is here */
        if (!is_given)
            MPIDI_message_set_local(*req, comm, MPIDIG_REQUEST(*req, u.recv.source));
        goto fn_exit;
    }

    mpi_errno = MPIDI_NM_mpi_irecv(buf, count, datatype, rank, tag, comm, context_offset, av,
                                   &nm_req, *req);
    if (unlikely(mpi_errno != MPI_SUCCESS)) {
        MPIDI_irecv_anysource_undo(req, is_given);
        MPIR_ERR_POP(mpi_errno);
    }
    if (MPIR_Request_is_complete(nm_req)) {
        /* the netmod had one: the half in shared memory ends as cancelled, then with its status; it
         * has no partner, for a cancel that comes too late, but has issued this receive */
        MPIR_cc_inc((*req)->cc_ptr);
        mpi_errno = MPIDI_SHM_mpi_cancel_recv(*req);
        (*req)->status = nm_req->status;
        MPID_Request_complete(*req);
        MPIDI_CH4_REQUEST_FREE(nm_req);
    } else {
        MPIDI_REQUEST_ANYSOURCE_PARTNER(*req) = nm_req;
    }

  fn_exit:
  fn_fail:
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    return mpi_errno;
}

/* Cancel a receive of shared memory, which may have a partner. With the VCI held. */
MPL_STATIC_INLINE_PREFIX int MPIDI_cancel_recv_shm(MPIR_Request * rreq)
{
    int mpi_errno, is_cancelled;
    MPIR_Request *partner = MPIDI_REQUEST_ANYSOURCE_PARTNER(rreq);

    if (unlikely(partner)) {
        MPIR_Request_add_ref(partner);
        mpi_errno = MPIDI_NM_mpi_cancel_recv(partner);
        is_cancelled = MPIR_STATUS_GET_CANCEL_BIT(partner->status) &&
            MPIDI_anysrc_detach_partner(partner) == rreq;
        if (is_cancelled)
            MPIDI_CH4_REQUEST_FREE(partner);    /* on behalf of the mpi layer */
        MPIDI_CH4_REQUEST_FREE(partner);
        if (mpi_errno != MPI_SUCCESS || !is_cancelled)
            return mpi_errno;   /* the netmod has a message: it completes rreq */
    }
    return MPIDI_SHM_mpi_cancel_recv(rreq);
}
#endif

/* The calling thread may hold the VCI. */
MPL_STATIC_INLINE_PREFIX int MPIDI_cancel_recv_safe(MPIR_Request * rreq)
{
    int mpi_errno;
    int vci ATTRIBUTE((unused)) = -1;
    MPIR_FUNC_ENTER;

    if (MPIR_Request_is_complete(rreq))
        return MPI_SUCCESS;     /* one of self.c has nothing of what is read below */
    if (csp_has(rreq))
        return csp_cancel_recv(rreq);
    vci = MPIDI_Request_get_vci(rreq);
    MPID_THREAD_CS_ENTER_REC_VCI(MPIDI_VCI(vci).lock);
    if (rreq->comm && MPIDI_is_self_comm(rreq->comm))
        mpi_errno = MPIDI_Self_cancel(rreq);
    else
        mpi_errno = MPIDI_DIRECT(MPIDI_REQUEST(rreq, is_local), MPIDI_cancel_recv_shm(rreq),
                                 MPIDI_NM_mpi_cancel_recv(rreq));
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    MPIR_ERR_CHECK(mpi_errno);

  fn_fail:
    MPIR_FUNC_EXIT;
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_irecv_direct(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                                int rank, int tag, MPIR_Comm * comm,
                                                int context_offset, MPIDI_av_entry_t * av,
                                                MPIR_Request ** req)
{
    int mpi_errno;

#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (unlikely(rank == MPI_ANY_SOURCE))
        mpi_errno = MPIDI_irecv_anysource(buf, count, datatype, rank, tag, comm, context_offset, av,
                                          req);
    else
#endif
        mpi_errno = MPIDI_DIRECT(MPIDI_av_is_local(av),
                                 MPIDI_SHM_mpi_irecv(buf, count, datatype, rank, tag, comm,
                                                     context_offset, req),
                                 MPIDI_NM_mpi_irecv(buf, count, datatype, rank, tag, comm,
                                                    context_offset, av, req, NULL));
    MPIR_ERR_CHECK(mpi_errno);

  fn_fail:
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_imrecv_direct(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                                 MPIR_Request * message)
{
    int mpi_errno = MPIDI_DIRECT(MPIDI_REQUEST(message, is_local),
                                 MPIDI_SHM_mpi_imrecv(buf, count, datatype, message),
                                 MPIDI_NM_mpi_imrecv(buf, count, datatype, message));
    MPIR_ERR_CHECK(mpi_errno);

  fn_fail:
    return mpi_errno;
}

/* The handler of messages: in recv_at_once.c. */
#if !MPIR_REQUEST_IS_CACHED
#define MPIDI_recv_target_msg_cb MPIDIG_send_target_msg_cb
#endif
int MPIDI_recv_target_msg_cb(void *am_hdr, void *data, MPI_Aint in_data_sz, uint32_t attr,
                             MPIR_Request ** req);

#endif /* MPIDI_DIRECT_RECV_H_INCLUDED */
