/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/op_apply.h"

int MPIDI_op_apply_any(const MPIDI_op_t * op, MPIR_Request ** req)
{
    return MPIDI_op_apply(op, req);
}

#endif
