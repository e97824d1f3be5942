/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef SPLIT_INFO_H_INCLUDED
#define SPLIT_INFO_H_INCLUDED

/* For comm_split_type.c, in place of its function: the value stays with the thread, since others may
 * change info meanwhile. NULL if info has no such key. */
static const char *info_get_key(MPIR_Info * info, const char *key)
{
    static MPL_TLS char value[MPI_MAX_INFO_VAL + 1];
    int flag;

    MPIR_Info_get_impl(info, key, MPI_MAX_INFO_VAL, value, &flag);
    return flag ? value : NULL;
}

#endif /* SPLIT_INFO_H_INCLUDED */
