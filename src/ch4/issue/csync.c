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
    MPIDI_announced_t mine = {.op = op,.req = req,.m = m,.mpi_errno = MPI_SUCCESS };

    if (MPIDI_thread_local.held) {
        MPIDI_section_enter(m, 0, 0);
    } else if (!MPIDI_vci_csync_announce(m, MPIDI_announced_issue, &mine)) {
        MPIDI_STATS(MPIDI_stats_issued(MPIDI_STATS_DELEGATED, MPIDI_op_stats_kind(op->kind)));
        return mine.mpi_errno;
    }
    MPIDI_STATS(MPIDI_stats_issued(MPIDI_STATS_DIRECT, MPIDI_op_stats_kind(op->kind)));
    MPIDI_announced_issue(&mine);
    MPIDI_section_exit(m);
    return mine.mpi_errno;
}

#endif
