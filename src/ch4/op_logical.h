/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OP_LOGICAL_H_INCLUDED
#define OP_LOGICAL_H_INCLUDED

/* For opland.c and oplor.c, whose check of the datatype lets floating-point numbers pass that the
 * operation cannot take: it ended the process, with MPI_Accumulate that of the target. As MPI has it,
 * they are an error of the class MPI_ERR_OP. */
#undef MPIR_OP_TYPE_GROUP_FLOATING_POINT
#define MPIR_OP_TYPE_GROUP_FLOATING_POINT
#undef MPIR_OP_TYPE_GROUP_FLOATING_POINT_EXTRA
#define MPIR_OP_TYPE_GROUP_FLOATING_POINT_EXTRA

#endif /* OP_LOGICAL_H_INCLUDED */
