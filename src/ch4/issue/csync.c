/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/issue/announced.h"
#include "threads/issue/issue.h"

int MPIDI_csync_announce_op(int vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;
    MPIDI_announced_t mine = MPIDI_announced_make(vci, op, req);
    int is_ours = 1;

    if (MPIDI_thread_local.held)
        MPIDI_section_enter(m, 0, 0);
    else
        is_ours = MPIDI_vci_csync_announce(m, MPIDI_announced_issue, &mine);
    MPIDI_STATS(MPIDI_stats_issued(is_ours ? MPIDI_STATS_DIRECT : MPIDI_STATS_DELEGATED,
                                   MPIDI_op_stats_kind(op->kind)));
    if (is_ours) {
        MPIDI_announced_issue(&mine);
        MPIDI_section_exit(m);
    }
    *req = mine.req;
    return mine.mpi_errno;
}

#endif
