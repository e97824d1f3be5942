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

/* Bytes of one element, or 0. */
static size_t cvar_element(MPI_Datatype datatype)
{
    switch (datatype) {
        case MPI_INT:
            return sizeof(int);
        case MPI_UNSIGNED:
            return sizeof(unsigned);
        case MPI_UNSIGNED_LONG:
            return sizeof(unsigned long);
        case MPI_UNSIGNED_LONG_LONG:
            return sizeof(unsigned long long);
        case MPI_DOUBLE:
            return sizeof(double);
        default:
            return 0;
    }
}

int MPIR_T_cvar_read_impl(MPI_T_cvar_handle handle, void *buf)
{
    const size_t size = cvar_element(handle->datatype);

    MPIT_Assert(handle->addr != NULL);
    if (handle->datatype == MPI_CHAR) {
        const char *string = *(char **) handle->addr;
        MPL_strncpy(buf, string ? string : "", handle->count);
    } else if (size > 0) {
        memcpy(buf, handle->addr, handle->count * size);
    } else {
        return MPI_T_ERR_INVALID;
    }
    return MPI_SUCCESS;
}

int MPIR_T_cvar_write_impl(MPI_T_cvar_handle handle, const void *buf)
{
    const size_t size = cvar_element(handle->datatype);
    int mpi_errno = MPI_SUCCESS;

    MPIT_Assert(handle->addr != NULL);
    mpi_errno = MPIDI_settings_check_write(handle->addr, buf);
    if (mpi_errno)
        return mpi_errno;
    if (handle->datatype == MPI_CHAR) {
        MPIT_Assert(handle->count > strlen(buf));
        *(char **) handle->addr = MPL_strdup(buf);      /* the old value stays: others may read it */
    } else if (size > 0) {
        memcpy(handle->addr, buf, handle->count * size);
    } else {
        return MPI_T_ERR_INVALID;
    }
    return MPI_SUCCESS;
}

#endif /* CVAR_CALLS_H_INCLUDED */
