/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_inner.h"

/* ---- does the operation stay in the memory of its target? ---- */

/* The bytes that count elements touch, from *low up to *high, relative to where they begin. */
static void extent_of(MPI_Datatype datatype, MPI_Aint count, MPI_Aint * low, MPI_Aint * high)
{
    MPIR_Datatype *type;
    MPI_Aint more;

    if (HANDLE_IS_BUILTIN(datatype)) {
        *low = 0;
        *high = count * MPIR_Datatype_get_basic_size(datatype);
        return;
    }
    MPIR_Datatype_get_ptr(datatype, type);
    if (type->size == 0) {
        *low = *high = 0;
        return;
    }
    more = (count - 1) * type->extent;
    *low = type->true_lb + MPL_MIN(more, 0);
    *high = type->true_ub + MPL_MAX(more, 0);
}

static int has_target_type(const MPIDI_op_t * op)
{
    return op->kind != MPIDI_OP_FETCH_AND_OP && op->kind != MPIDI_OP_COMPARE_AND_SWAP;
}

/* An ordinary window would let it write anywhere in its target; here that would be other users'. */
static int is_inside(const MPIDI_op_t * op, const csp_target_t * target)
{
    MPI_Datatype datatype = has_target_type(op) ? op->target_datatype : op->datatype;
    MPI_Aint count = has_target_type(op) ? op->target_count : 1;
    MPI_Aint begin, low, high;

    if (count == 0)
        return 1;
    extent_of(datatype, count, &low, &high);
    return low >= high || (!__builtin_mul_overflow(op->target_disp, target->disp_unit, &begin) &&
                           !__builtin_add_overflow(begin, low, &low) && low >= 0 &&
                           !__builtin_add_overflow(begin, high, &high) && high <= target->size);
}

/* ---- the operation ---- */

int csp_rma(const MPIDI_op_t * op, MPIR_Request ** req)
{
    MPIR_Win *win = op->win;
    const csp_target_t *target = &MPIDI_WIN(win, threads).casper->target[op->rank];
    MPIDI_op_t inner = *op;
    int mpi_errno = MPI_SUCCESS;

    MPIDIG_RMA_OP_CHECK_SYNC(op->rank, win);
    MPIR_ERR_CHKANDJUMP(!is_inside(op, target), mpi_errno, MPI_ERR_RMA_RANGE, "**rmarange");
    inner.win = csp_inner;
    inner.rank = target->ghost;
    inner.target_disp = (MPI_Aint) target->base + op->target_disp * target->disp_unit;
    mpi_errno = MPIDI_issue(MPIDI_WIN(csp_inner, am_vci), &inner, req);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}
