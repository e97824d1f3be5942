/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_CALLS_H_INCLUDED
#define POSIX_CALLS_H_INCLUDED

/* For posix_impl.h, in one line: what the calls of shared memory need of ours. */

#include "../vci_at.h"
#include "inject.h"

/* In place of MPICH's function, which divides. Shared memory has the device's VCIs (posix_init.c). */
#define MPIDI_POSIX_get_vsi(flag_, comm_, src_rank_, dst_rank_, tag_) \
    MPIDI_vci_of(MPIDI_get_vci(flag_, comm_, src_rank_, dst_rank_, tag_))

/* Whether the cells of reductions in shared memory can hold elements of this type: a cell begins at the
 * first element's address, and the chunks of a buffer are as far apart as the elements are long. */
MPL_STATIC_INLINE_PREFIX bool MPIDI_POSIX_fits_cells(MPI_Datatype datatype)
{
    MPI_Aint extent, true_lb, true_extent;

    MPIR_Datatype_get_extent_macro(datatype, extent);
    MPIR_Type_get_true_extent_impl(datatype, &true_lb, &true_extent);
    return true_lb == 0 && true_extent <= extent &&
        extent <= MPIR_CVAR_REDUCE_INTRANODE_BUFFER_TOTAL_SIZE / MPIR_CVAR_REDUCE_INTRANODE_NUM_CELLS;
}

#endif /* POSIX_CALLS_H_INCLUDED */
