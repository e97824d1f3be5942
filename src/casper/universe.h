/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_UNIVERSE_H_INCLUDED
#define CSP_UNIVERSE_H_INCLUDED

#include "threads/singleton.h"

/* For ch4_init.c, through init_calls.h: the size of the universe is that without ghosts. One thread at
 * a time asks the process manager, so that none reads the answer that another one waits for. From here
 * on, MPIR's function is this one. Without mpirun there is no size. */
static int csp_universe_size(int *universe_size)
{
    int size = 0;

    if (MPIDI_is_singleton()) {
        *universe_size = MPIR_UNIVERSE_SIZE_NOT_AVAILABLE;
        return MPI_SUCCESS;
    }
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_PMI_MUTEX);
    int mpi_errno = MPIR_pmi_get_universe_size(&size);
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_PMI_MUTEX);
    if (mpi_errno == MPI_SUCCESS)
        *universe_size = size > csp_ghosts() ? size - csp_ghosts() : size;
    return mpi_errno;
}

#define MPIR_pmi_get_universe_size csp_universe_size

#endif /* CSP_UNIVERSE_H_INCLUDED */
