/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpiimpl.h"
#include "object_name.h"

static MPL_initlock_t lock = MPL_INITLOCK_INITIALIZER;

void MPIR_Object_name_copy(char *to, const char *from)
{
    MPL_initlock_lock(&lock);
    (MPL_strncpy) (to, from, MPI_MAX_OBJECT_NAME);      /* not the macro */
    MPL_initlock_unlock(&lock);
}
