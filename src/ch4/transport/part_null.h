/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_PART_NULL_H_INCLUDED
#define MPIDI_PART_NULL_H_INCLUDED

/* Partitioned communication with MPI_PROC_NULL. There is no handshake: a receive is complete when it
 * is started, a send when its last partition is ready, since MPI_Pready needs an active request. The
 * status of the receive is set once and stays. Included by mpidig_part_utils.h. */

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

/* With the VCI held. The user keeps the request, and may start or free it once it is complete. */
MPL_STATIC_INLINE_PREFIX void MPIDI_part_complete_alone(MPIR_Request * req)
{
    if (req->kind == MPIR_REQUEST_KIND__PART_SEND)
        MPIR_cc_set(&MPIDIG_PART_REQUEST(req, u.send).ready_cntr, req->u.part.partitions + 1);
    MPIR_Request_add_ref(req);
    MPID_Request_complete(req);
}

/* With the VCI held, for an active request. */
MPL_STATIC_INLINE_PREFIX void MPIDI_part_start_alone(MPIR_Request * req)
{
    int incomplete = 0;

    if (req->kind == MPIR_REQUEST_KIND__PART_SEND)      /* the receiver has nothing to say */
        MPIR_cc_decr(&MPIDIG_PART_REQUEST(req, u.send).ready_cntr, &incomplete);
    if (!incomplete)
        MPIDI_part_complete_alone(req);
}

#endif /* MPIDI_PART_NULL_H_INCLUDED */
