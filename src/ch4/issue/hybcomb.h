/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_HYBCOMB_H_INCLUDED
#define MPIDI_ISSUE_HYBCOMB_H_INCLUDED

/* Issue by HYBCOMB (thesis section 6.1.3, tsm_hybcomb.h): a thread that finds the VCI free issues its
 * operation. Any other sends its operation, which stays on its stack, to the mailbox of the combiner
 * and waits for the answer; if the combiner has no room it becomes the next combiner: it waits for the
 * one before and for the lock of the VCI, and issues its own operation and those that it is sent, at
 * most MPIR_CVAR_CH4_MAX_COMBINE. The call returns what MPICH's function returned.
 *
 * All other sections take the lock. A thread that holds another lock sends nothing and waits for the
 * lock itself, since its operation may need the lock that it holds; so does a thread beyond the
 * MPIDI_COMBINER_MEMBERS that a VCI has mailboxes for.
 *
 * While threads outnumber processors a thread first yields and tries the lock a number of times.
 *
 * Order: a thread waits until its operation is issued. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../section/section.h"

/* Wait until *op is issued, by a combiner or here. In hybcomb.c, out of line. */
int MPIDI_hybcomb_delegate_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req);

/* The same for inlined callers, with a copy of *op; see MPIDI_op_copy. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int MPIDI_hybcomb_delegate(int vci, const MPIDI_op_t * op,
                                                    MPIR_Request ** req)
{
    const MPIDI_op_t copy = MPIDI_op_copy(op);

    return MPIDI_hybcomb_delegate_op(vci, &copy, req);
}
#endif

#endif /* MPIDI_ISSUE_HYBCOMB_H_INCLUDED */
