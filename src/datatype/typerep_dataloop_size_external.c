/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

#include "mpiimpl.h"
#include "dataloop.h"
#include "typerep_ext32_parts.h"

static MPI_Aint size_of(MPI_Datatype type);

static MPI_Aint size_of_predefined(MPI_Datatype type)
{
    const ext32_pair *pair = ext32_find_pair(type);
    MPI_Datatype twin = ext32_twin(type);

    if (pair)
        return size_of(pair->first) + size_of(pair->second);
    if (twin != MPI_DATATYPE_NULL)
        return 2 * size_of(twin);
    return MPIR_Dataloop_size_external32(type);
}

static MPI_Aint size_of_struct(const ext32_contents * c)
{
    MPI_Aint sum = 0;

    for (MPI_Aint i = 0; i < ext32_blocks(c); i++)
        if (ext32_block_length(c, i) > 0)
            sum += ext32_block_length(c, i) * size_of(c->types[i]);
    return sum;
}

static MPI_Aint size_of(MPI_Datatype type)
{
    MPI_Aint size, old_size;
    ext32_contents c;

    type = ext32_item(type);
    MPIR_Datatype_get_size_macro(type, size);
    if (size == 0)
        return 0;
    if (ext32_is_plain(type))
        return MPIR_Dataloop_size_external32(type);
    if (MPIR_DATATYPE_IS_PREDEFINED(type))
        return size_of_predefined(type);
    ext32_open(type, &c);
    if (c.combiner == MPI_COMBINER_STRUCT)
        return size_of_struct(&c);
    /* whatever the layout is, so many of the old type */
    MPIR_Datatype_get_size_macro(c.types[0], old_size);
    return size / old_size * size_of(c.types[0]);
}

int MPIR_Typerep_size_external32(MPI_Datatype type)
{
    return (int) size_of(type);
}
