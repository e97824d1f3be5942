/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "adio.h"

/* In place of ROMIO's. */

void MPIR_Datatype_iscontig(MPI_Datatype datatype, int *flag);

/* Data that begins elsewhere than at the address of the item is not contiguous: ROMIO would access it
 * at that address. (MPICH took it for contiguous if it begins before that.) */
void ADIOI_Datatype_iscontig(MPI_Datatype datatype, int *flag)
{
    MPI_Aint true_lb, true_extent;

    MPIR_Datatype_iscontig(datatype, flag);
    if (*flag) {
        MPI_Type_get_true_extent(datatype, &true_lb, &true_extent);
        *flag = true_lb == 0;
    }
}
