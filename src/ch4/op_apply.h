/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_OP_APPLY_H_INCLUDED
#define MPIDI_OP_APPLY_H_INCLUDED

/* Issues an operation by one call of the function that starts it at once: MPIDI_op_apply, always
 * inline, so that the switch folds away, where the kind is a constant; MPIDI_op_apply_any for any
 * kind. */

#include "op.h"

/* In direct_send.h, direct_recv.h and ch4_rma.h. *req is NULL, or the request that the operation must
 * use. */
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

MPL_STATIC_INLINE_PREFIX int MPIDI_put_direct(const void *origin_addr, int origin_count,
                                              MPI_Datatype origin_datatype, int target_rank,
                                              MPI_Aint target_disp, int target_count,
                                              MPI_Datatype target_datatype, MPIR_Win * win);
MPL_STATIC_INLINE_PREFIX int MPIDI_get_direct(void *origin_addr, int origin_count,
                                              MPI_Datatype origin_datatype, int target_rank,
                                              MPI_Aint target_disp, int target_count,
                                              MPI_Datatype target_datatype, MPIR_Win * win);
MPL_STATIC_INLINE_PREFIX int MPIDI_accumulate_direct(const void *origin_addr, int origin_count,
                                                     MPI_Datatype origin_datatype, int target_rank,
                                                     MPI_Aint target_disp, int target_count,
                                                     MPI_Datatype target_datatype, MPI_Op op,
                                                     MPIR_Win * win);
MPL_STATIC_INLINE_PREFIX int MPIDI_get_accumulate_direct(const void *origin_addr, int origin_count,
                                                         MPI_Datatype origin_datatype,
                                                         void *result_addr, int result_count,
                                                         MPI_Datatype result_datatype,
                                                         int target_rank, MPI_Aint target_disp,
                                                         int target_count,
                                                         MPI_Datatype target_datatype, MPI_Op op,
                                                         MPIR_Win * win);
MPL_STATIC_INLINE_PREFIX int MPIDI_fetch_and_op_direct(const void *origin_addr, void *result_addr,
                                                       MPI_Datatype datatype, int target_rank,
                                                       MPI_Aint target_disp, MPI_Op op,
                                                       MPIR_Win * win);
MPL_STATIC_INLINE_PREFIX int MPIDI_compare_and_swap_direct(const void *origin_addr,
                                                           const void *compare_addr,
                                                           void *result_addr, MPI_Datatype datatype,
                                                           int target_rank, MPI_Aint target_disp,
                                                           MPIR_Win * win);
MPL_STATIC_INLINE_PREFIX int MPIDI_rput_direct(const void *origin_addr, int origin_count,
                                               MPI_Datatype origin_datatype, int target_rank,
                                               MPI_Aint target_disp, int target_count,
                                               MPI_Datatype target_datatype, MPIR_Win * win,
                                               MPIR_Request ** req);
MPL_STATIC_INLINE_PREFIX int MPIDI_rget_direct(void *origin_addr, int origin_count,
                                               MPI_Datatype origin_datatype, int target_rank,
                                               MPI_Aint target_disp, int target_count,
                                               MPI_Datatype target_datatype, MPIR_Win * win,
                                               MPIR_Request ** req);
MPL_STATIC_INLINE_PREFIX int MPIDI_raccumulate_direct(const void *origin_addr, int origin_count,
                                                      MPI_Datatype origin_datatype,
                                                      int target_rank, MPI_Aint target_disp,
                                                      int target_count,
                                                      MPI_Datatype target_datatype, MPI_Op op,
                                                      MPIR_Win * win, MPIR_Request ** req);
MPL_STATIC_INLINE_PREFIX int MPIDI_rget_accumulate_direct(const void *origin_addr,
                                                          int origin_count,
                                                          MPI_Datatype origin_datatype,
                                                          void *result_addr, int result_count,
                                                          MPI_Datatype result_datatype,
                                                          int target_rank, MPI_Aint target_disp,
                                                          int target_count,
                                                          MPI_Datatype target_datatype, MPI_Op op,
                                                          MPIR_Win * win, MPIR_Request ** req);

/* Issue a one-sided operation; see MPIDI_op_apply. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_op_apply_rma(const MPIDI_op_t * op, MPIR_Request ** req)
{
    const int count = (int) op->count;

    switch (op->kind) {
        case MPIDI_OP_PUT:
            return MPIDI_put_direct(op->buf, count, op->datatype, op->rank, op->target_disp,
                                    op->target_count, op->target_datatype, op->win);
        case MPIDI_OP_GET:
            return MPIDI_get_direct(op->buf, count, op->datatype, op->rank, op->target_disp,
                                    op->target_count, op->target_datatype, op->win);
        case MPIDI_OP_ACCUMULATE:
            return MPIDI_accumulate_direct(op->buf, count, op->datatype, op->rank, op->target_disp,
                                           op->target_count, op->target_datatype, op->op, op->win);
        case MPIDI_OP_GET_ACCUMULATE:
            return MPIDI_get_accumulate_direct(op->buf, count, op->datatype, op->result,
                                               op->result_count, op->result_datatype, op->rank,
                                               op->target_disp, op->target_count,
                                               op->target_datatype, op->op, op->win);
        case MPIDI_OP_FETCH_AND_OP:
            return MPIDI_fetch_and_op_direct(op->buf, op->result, op->datatype, op->rank,
                                             op->target_disp, op->op, op->win);
        case MPIDI_OP_COMPARE_AND_SWAP:
            return MPIDI_compare_and_swap_direct(op->buf, op->compare, op->result, op->datatype,
                                                 op->rank, op->target_disp, op->win);
        case MPIDI_OP_RPUT:
            return MPIDI_rput_direct(op->buf, count, op->datatype, op->rank, op->target_disp,
                                     op->target_count, op->target_datatype, op->win, req);
        case MPIDI_OP_RGET:
            return MPIDI_rget_direct(op->buf, count, op->datatype, op->rank, op->target_disp,
                                     op->target_count, op->target_datatype, op->win, req);
        case MPIDI_OP_RACCUMULATE:
            return MPIDI_raccumulate_direct(op->buf, count, op->datatype, op->rank, op->target_disp,
                                            op->target_count, op->target_datatype, op->op, op->win,
                                            req);
        default:
            return MPIDI_rget_accumulate_direct(op->buf, count, op->datatype, op->result,
                                                op->result_count, op->result_datatype, op->rank,
                                                op->target_disp, op->target_count,
                                                op->target_datatype, op->op, op->win, req);
    }
}

/* Issue op. *req: in, NULL or the request to use; out, the request of the operation, which may be a
 * different one if it is complete (IMRECV: in and out the message; unused for an operation without
 * one). The VCI may be held or not: MPICH's function enters it. Runs no progress hook. Returns MPICH's
 * error code. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_op_apply(const MPIDI_op_t * op, MPIR_Request ** req)
{
    MPIR_Errflag_t errflag;

    if (MPIDI_op_is_rma(op->kind))
        return MPIDI_op_apply_rma(op, req);
    switch (op->kind) {
        case MPIDI_OP_ISEND:
            return MPIDI_isend_direct(op->buf, op->count, op->datatype, op->rank, op->tag, op->comm,
                                      op->context_offset, op->av, req);
        case MPIDI_OP_ISSEND:
            return MPIDI_issend_direct(op->buf, op->count, op->datatype, op->rank, op->tag,
                                       op->comm, op->context_offset, op->av, req);
        case MPIDI_OP_ISEND_COLL:
            errflag = op->errflag;
            return MPIDI_isend_coll_direct(op->buf, op->count, op->datatype, op->rank, op->tag,
                                           op->comm, op->context_offset, op->av, req, &errflag);
        case MPIDI_OP_IRECV:
            return MPIDI_irecv_direct(op->buf, op->count, op->datatype, op->rank, op->tag, op->comm,
                                      op->context_offset, op->av, req);
        default:
            return MPIDI_imrecv_direct(op->buf, op->count, op->datatype, *req);
    }
}

/* The same, out of line. */
int MPIDI_op_apply_any(const MPIDI_op_t * op, MPIR_Request ** req);

#endif /* MPIDI_OP_APPLY_H_INCLUDED */
