/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_PERSISTENT_H_INCLUDED
#define MPIDI_PERSISTENT_H_INCLUDED

/* For MPI_Start: 1 if preq is a persistent send to or receive from MPI_PROC_NULL, which is then started
 * and complete. It has a builtin request as any other has its own, or the calls that complete it would
 * take it for inactive. Only sends and receives have a rank. */
MPL_STATIC_INLINE_PREFIX int MPIDI_prequest_start_null(MPIR_Request * preq)
{
    const int receives = preq->kind == MPIR_REQUEST_KIND__PREQUEST_RECV;

    if ((!receives && preq->kind != MPIR_REQUEST_KIND__PREQUEST_SEND) ||
        MPIDI_PREQUEST(preq, rank) != MPI_PROC_NULL)
        return 0;
    preq->u.persist.real_request = receives ? MPIR_Request_create_null_recv() :
        MPIR_Request_create_complete(MPIR_REQUEST_KIND__SEND);
    preq->cc_ptr = &preq->u.persist.real_request->cc;
    preq->status.MPI_ERROR = MPI_SUCCESS;
    return 1;
}

#endif /* MPIDI_PERSISTENT_H_INCLUDED */
