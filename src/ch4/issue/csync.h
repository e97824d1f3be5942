/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_CSYNC_H_INCLUDED
#define MPIDI_ISSUE_CSYNC_H_INCLUDED

/* Issue by CSync (ICS'19 section 3.3, fig. 3b): the lock of the VCI is a combining lock (DSM-Synch,
 * tsm_dsm_lock.h). A thread that finds it free issues its operation. Any other thread announces its
 * operation, which stays on its stack, and waits; the holder issues it, and the call returns what
 * MPICH's function returned. The holder issues the announced operations after its own, at most
 * MPIR_CVAR_CH4_MAX_COMBINE; then the next thread in the queue gets the lock and goes on.
 *
 * All other sections (progress, probe, one-sided operations) take the same lock, or try it, and serve
 * those that wait when they enter and when they leave (section.c). Differences from the paper: an
 * operation that finds the lock free is not announced; a thread that holds another lock announces
 * nothing and waits for the lock itself, since its operation may need the lock that it holds; the
 * holder also serves when it leaves.
 *
 * Order: a thread waits until its operation is issued, and the queue is FIFO. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../section/section.h"

/* Wait until *op is issued, by the holder of the VCI or here. In csync.c, out of line. */
int MPIDI_csync_announce_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req);

/* The same for inlined callers, with a copy of *op; see MPIDI_op_copy. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_csync_announce(int vci, const MPIDI_op_t * op,
                                                  MPIR_Request ** req)
{
    const MPIDI_op_t copy = MPIDI_op_copy(op);

    return MPIDI_csync_announce_op(vci, &copy, req);
}
#endif

#endif /* MPIDI_ISSUE_CSYNC_H_INCLUDED */
