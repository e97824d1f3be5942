/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_LOCKQ_H_INCLUDED
#define MPIDI_ISSUE_LOCKQ_H_INCLUDED

/* Issue by LockQ (ICS'19 section 3.4, fig. 3c): try the lock; with it, issue what is posted and then
 * the operation; without it, post the operation and return. Whichever thread holds the lock issues
 * posted operations before its own and once more when it leaves.
 *
 * The operation is posted, too, if the bound on combining was met, if another thread is in the middle
 * of a post (an operation of ours may lie behind it, unseen), and if this thread is in the middle of
 * issuing posted operations. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../posted.h"
#include "../section/section.h"

/* 1: the VCI is ours and nothing is posted before us. 0: post. Never waits. */
MPL_STATIC_INLINE_PREFIX int MPIDI_lockq_begin(MPIDI_vci_t * vci, MPIDU_Thread_mutex_t * m)
{
    if (!MPIDI_section_try(m))
        return 0;
    if (unlikely(vci->draining))
        goto fn_post;
    if (unlikely(MPIDI_section_has_posted(vci))) {
        MPIDI_posted_issue(vci, MPIR_CVAR_CH4_MAX_COMBINE);
        if (MPIDI_section_has_posted(vci))
            goto fn_post;
    }
    return 1;

  fn_post:
    MPIDI_section_exit(m);
    return 0;
}

/* Out of line: the operation by value, so that it need not be in memory where it is not posted. */
int MPIDI_lockq_post(int vci, const MPIDI_op_t op, MPIR_Request ** req);

MPL_STATIC_INLINE_PREFIX int MPIDI_issue_lockq(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;
    int mpi_errno;

    if (!MPIR_ThreadInfo.isThreaded)
        return MPIDI_issue_lock(op, req);
    if (unlikely(!MPIDI_lockq_begin(&MPIDI_VCI(vci).threads, m)))
        return MPIDI_lockq_post(vci, *op, req);
    mpi_errno = MPIDI_issue_lock(op, req);
    MPIDI_section_exit(m);
    return mpi_errno;
}

#else
#define MPIDI_issue_lockq(vci_, op_, req_) MPIDI_issue_lock(op_, req_)
#endif

#endif /* MPIDI_ISSUE_LOCKQ_H_INCLUDED */
