/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_LOCK_H_INCLUDED
#define MPIDI_ISSUE_LOCK_H_INCLUDED

/* Issue by lock (ICS'19 sections 2 and 3.2): MPICH's own functions take the lock of the VCI, or run
 * under the lock of the process, so there is nothing to add. Used by global, per-vci and
 * hmcs-usc. */

__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_issue_lock(const MPIDI_op_t * op, MPIR_Request ** req)
{
    if (op->kind != MPIDI_OP_IMRECV)
        *req = NULL;
    return MPIDI_op_apply(op, req);
}

#endif /* MPIDI_ISSUE_LOCK_H_INCLUDED */
