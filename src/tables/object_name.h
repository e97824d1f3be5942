/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OBJECT_NAME_H_INCLUDED
#define OBJECT_NAME_H_INCLUDED

/* Copy the name of a communicator, datatype or window, from or to the program: one thread at a time, so
 * that a thread gets a whole name while another sets one. Both have room for MPI_MAX_OBJECT_NAME. */
int MPIR_Object_name_copy(char *to, const char *from);

/* MPICH copies nothing but such names with this size. The macro of a name does not apply within its own
 * text. */
#define MPL_strncpy(to_, from_, size_) \
    ((size_) == MPI_MAX_OBJECT_NAME ? \
     MPIR_Object_name_copy(to_, from_) : MPL_strncpy(to_, from_, size_))

#endif /* OBJECT_NAME_H_INCLUDED */
