/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CVAR_CALLS_H_INCLUDED
#define CVAR_CALLS_H_INCLUDED

/* For mpit_impl.c, in place of its functions: MPI_T reads and writes a control variable where the
 * library reads it. For a string that is a pointer, NULL for an empty one. A write of a variable of
 * ours may be refused (src/ch4/settings.h). */

#include "threads/settings.h"

/* Element by element, not a string: other threads may use the variable meanwhile. */
#define CVAR_COPY(type_) \
    do { \
        for (int i = 0; i < count; i++) \
            ((type_ *) to)[i] = ((const type_ *) from)[i]; \
    } while (0)

static int cvar_copy(MPI_Datatype datatype, int count, void *to, const void *from)
{
    if (datatype == MPI_INT)
        CVAR_COPY(int);
    else if (datatype == MPI_UNSIGNED)
        CVAR_COPY(unsigned);
    else if (datatype == MPI_UNSIGNED_LONG)
        CVAR_COPY(unsigned long);
    else if (datatype == MPI_UNSIGNED_LONG_LONG)
        CVAR_COPY(unsigned long long);
    else if (datatype == MPI_DOUBLE)
        CVAR_COPY(double);
    else
        return MPI_T_ERR_INVALID;
    return MPI_SUCCESS;
}

int MPIR_T_cvar_read_impl(MPI_T_cvar_handle handle, void *buf)
{
    MPIT_Assert(handle->addr != NULL);
    if (handle->datatype == MPI_CHAR) {
        const char *string = *(char **) handle->addr;
        MPL_strncpy(buf, string ? string : "", handle->count);
        return MPI_SUCCESS;
    }
    return cvar_copy(handle->datatype, handle->count, buf, handle->addr);
}

int MPIR_T_cvar_write_impl(MPI_T_cvar_handle handle, const void *buf)
{
    int mpi_errno = MPI_SUCCESS;

    MPIT_Assert(handle->addr != NULL);
    mpi_errno = MPIDI_settings_check_write(handle->addr, buf);
    if (mpi_errno)
        return mpi_errno;
    if (handle->datatype == MPI_CHAR) {
        MPIT_Assert(handle->count > strlen(buf));
        *(char **) handle->addr = MPL_strdup(buf);      /* the old value stays: others may read it */
        return MPI_SUCCESS;
    }
    return cvar_copy(handle->datatype, handle->count, handle->addr, buf);
}

#endif /* CVAR_CALLS_H_INCLUDED */
