/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_OP_APPLY_H_INCLUDED
#define MPIDI_OP_APPLY_H_INCLUDED

/* Issues an operation by one call of MPICH's own function for it. It is always inline, so that the
 * switch folds away where the kind is a constant; only posted.c calls it with a variable kind. */

#include "op.h"

/* In ch4_send.h and ch4_recv.h. *req is NULL, or the request that the operation must use. */
MPL_STATIC_INLINE_PREFIX int MPIDI_isend_direct(const void *buf, MPI_Aint count,
                                                MPI_Datatype datatype, int rank, int tag,
                                                MPIR_Comm * comm, int context_offset,
                                                MPIDI_av_entry_t * av, MPIR_Request ** req);
MPL_STATIC_INLINE_PREFIX int MPIDI_isend_coll_direct(const void *buf, MPI_Aint count,
                                                     MPI_Datatype datatype, int rank, int tag,
                                                     MPIR_Comm * comm, int context_offset,
                                                     MPIDI_av_entry_t * av, MPIR_Request ** req,
                                                     MPIR_Errflag_t * errflag);
MPL_STATIC_INLINE_PREFIX int MPIDI_issend_direct(const void *buf, MPI_Aint count,
                                                 MPI_Datatype datatype, int rank, int tag,
                                                 MPIR_Comm * comm, int context_offset,
                                                 MPIDI_av_entry_t * av, MPIR_Request ** req);
MPL_STATIC_INLINE_PREFIX int MPIDI_irecv_direct(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                                int rank, int tag, MPIR_Comm * comm,
                                                int context_offset, MPIDI_av_entry_t * av,
                                                MPIR_Request ** req);
MPL_STATIC_INLINE_PREFIX int MPIDI_imrecv_direct(void *buf, MPI_Aint count, MPI_Datatype datatype,
                                                 MPIR_Request * message);

/* Issue op. *req: in, NULL or the request to use; out, the request of the operation, which may be a
 * different one if it is complete (IMRECV: in and out the message). The VCI may be held or not:
 * MPICH's function enters it. Runs no progress hook. Returns MPICH's error code. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_op_apply(const MPIDI_op_t * op, MPIR_Request ** req)
{
    MPIR_Errflag_t errflag = op->errflag;

    switch (op->kind) {
        case MPIDI_OP_ISEND:
            return MPIDI_isend_direct(op->buf, op->count, op->datatype, op->rank, op->tag, op->comm,
                                      op->context_offset, op->av, req);
        case MPIDI_OP_ISSEND:
            return MPIDI_issend_direct(op->buf, op->count, op->datatype, op->rank, op->tag,
                                       op->comm, op->context_offset, op->av, req);
        case MPIDI_OP_ISEND_COLL:
            return MPIDI_isend_coll_direct(op->buf, op->count, op->datatype, op->rank, op->tag,
                                           op->comm, op->context_offset, op->av, req, &errflag);
        case MPIDI_OP_IRECV:
            return MPIDI_irecv_direct(op->buf, op->count, op->datatype, op->rank, op->tag, op->comm,
                                      op->context_offset, op->av, req);
        default:
            return MPIDI_imrecv_direct(op->buf, op->count, op->datatype, *req);
    }
}

#endif /* MPIDI_OP_APPLY_H_INCLUDED */
