/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef DYNERR_COPY_H_INCLUDED
#define DYNERR_COPY_H_INCLUDED

/* Copies the text of an error class or code of the program to copy, which has room for
 * MPI_MAX_ERROR_STRING, since another thread may replace it. Returns copy; NULL without a text. */
const char *MPIR_Dynerr_copy_string(int code, char *copy);

/* For errutil.c, which calls MPIR_Process.errcode_to_string if it is not NULL: the copy lasts until the
 * end of the block with the call. */
#define errcode_to_string(code_) \
    errcode_to_string ? MPIR_Dynerr_copy_string(code_, (char[MPI_MAX_ERROR_STRING]) {""}) : NULL

#endif /* DYNERR_COPY_H_INCLUDED */
