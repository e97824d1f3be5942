/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

/*
 * The type from which the dataloop of a distributed array is made, in place of MPICH's: that of 4.0.2
 * places the blocks of a cyclic dimension at the extent of what the process has in the dimensions
 * before, not at that of the whole array there.
 *
 * Dimension by dimension, the fastest first: what this process has of one, as if it began at 0, with
 * the extent of all that the array has there. Where it does begin is added up for all dimensions.
 */

#include "mpiimpl.h"
#include "typerep_internal.h"

/* What a process has of a dimension, in indices: full blocks, each a stride behind the one before, and
 * a last one that is shorter. */
typedef struct {
    MPI_Aint first, block, full, stride, rest;
} part_t;

static MPI_Aint at_least_0(MPI_Aint n)
{
    return n > 0 ? n : 0;
}

/* One block for each process. */
static part_t block_part(MPI_Aint size, MPI_Aint processes, MPI_Aint coordinate, int darg)
{
    MPI_Aint block = darg == MPI_DISTRIBUTE_DFLT_DARG ? (size + processes - 1) / processes : darg;
    MPI_Aint left = at_least_0(size - coordinate * block);

    return (part_t) {.first = coordinate * block,.block = 1,.full = MPL_MIN(block, left),.stride = 1 };
}

/* Blocks are dealt out in turn. */
static part_t cyclic_part(MPI_Aint size, MPI_Aint processes, MPI_Aint coordinate, int darg)
{
    MPI_Aint block = darg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : darg, round = processes * block;
    MPI_Aint left = at_least_0(size - coordinate * block);      /* from its first index on */
    MPI_Aint last = left % round;

    return (part_t) {.first = coordinate * block,.block = block,.full = left / round + (last >= block),
        .stride = round,.rest = last < block ? last : 0
    };
}

static part_t part_of(int distribution, MPI_Aint size, int processes, int coordinate, int darg)
{
    part_t part;

    switch (distribution) {
        case MPI_DISTRIBUTE_CYCLIC:
            part = cyclic_part(size, processes, coordinate, darg);
            break;
        case MPI_DISTRIBUTE_BLOCK:
            part = block_part(size, processes, coordinate, darg);
            break;
        default:
            part = block_part(size, 1, 0, MPI_DISTRIBUTE_DFLT_DARG);
    }
    if (part.full == 0 && part.rest == 0)
        part.first = 0;
    return part;
}

/* Frees a type and puts another one into its place. */
static void replace(MPI_Datatype * type, MPI_Datatype by)
{
    MPIR_Type_free_impl(type);
    *type = by;
}

/* Makes the part of a dimension whose indices are one oldtype, of this extent, each. */
static int type_of_part(const part_t * part, MPI_Aint extent, MPI_Datatype oldtype,
                        MPI_Datatype * newtype)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Datatype both;

    mpi_errno = MPIR_Type_create_hvector_large_impl(part->full, part->block, part->stride * extent,
                                                    oldtype, newtype);
    MPIR_ERR_CHECK(mpi_errno);
    if (part->rest) {
        MPI_Aint lengths[] = { 1, part->rest };
        MPI_Aint places[] = { 0, part->full * part->stride * extent };
        MPI_Datatype types[] = { *newtype, oldtype };

        mpi_errno = MPIR_Type_create_struct_large_impl(2, lengths, places, types, &both);
        if (mpi_errno)
            MPIR_Type_free_impl(newtype);
        MPIR_ERR_CHECK(mpi_errno);
        replace(newtype, both);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Gives a type the lower bound 0 and this extent. */
static int resize(MPI_Datatype * type, MPI_Aint extent)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Datatype resized;

    mpi_errno = MPIR_Type_create_resized_large_impl(*type, 0, extent, &resized);
    if (mpi_errno)
        MPIR_Type_free_impl(type);
    MPIR_ERR_CHECK(mpi_errno);
    replace(type, resized);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The process's place in a dimension; processes are numbered with the last one running fastest. */
static int coordinate(int rank, int dimension, int ndims, const int *psizes)
{
    for (int i = ndims - 1; i > dimension; i--)
        rank /= psizes[i];
    return rank % psizes[dimension];
}

/*
 * Arguments as those of MPI_Type_create_darray, which has checked them. The caller frees the type. Any
 * thread may call it; it takes no lock of its own.
 */
int MPII_Typerep_convert_darray(int size, int rank, int ndims, const MPI_Aint * array_of_gsizes,
                                const int *array_of_distribs, const int *array_of_dargs,
                                const int *array_of_psizes, int order, MPI_Datatype oldtype,
                                MPI_Datatype * newtype)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Datatype type, next;
    MPI_Aint extent, first = 0, one = 1;

    (void) size;
    MPIR_Datatype_get_extent_macro(oldtype, extent);
    mpi_errno = MPIR_Type_contiguous_large_impl(1, oldtype, &type);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < ndims; i++) {
        int dim = order == MPI_ORDER_FORTRAN ? i : ndims - 1 - i;
        part_t part = part_of(array_of_distribs[dim], array_of_gsizes[dim], array_of_psizes[dim],
                              coordinate(rank, dim, ndims, array_of_psizes), array_of_dargs[dim]);

        mpi_errno = type_of_part(&part, extent, type, &next);
        MPIR_Type_free_impl(&type);
        MPIR_ERR_CHECK(mpi_errno);
        type = next;
        first += part.first * extent;
        extent *= array_of_gsizes[dim];
        mpi_errno = resize(&type, extent);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = MPIR_Type_create_hindexed_large_impl(1, &one, &first, type, newtype);
    MPIR_Type_free_impl(&type);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = resize(newtype, extent);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}
