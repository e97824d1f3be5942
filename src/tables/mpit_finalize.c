/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpiimpl.h"

/* In place of MPICH's, which frees the tables of variables, and the control variables that are strings:
 * the library may use these after the last MPI_T_finalize, MPI_Init may come after it, and
 * MPIR_T_env_init does not make them a second time. They stay until the process exits, and so does what
 * a tool has written. (A build with --enable-g=mem lists them as not freed.) */
void MPIR_T_event_handles_drop(void);

void MPIR_T_env_finalize(void)
{
    if (!MPIR_T_is_initialized())       /* by another tool, meanwhile */
        MPIR_T_event_handles_drop();
}
