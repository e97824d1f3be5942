/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ISSUE_POST_H_INCLUDED
#define MPIDI_ISSUE_POST_H_INCLUDED

/* Posts an operation, or issues it if the queue refuses it (post_queue.h). For the slow paths of
 * lockq.c and offload.c. */

#include "../posted.h"
#include "../section/section.h"

/* Returns the error code of the post; *req as for MPIDI_issue. */
static inline int MPIDI_issue_post(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    MPIDI_vci_t *v = &MPIDI_VCI(vci).threads;
    int refused = 0;
    int mpi_errno = MPIDI_posted_push(v, op, req, &refused);

    if (unlikely(mpi_errno == MPI_SUCCESS && refused)) {
        MPIDI_section_enter(&MPIDI_VCI(vci).lock, 0, 0);
        MPIDI_posted_issue_one(v, *req);
        MPIDI_section_exit(&MPIDI_VCI(vci).lock);
    }
    return mpi_errno;
}

#endif /* MPIDI_ISSUE_POST_H_INCLUDED */
