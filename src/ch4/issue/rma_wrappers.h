/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_RMA_WRAPPERS_H_INCLUDED
#define MPIDI_ISSUE_RMA_WRAPPERS_H_INCLUDED

/* The one-sided operations for the upper layers: each puts its arguments into an operation and gives it
 * to the model in force, to the VCI of the window. MPICH's own functions are MPIDI_*_direct. */

#include "issue.h"

/* as MPIDI_*_direct in rma_names.h */
#undef MPIDI_put
#undef MPIDI_get
#undef MPIDI_accumulate
#undef MPIDI_get_accumulate
#undef MPIDI_fetch_and_op
#undef MPIDI_compare_and_swap
#undef MPIDI_rput
#undef MPIDI_rget
#undef MPIDI_raccumulate
#undef MPIDI_rget_accumulate

/* Issue the operation, or have the ghost of its target carry it out (casper/csp.h). */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_issue_rma(const MPIDI_op_t * op, MPIR_Request ** req)
{
    if (csp_rma_takes(op)) {
        const MPIDI_op_t copy = MPIDI_op_copy(op);
        return csp_rma(&copy, req);
    }
    return MPIDI_issue(MPIDI_WIN(op->win, am_vci), op, req);
}

/* An operation with a request. Its error belongs to the window (tables/err_return.h), which with ghosts
 * is not the device's. No other thread but the device's has the request yet. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_issue_requested_rma(const MPIDI_op_t * op, MPIR_Request ** req)
{
    int mpi_errno = MPIDI_issue_rma(op, req);

    if (likely(mpi_errno == MPI_SUCCESS) && !HANDLE_IS_BUILTIN((*req)->handle))
        (*req)->u.rma.errors_to = op->win;
    return mpi_errno;
}

/* An operation without request. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_issue_plain_rma(const MPIDI_op_t * op)
{
    MPIR_Request *none;

    return MPIDI_issue_rma(op, &none);
}

/* The predefined type of all elements of a datatype; none, if it has no elements or several types. */
MPL_STATIC_INLINE_PREFIX MPI_Datatype MPIDI_rma_basic_type(MPI_Datatype datatype)
{
    MPIR_Datatype *dtp;

    if (MPIR_DATATYPE_IS_PREDEFINED(datatype))
        return datatype;
    MPIR_Datatype_get_ptr(datatype, dtp);
    return dtp->basic_type;
}

static inline int MPIDI_rma_type_error(const char *function, int line)
{
    return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, function, line, MPI_ERR_TYPE,
                                "**dtype", NULL);
}

/* Returns an error if op is not defined for a type of the target, or if the elements of origin and
 * target are not all of one type: at the call, because the target of an active message can only leave
 * out its answer, so that a flush waits for ever, or end its process. An accumulate of no elements
 * does nothing. */
MPL_STATIC_INLINE_PREFIX int MPIDI_rma_check_op(MPI_Op op, MPI_Aint origin_count,
                                                MPI_Datatype origin_datatype, MPI_Aint count,
                                                MPI_Datatype datatype)
{
    MPI_Datatype basic;
    MPI_Aint size, origin_size;

    if (op == MPI_NO_OP || !HANDLE_IS_BUILTIN(op) || count == 0 || origin_count == 0)
        return MPI_SUCCESS;
    basic = MPIDI_rma_basic_type(datatype);
    if (!MPIR_DATATYPE_IS_PREDEFINED(basic) || basic != MPIDI_rma_basic_type(origin_datatype)) {
        MPIR_Datatype_get_size_macro(datatype, size);
        MPIR_Datatype_get_size_macro(origin_datatype, origin_size);
        return size && origin_size ? MPIDI_rma_type_error(__func__, __LINE__) : MPI_SUCCESS;
    }
    return op == MPI_REPLACE ? MPI_SUCCESS : MPIR_OP_HDL_TO_DTYPE_FN(op) (basic);
}

/* An accumulate, whose op has been checked: the part of the function that issues it is issue_. */
#define MPIDI_RMA_CHECKED_OP_(origin_count_, origin_type_, count_, type_, issue_) \
    do { \
        const int mpi_errno_ = MPIDI_rma_check_op(op, origin_count_, origin_type_, count_, type_); \
        return likely(mpi_errno_ == MPI_SUCCESS) ? (issue_) : mpi_errno_; \
    } while (0)

/* put, get, accumulate and their request forms */
#define MPIDI_RMA_OP_(kind_, op_) { \
        .kind = MPIDI_OP_##kind_,.rank = target_rank,.datatype = origin_datatype, \
        .buf = (void *) origin_addr,.count = origin_count,.win = win,.target_disp = target_disp, \
        .target_count = target_count,.target_datatype = target_datatype,.op = op_, \
        .result_datatype = MPI_DATATYPE_NULL }

/* get_accumulate and its request form */
#define MPIDI_RMA_GET_ACC_(kind_) { \
        .kind = MPIDI_OP_##kind_,.rank = target_rank,.datatype = origin_datatype, \
        .buf = (void *) origin_addr,.count = origin_count,.win = win,.target_disp = target_disp, \
        .target_count = target_count,.target_datatype = target_datatype,.op = op, \
        .result_count = result_count,.result_datatype = result_datatype,.result = result_addr }

MPL_STATIC_INLINE_PREFIX int MPIDI_put(const void *origin_addr, int origin_count,
                                       MPI_Datatype origin_datatype, int target_rank,
                                       MPI_Aint target_disp, int target_count,
                                       MPI_Datatype target_datatype, MPIR_Win * win)
{
    const MPIDI_op_t posted = MPIDI_RMA_OP_(PUT, MPI_OP_NULL);

    return MPIDI_issue_plain_rma(&posted);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_get(void *origin_addr, int origin_count,
                                       MPI_Datatype origin_datatype, int target_rank,
                                       MPI_Aint target_disp, int target_count,
                                       MPI_Datatype target_datatype, MPIR_Win * win)
{
    const MPIDI_op_t posted = MPIDI_RMA_OP_(GET, MPI_OP_NULL);

    return MPIDI_issue_plain_rma(&posted);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_rput(const void *origin_addr, int origin_count,
                                        MPI_Datatype origin_datatype, int target_rank,
                                        MPI_Aint target_disp, int target_count,
                                        MPI_Datatype target_datatype, MPIR_Win * win,
                                        MPIR_Request ** request)
{
    const MPIDI_op_t posted = MPIDI_RMA_OP_(RPUT, MPI_OP_NULL);

    return MPIDI_issue_requested_rma(&posted, request);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_rget(void *origin_addr, int origin_count,
                                        MPI_Datatype origin_datatype, int target_rank,
                                        MPI_Aint target_disp, int target_count,
                                        MPI_Datatype target_datatype, MPIR_Win * win,
                                        MPIR_Request ** request)
{
    const MPIDI_op_t posted = MPIDI_RMA_OP_(RGET, MPI_OP_NULL);

    return MPIDI_issue_requested_rma(&posted, request);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_accumulate(const void *origin_addr, int origin_count,
                                              MPI_Datatype origin_datatype, int target_rank,
                                              MPI_Aint target_disp, int target_count,
                                              MPI_Datatype target_datatype, MPI_Op op,
                                              MPIR_Win * win)
{
    const MPIDI_op_t posted = MPIDI_RMA_OP_(ACCUMULATE, op);

    MPIDI_RMA_CHECKED_OP_(origin_count, origin_datatype, target_count, target_datatype,
                          MPIDI_issue_plain_rma(&posted));
}

MPL_STATIC_INLINE_PREFIX int MPIDI_raccumulate(const void *origin_addr, int origin_count,
                                               MPI_Datatype origin_datatype, int target_rank,
                                               MPI_Aint target_disp, int target_count,
                                               MPI_Datatype target_datatype, MPI_Op op,
                                               MPIR_Win * win, MPIR_Request ** request)
{
    const MPIDI_op_t posted = MPIDI_RMA_OP_(RACCUMULATE, op);

    MPIDI_RMA_CHECKED_OP_(origin_count, origin_datatype, target_count, target_datatype,
                          MPIDI_issue_requested_rma(&posted, request));
}

MPL_STATIC_INLINE_PREFIX int MPIDI_get_accumulate(const void *origin_addr, int origin_count,
                                                  MPI_Datatype origin_datatype, void *result_addr,
                                                  int result_count, MPI_Datatype result_datatype,
                                                  int target_rank, MPI_Aint target_disp,
                                                  int target_count, MPI_Datatype target_datatype,
                                                  MPI_Op op, MPIR_Win * win)
{
    const MPIDI_op_t posted = MPIDI_RMA_GET_ACC_(GET_ACCUMULATE);

    MPIDI_RMA_CHECKED_OP_(origin_count, origin_datatype, target_count, target_datatype,
                          MPIDI_issue_plain_rma(&posted));
}

MPL_STATIC_INLINE_PREFIX int MPIDI_rget_accumulate(const void *origin_addr, int origin_count,
                                                   MPI_Datatype origin_datatype, void *result_addr,
                                                   int result_count, MPI_Datatype result_datatype,
                                                   int target_rank, MPI_Aint target_disp,
                                                   int target_count, MPI_Datatype target_datatype,
                                                   MPI_Op op, MPIR_Win * win,
                                                   MPIR_Request ** request)
{
    const MPIDI_op_t posted = MPIDI_RMA_GET_ACC_(RGET_ACCUMULATE);

    MPIDI_RMA_CHECKED_OP_(origin_count, origin_datatype, target_count, target_datatype,
                          MPIDI_issue_requested_rma(&posted, request));
}

MPL_STATIC_INLINE_PREFIX int MPIDI_fetch_and_op(const void *origin_addr, void *result_addr,
                                                MPI_Datatype datatype, int target_rank,
                                                MPI_Aint target_disp, MPI_Op op, MPIR_Win * win)
{
    const MPIDI_op_t posted = {
        .kind = MPIDI_OP_FETCH_AND_OP,.rank = target_rank,.datatype = datatype,
        .buf = (void *) origin_addr,.win = win,.target_disp = target_disp,
        .target_datatype = MPI_DATATYPE_NULL,.op = op,.result_datatype = MPI_DATATYPE_NULL,
        .result = result_addr
    };

    MPIDI_RMA_CHECKED_OP_(1, datatype, 1, datatype, MPIDI_issue_plain_rma(&posted));
}

MPL_STATIC_INLINE_PREFIX int MPIDI_compare_and_swap(const void *origin_addr,
                                                    const void *compare_addr, void *result_addr,
                                                    MPI_Datatype datatype, int target_rank,
                                                    MPI_Aint target_disp, MPIR_Win * win)
{
    const MPIDI_op_t posted = {
        .kind = MPIDI_OP_COMPARE_AND_SWAP,.rank = target_rank,.datatype = datatype,
        .buf = (void *) origin_addr,.win = win,.target_disp = target_disp,
        .target_datatype = MPI_DATATYPE_NULL,.op = MPI_OP_NULL,
        .result_datatype = MPI_DATATYPE_NULL,.result = result_addr,.compare = compare_addr
    };

    return MPIDI_issue_plain_rma(&posted);
}

#undef MPIDI_RMA_OP_
#undef MPIDI_RMA_GET_ACC_
#undef MPIDI_RMA_CHECKED_OP_

#endif /* MPIDI_ISSUE_RMA_WRAPPERS_H_INCLUDED */
