/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef DYNERR_LOCKED_H_INCLUDED
#define DYNERR_LOCKED_H_INCLUDED

/* For dynerrutil.c: the tables of the program's error classes, codes and strings (table_lock.h). */
#include "dynerr_copy.h"
#include "table_lock.h"

static MPL_initlock_t dynerr_lock = MPL_INITLOCK_INITIALIZER;

static int add_error_string(int code, const char *text);
static int delete_error_string(int code);
static int add_error_class(int *error_class);
static int delete_error_class(int error_class);
static int add_error_code(int error_class, int *code);
static int delete_error_code(int code);
static const char *get_dynerr_string(int code);

int MPIR_Add_error_string_impl(int code, const char *text)
TABLE_LOCKED(dynerr_lock, add_error_string(code, text))

int MPIR_Delete_error_string_impl(int code)
TABLE_LOCKED(dynerr_lock, delete_error_string(code))

int MPIR_Add_error_class_impl(int *error_class)
TABLE_LOCKED(dynerr_lock, add_error_class(error_class))

int MPIR_Delete_error_class_impl(int error_class)
TABLE_LOCKED(dynerr_lock, delete_error_class(error_class))

int MPIR_Add_error_code_impl(int error_class, int *code)
TABLE_LOCKED(dynerr_lock, add_error_code(error_class, code))

int MPIR_Delete_error_code_impl(int code)
TABLE_LOCKED(dynerr_lock, delete_error_code(code))

const char *MPIR_Dynerr_copy_string(int code, char *copy)
{
    const char *text;

    MPL_initlock_lock(&dynerr_lock);
    text = get_dynerr_string(code);
    if (text) {
        MPL_strncpy(copy, text, MPI_MAX_ERROR_STRING);
        text = copy;
    }
    MPL_initlock_unlock(&dynerr_lock);
    return text;
}

#define MPIR_Add_error_string_impl add_error_string
#define MPIR_Delete_error_string_impl delete_error_string
#define MPIR_Add_error_class_impl add_error_class
#define MPIR_Delete_error_class_impl delete_error_class
#define MPIR_Add_error_code_impl add_error_code
#define MPIR_Delete_error_code_impl delete_error_code

#endif /* DYNERR_LOCKED_H_INCLUDED */
