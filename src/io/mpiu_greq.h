/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIU_GREQ_H_INCLUDED
#define MPIU_GREQ_H_INCLUDED

/* In place of MPICH's, with the same functions; and for those of MPI_File_* that return a request. */

int MPIU_Greq_query_fn(void *extra_state, MPI_Status * status);
int MPIU_Greq_free_fn(void *extra_state);
int MPIU_Greq_cancel_fn(void *extra_state, int complete);

#if defined(ROMIO_INSIDE_MPICH) && defined(MPIOIMPL_H_INCLUDED)
#include "romio_convert.h"
#endif

#endif /* MPIU_GREQ_H_INCLUDED */
