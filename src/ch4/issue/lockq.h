/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_LOCKQ_H_INCLUDED
#define MPIDI_ISSUE_LOCKQ_H_INCLUDED

/* Issue by LockQ (ICS'19 section 3.4, fig. 3c): try the lock; with it, issue the posted operations and
 * then this one; without it, post the operation and return. The lock holder issues posted operations
 * before its own and once more when it leaves.
 *
 * The operation is also posted if the bound on combining is reached, if another thread is in the
 * middle of a post (which may hide an operation of ours behind it), or if this thread is in the middle
 * of issuing posted operations. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../posted.h"
#include "../section/section.h"
#include "../vci_at.h"

/* 1 if posted operations keep the holder from issuing its own. Slow path. */
int MPIDI_lockq_is_blocked(MPIDI_per_vci_t * vci);

/* 1: the lock of the VCI is ours, and nothing is posted before us; 0: post. Never waits. is_other: as
 * in section.h. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_lockq_enter(MPIDI_per_vci_t * vci, int is_other)
{
    if (!MPIDI_section_try_(&vci->lock, is_other))
        return 0;
    if (unlikely(MPIDI_post_queue_may_have(&vci->threads.posted)) && MPIDI_lockq_is_blocked(vci)) {
        MPIDI_section_exit(&vci->lock);
        return 0;
    }
    return 1;
}

/* Post *op, which is not read after the return. In lockq.c, out of line. */
int MPIDI_lockq_post_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req);

/* The same for inlined callers, with a copy of *op; see MPIDI_op_copy. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_lockq_post(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    const MPIDI_op_t copy = MPIDI_op_copy(op);

    return MPIDI_lockq_post_op(vci, &copy, req);
}
#endif

#endif /* MPIDI_ISSUE_LOCKQ_H_INCLUDED */
