/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_INJECT_H_INCLUDED
#define MPIDI_INJECT_H_INCLUDED

/* Short messages within a node without a request. Shared memory copies a message that fits into a
 * cell at once, so the send is complete when the call returns, and it returns the builtin complete
 * request, as a netmod's inject does. This saves the request, its extension for active messages, and
 * about eight atomic instructions on them and on the communicator. MPIR_CVAR_CH4_SHM_INJECT switches
 * it off. Included by posix_calls.h. */

#include "enter_once.h"

#ifdef HAVE_DEBUGGER_SUPPORT
#define MPIDI_INJECT 0          /* the list of pending sends wants requests */
#else
#define MPIDI_INJECT MPIR_CVAR_CH4_SHM_INJECT
#endif

/* Returns 1 if a message may be large enough for XPMEM or for copies between GPUs, which MPICH asks
 * first, and under the lock of the VCI. */
MPL_STATIC_INLINE_PREFIX int MPIDI_inject_is_for_ipc(MPI_Aint count, MPI_Datatype datatype)
{
    MPI_Aint data_sz;

    MPIDI_Datatype_check_size(datatype, count, data_sz);
    return data_sz >= MPL_MIN(MPIR_CVAR_CH4_IPC_XPMEM_P2P_THRESHOLD,
                              MPIR_CVAR_CH4_IPC_GPU_P2P_THRESHOLD);
}

/* Returns 1 if the message is sent, 0 if it cannot go now: there is no free cell, or other messages
 * wait for one. VCI lock held. */
MPL_STATIC_INLINE_PREFIX int MPIDI_inject_locked(const void *buf, MPI_Aint count,
                                                     MPI_Datatype datatype, MPI_Aint data_sz,
                                                     int grank, const MPIDIG_hdr_t * am_hdr,
                                                     int src_vsi, int dst_vsi)
{
    MPI_Aint sent = data_sz;
    MPIDI_POSIX_am_header_t msg_hdr;

    if (MPIDI_postponed_has(src_vsi, grank, dst_vsi))
        return 0;
    msg_hdr.handler_id = MPIDIG_SEND;
    msg_hdr.am_hdr_sz = sizeof(*am_hdr);
    msg_hdr.am_type = MPIDI_POSIX_AM_TYPE__SHORT;
    return MPIDI_POSIX_eager_send(grank, &msg_hdr, am_hdr, sizeof(*am_hdr), buf, count, datatype, 0,
                                  src_vsi, dst_vsi, data_sz ? &sent : NULL) == MPIDI_POSIX_OK;
}

/* Returns 1 if the message was sent, with the builtin complete request in *request, or 0 if nothing
 * was done. Takes the VCI lock. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_inject(const void *buf, MPI_Aint count,
                                              MPI_Datatype datatype, int rank, int tag,
                                              MPIR_Comm * comm, int context_offset,
                                              MPIR_Errflag_t errflag, int src_vsi, int dst_vsi,
                                              MPIR_Request ** request)
{
    int contig, is_sent, entered;
    MPI_Aint data_sz;
    MPIDIG_hdr_t am_hdr;

    MPIDI_Datatype_check_contig_size(datatype, count, contig, data_sz);
    if (!MPIDI_INJECT || !contig ||
        data_sz + (MPI_Aint) sizeof(am_hdr) > MPIDI_POSIX_am_eager_limit())
        return 0;
    am_hdr.src_rank = comm->rank;
    am_hdr.tag = tag;
    am_hdr.context_id = comm->context_id + context_offset;
    am_hdr.error_bits = errflag;
    am_hdr.sreq_ptr = NULL;
    am_hdr.flags = MPIDIG_AM_SEND_FLAGS_NONE;
    am_hdr.data_sz = data_sz;
    am_hdr.rndv_hdr_sz = 0;
    entered = MPIDI_enter_once(src_vsi);
    is_sent = MPIDI_inject_locked(buf, count, datatype, data_sz,
                                      MPIDIU_rank_to_lpid(rank, comm), &am_hdr, src_vsi, dst_vsi);
    MPIDI_exit_once(src_vsi, entered);
    if (is_sent)
        *request = MPIR_Request_create_complete(MPIR_REQUEST_KIND__SEND);
    return is_sent;
}

/* In place of MPIDIG_mpi_isend and MPIDIG_isend_coll, which they call if the message is not sent. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_inject_or_isend(const void *buf, MPI_Aint count,
                                                   MPI_Datatype datatype, int rank, int tag,
                                                   MPIR_Comm * comm, int context_offset,
                                                   MPIDI_av_entry_t * addr, int src_vsi, int dst_vsi,
                                                   MPIR_Request ** request)
{
    if (MPIDI_inject(buf, count, datatype, rank, tag, comm, context_offset, MPIR_ERR_NONE, src_vsi,
                     dst_vsi, request))
        return MPI_SUCCESS;
    return MPIDIG_mpi_isend(buf, count, datatype, rank, tag, comm, context_offset, addr, src_vsi,
                            dst_vsi, request);
}

__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_inject_or_isend_coll(const void *buf, MPI_Aint count,
                                                        MPI_Datatype datatype, int rank, int tag,
                                                        MPIR_Comm * comm, int context_offset,
                                                        MPIDI_av_entry_t * addr, int src_vsi,
                                                        int dst_vsi, MPIR_Request ** request,
                                                        MPIR_Errflag_t * errflag)
{
    if (MPIDI_inject(buf, count, datatype, rank, tag, comm, context_offset, *errflag, src_vsi, dst_vsi,
                     request))
        return MPI_SUCCESS;
    return MPIDIG_isend_coll(buf, count, datatype, rank, tag, comm, context_offset, addr, src_vsi,
                             dst_vsi, request, errflag);
}

#endif /* MPIDI_INJECT_H_INCLUDED */
