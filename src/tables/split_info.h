/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef SPLIT_INFO_H_INCLUDED
#define SPLIT_INFO_H_INCLUDED

/* For comm_split_type.c, in place of its function: the value is a copy, since other threads may change
 * info meanwhile. NULL if info has no such key. */
#include <alloca.h>
#include "binding_calls_not.h"

static const char *info_copy_value(MPIR_Info * info, const char *key, char *value)
{
    int flag;

    MPIR_Info_get_impl(info, key, MPI_MAX_INFO_VAL, value, &flag);
    return flag ? value : NULL;
}

/* The caller uses the value behind the block with the call, so until it returns. */
#define info_get_key(info_, key_) info_copy_value(info_, key_, alloca(MPI_MAX_INFO_VAL + 1))

#endif /* SPLIT_INFO_H_INCLUDED */
