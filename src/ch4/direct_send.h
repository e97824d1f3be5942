/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_DIRECT_SEND_H_INCLUDED
#define MPIDI_DIRECT_SEND_H_INCLUDED

/* What ch4_send.h calls to start a send in shared memory or the network, in place of MPICH's three
 * functions and of MPID_Cancel_send. Those begin with *req = NULL and end with a store to the request;
 * here *req may be a request to use, and once it has started the user may have freed it. */

#ifdef MPIDI_CH4_USE_WORK_QUEUES
#error "the models of threads/models.def take the place of --enable-ch4-mt=handoff"
#endif

/* shm_ if the peer is in this node, else nm_ */
#ifdef MPIDI_CH4_DIRECT_NETMOD
#define MPIDI_DIRECT(is_local_, shm_, nm_) (nm_)
#else
#define MPIDI_DIRECT(is_local_, shm_, nm_) ((is_local_) ? (shm_) : (nm_))
#endif

MPL_STATIC_INLINE_PREFIX int MPIDI_isend_direct(const void *buf, MPI_Aint count,
                                                MPI_Datatype datatype, int rank, int tag,
                                                MPIR_Comm * comm, int context_offset,
                                                MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    int mpi_errno = MPIDI_DIRECT(MPIDI_av_is_local(av),
                                 MPIDI_SHM_mpi_isend(buf, count, datatype, rank, tag, comm,
                                                     context_offset, av, req),
                                 MPIDI_NM_mpi_isend(buf, count, datatype, rank, tag, comm,
                                                    context_offset, av, req));
    MPIR_ERR_CHECK(mpi_errno);

  fn_fail:
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_isend_coll_direct(const void *buf, MPI_Aint count,
                                                     MPI_Datatype datatype, int rank, int tag,
                                                     MPIR_Comm * comm, int context_offset,
                                                     MPIDI_av_entry_t * av, MPIR_Request ** req,
                                                     MPIR_Errflag_t * errflag)
{
    int mpi_errno = MPIDI_DIRECT(MPIDI_av_is_local(av),
                                 MPIDI_SHM_isend_coll(buf, count, datatype, rank, tag, comm,
                                                      context_offset, av, req, errflag),
                                 MPIDI_NM_isend_coll(buf, count, datatype, rank, tag, comm,
                                                     context_offset, av, req, errflag));
    MPIR_ERR_CHECK(mpi_errno);

  fn_fail:
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_issend_direct(const void *buf, MPI_Aint count,
                                                 MPI_Datatype datatype, int rank, int tag,
                                                 MPIR_Comm * comm, int context_offset,
                                                 MPIDI_av_entry_t * av, MPIR_Request ** req)
{
    int mpi_errno = MPIDI_DIRECT(MPIDI_av_is_local(av),
                                 MPIDI_SHM_mpi_issend(buf, count, datatype, rank, tag, comm,
                                                      context_offset, av, req),
                                 MPIDI_NM_mpi_issend(buf, count, datatype, rank, tag, comm,
                                                     context_offset, av, req));
    MPIR_ERR_CHECK(mpi_errno);

  fn_fail:
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPID_Cancel_send(MPIR_Request * sreq)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_FUNC_ENTER;

    if (sreq->comm && MPIDI_is_self_comm(sreq->comm)) {
        mpi_errno = MPIDI_Self_cancel(sreq);
    } else if (!csp_has(sreq)) {        /* a ghost does not cancel a send */
        /* entering the VCI issues what is posted, maybe this send */
        int vci ATTRIBUTE((unused)) = MPIDI_Request_get_vci(sreq);
        MPID_THREAD_CS_ENTER_REC_VCI(MPIDI_VCI(vci).lock);
        mpi_errno = MPIDI_DIRECT(MPIDI_REQUEST(sreq, is_local), MPIDI_SHM_mpi_cancel_send(sreq),
                                 MPIDI_NM_mpi_cancel_send(sreq));
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    }
    MPIR_ERR_CHECK(mpi_errno);

  fn_fail:
    MPIR_FUNC_EXIT;
    return mpi_errno;
}

#endif /* MPIDI_DIRECT_SEND_H_INCLUDED */
