/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_POST_H_INCLUDED
#define MPIDI_ISSUE_POST_H_INCLUDED

/* Posts an operation, or issues it if that cannot be: the queue refuses it (post_queue.h), or the
 * thread's pool has no cell for it (op_pool.h). For the slow paths of lockq.c and offload.c. */

#include "../op_apply.h"
#include "../posted.h"
#include "../section/section.h"
#include "../stats/hooks.h"
#include "tsm/tsm_load.h"

/* Issue op at once. Entering the VCI issues what the thread has posted before. */
static inline int MPIDI_issue_post_nothing(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDI_STATS(MPIDI_stats_issued(MPIDI_STATS_DIRECT, MPIDI_op_stats_kind(op->kind)));
    MPIR_ERR_CHKANDJUMP(MPIDI_op_has_request(op->kind), mpi_errno, MPIX_ERR_NOREQ, "**nomemreq");
    MPIDI_section_enter(&MPIDI_VCI(vci).lock, 0, 0);
    mpi_errno = MPIDI_op_apply_any(op, req);
    MPIDI_section_exit(&MPIDI_VCI(vci).lock);

  fn_fail:
    return mpi_errno;
}

/* Find at the call that the window has no access epoch for the target. */
static inline int MPIDI_issue_check_epoch(const MPIDI_op_t * op)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDIG_RMA_OP_CHECK_SYNC(op->rank, op->win);
  fn_fail:
    return mpi_errno;
}

/* Make *op an item and push it, or issue it; see MPIDI_issue_post. */
static inline int MPIDI_issue_post_or_do(int vci, const MPIDI_op_t * op, MPIR_Request ** req,
                                         int tells)
{
    MPIDI_vci_t *v = &MPIDI_VCI(vci).threads;
    int mpi_errno = MPIDI_op_is_rma(op->kind) ? MPIDI_issue_check_epoch(op) : MPI_SUCCESS;
    MPIDI_posted_t *item;
    int is_pushed;

    if (unlikely(mpi_errno != MPI_SUCCESS))
        return mpi_errno;
    item = MPIDI_posted_make(v, op, req);
    if (unlikely(!item))
        return MPIDI_issue_post_nothing(vci, op, req);
    is_pushed = MPIDI_posted_push(v, item, tells);
    MPIDI_STATS(MPIDI_stats_issued(is_pushed ? MPIDI_STATS_POSTED : MPIDI_STATS_DIRECT,
                                   MPIDI_op_stats_kind(op->kind)));
    if (unlikely(!is_pushed)) {
        MPIDI_section_enter(&MPIDI_VCI(vci).lock, 0, 0);
        MPIDI_posted_issue_one(v, item);
        MPIDI_section_exit(&MPIDI_VCI(vci).lock);
    }
    return MPI_SUCCESS;
}

/* Returns the error code of the post; *req as for MPIDI_issue. tells: as in post_queue.h. */
static inline int MPIDI_issue_post(int vci, const MPIDI_op_t * op, MPIR_Request ** req, int tells)
{
    uint64_t begin = 0;         /* 0: not timed */
    int mpi_errno;

    MPIDI_STATS(if (MPIDI_stats_post_is_timed()) begin = tsm_now_ns());
    mpi_errno = MPIDI_issue_post_or_do(vci, op, req, tells);
    MPIDI_STATS(if (begin) MPIDI_stats_post_took(begin));
    (void) begin;
    return mpi_errno;
}

#endif /* MPIDI_ISSUE_POST_H_INCLUDED */
