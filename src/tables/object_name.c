/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpiimpl.h"

int MPIR_Object_name_copy(char *to, const char *from)
{
    LOCK_OWN_SCOPE();

    return (MPL_strncpy) (to, from, MPI_MAX_OBJECT_NAME);       /* not the macro */
}
