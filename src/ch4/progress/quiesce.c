/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
/* Entering a VCI issues what is posted there. */
static void issue_all_posted(void)
{
    for (int vci = 0; vci < MPIDI_global.n_vcis; vci++) {
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(vci).lock);
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
    }
}
#else
#define issue_all_posted() do { } while (0)
#endif

int MPIDI_progress_quiesce(void)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;

    issue_all_posted();
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    if (MPIR_Process.comm_world && MPIR_Process.size > 1)
        mpi_errno = MPIR_Barrier(MPIR_Process.comm_world, &errflag);
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
}
