/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_OFFLOAD_H_INCLUDED
#define MPIDI_ISSUE_OFFLOAD_H_INCLUDED

/* Issue by offload (ICS'19 fig. 1c): post the operation and return; the server of the VCI, a thread of
 * the library (progress/server.c), issues it. Waits only if the queue refuses the operation
 * (post_queue.h).
 *
 * Issued at once are the operations of a server itself, those of a thread that holds a VCI, which no
 * server could enter meanwhile, and all while no server runs: during MPI_Init and MPI_Finalize. Each
 * enters its VCI and so first issues what is posted there (section.h), which keeps the order. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../served.h"

MPL_STATIC_INLINE_PREFIX int MPIDI_offload_posts(void)
{
    return MPIDI_served_here() && !MPIDI_thread_holds_vci();
}

/* Post *op, which is not read after the return. In offload.c, out of line. */
int MPIDI_offload_post_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req);

/* The same for inlined callers, with a copy of *op; see MPIDI_op_copy. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_offload_post(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    const MPIDI_op_t copy = MPIDI_op_copy(op);

    return MPIDI_offload_post_op(vci, &copy, req);
}
#endif

#endif /* MPIDI_ISSUE_OFFLOAD_H_INCLUDED */
