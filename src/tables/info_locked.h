/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef INFO_LOCKED_H_INCLUDED
#define INFO_LOCKED_H_INCLUDED

/* For info_impl.c: the lists of keys of all info objects (table_lock.h). */
#include "table_lock.h"

static MPL_initlock_t info_lock = MPL_INITLOCK_INITIALIZER;

static int info_delete(MPIR_Info * info, const char *key);
static int info_dup(MPIR_Info * info, MPIR_Info ** copy);
static int info_get(MPIR_Info * info, const char *key, int valuelen, char *value, int *flag);
static int info_get_nkeys(MPIR_Info * info, int *nkeys);
static int info_get_nthkey(MPIR_Info * info, int n, char *key);
static int info_get_string(MPIR_Info * info, const char *key, int *buflen, char *value, int *flag);
static int info_get_valuelen(MPIR_Info * info, const char *key, int *valuelen, int *flag);
static int info_set(MPIR_Info * info, const char *key, const char *value);

int MPIR_Info_delete_impl(MPIR_Info * info, const char *key)
TABLE_LOCKED(info_lock, info_delete(info, key))

int MPIR_Info_dup_impl(MPIR_Info * info, MPIR_Info ** copy)
TABLE_LOCKED(info_lock, info_dup(info, copy))

int MPIR_Info_get_impl(MPIR_Info * info, const char *key, int valuelen, char *value, int *flag)
TABLE_LOCKED(info_lock, info_get(info, key, valuelen, value, flag))

int MPIR_Info_get_nkeys_impl(MPIR_Info * info, int *nkeys)
TABLE_LOCKED(info_lock, info_get_nkeys(info, nkeys))

int MPIR_Info_get_nthkey_impl(MPIR_Info * info, int n, char *key)
TABLE_LOCKED(info_lock, info_get_nthkey(info, n, key))

int MPIR_Info_get_string_impl(MPIR_Info * info, const char *key, int *buflen, char *value, int *flag)
TABLE_LOCKED(info_lock, info_get_string(info, key, buflen, value, flag))

int MPIR_Info_get_valuelen_impl(MPIR_Info * info, const char *key, int *valuelen, int *flag)
TABLE_LOCKED(info_lock, info_get_valuelen(info, key, valuelen, flag))

int MPIR_Info_set_impl(MPIR_Info * info, const char *key, const char *value)
TABLE_LOCKED(info_lock, info_set(info, key, value))

#define MPIR_Info_delete_impl info_delete
#define MPIR_Info_dup_impl info_dup
#define MPIR_Info_get_impl info_get
#define MPIR_Info_get_nkeys_impl info_get_nkeys
#define MPIR_Info_get_nthkey_impl info_get_nthkey
#define MPIR_Info_get_string_impl info_get_string
#define MPIR_Info_get_valuelen_impl info_get_valuelen
#define MPIR_Info_set_impl info_set

#endif /* INFO_LOCKED_H_INCLUDED */
