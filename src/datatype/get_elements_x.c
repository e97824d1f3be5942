/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

/* MPI_Get_elements, in place of MPICH's: the basic elements that some bytes are, in the order of the
 * type map. A struct is walked block by block; all other types are so many of one type, wherever these
 * lie. In MPICH a struct of an int and a float, which have the same size, was a division by 0, a darray
 * of a struct ended the program, and vectors and subarrays of structs counted wrong. */

#include "mpiimpl.h"
#include "typerep/src/typerep_ext32_parts.h"

/* The size of the first part of a pair; 0 for all other types, which are one element each. */
static MPI_Count first_of_pair(MPI_Datatype type)
{
    const ext32_pair *pair = ext32_find_pair(type);

    if (pair)
        return MPIR_Datatype_get_basic_size(pair->first);
    if (type == MPI_2INT || type == MPI_2INTEGER || type == MPI_2REAL || type == MPI_2DOUBLE_PRECISION)
        return MPIR_Datatype_get_basic_size(ext32_twin(type));
    return 0;
}

/* So many of its old type a type is that is not a struct. */
static MPI_Count old_types(MPI_Datatype type, const ext32_contents * c)
{
    MPI_Aint size, old_size;

    MPIR_Datatype_get_size_macro(type, size);
    MPIR_Datatype_get_size_macro(c->types[0], old_size);
    return size / old_size;
}

/* The size of its elements if they are all of one basic type that is no pair; else 0. */
static MPI_Aint size_of_all(MPI_Datatype type)
{
    const MPIR_Datatype *t;

    if (HANDLE_IS_BUILTIN(type))
        return 0;
    MPIR_Datatype_get_ptr(type, t);
    return t->basic_type != MPI_DATATYPE_NULL && t->builtin_element_size > 0 &&
        HANDLE_IS_BUILTIN(t->basic_type) && !first_of_pair(t->basic_type) ? t->builtin_element_size : 0;
}

/* Of one item. */
static MPI_Count elements_of(MPI_Datatype type)
{
    MPI_Count n = 0, each = 0;
    MPI_Aint size;
    ext32_contents c;

    type = ext32_item(type);
    MPIR_Datatype_get_size_macro(type, size);
    if (size == 0)
        return 0;
    if (MPIR_DATATYPE_IS_PREDEFINED(type))
        return first_of_pair(type) ? 2 : 1;
    if (size_of_all(type))
        return size / size_of_all(type);
    ext32_open(type, &c);
    if (c.combiner != MPI_COMBINER_STRUCT)
        return old_types(type, &c) * elements_of(c.types[0]);
    for (MPI_Aint i = 0; i < ext32_blocks(&c); i++) {
        if (i == 0 || c.types[i] != c.types[i - 1])
            each = elements_of(c.types[i]);
        n += ext32_block_length(&c, i) * each;
    }
    return n;
}

static MPI_Count take(MPI_Count * bytes, MPI_Count count, MPI_Datatype type);

/* From fewer bytes than the struct has. */
static MPI_Count take_blocks(MPI_Count * bytes, const ext32_contents * c)
{
    MPI_Count n = 0;
    MPI_Aint size;

    for (MPI_Aint i = 0; i < ext32_blocks(c) && *bytes > 0; i++) {
        MPIR_Datatype_get_size_macro(c->types[i], size);
        const bool is_last = *bytes < size * ext32_block_length(c, i);
        n += take(bytes, ext32_block_length(c, i), c->types[i]);
        if (is_last)
            break;
    }
    return n;
}

/* From fewer bytes than one item has. */
static MPI_Count take_part(MPI_Count * bytes, MPI_Datatype type)
{
    MPI_Count first;
    ext32_contents c;

    if (MPIR_DATATYPE_IS_PREDEFINED(type)) {
        first = first_of_pair(type);
        if (first == 0 || *bytes < first)
            return 0;
        *bytes -= first;
        return 1;
    }
    if (size_of_all(type)) {
        const MPI_Count n = *bytes / size_of_all(type);
        *bytes -= n * size_of_all(type);
        return n;
    }
    ext32_open(type, &c);
    return c.combiner == MPI_COMBINER_STRUCT ? take_blocks(bytes, &c) :
        take(bytes, old_types(type, &c), c.types[0]);
}

/* Returns the elements of at most so many items that *bytes have, and takes these from *bytes. */
static MPI_Count take(MPI_Count * bytes, MPI_Count count, MPI_Datatype type)
{
    MPI_Count whole, n;
    MPI_Aint size;

    type = ext32_item(type);
    MPIR_Datatype_get_size_macro(type, size);
    if (size == 0)
        return 0;
    whole = MPL_MIN(*bytes / size, count);
    *bytes -= whole * size;
    n = whole * elements_of(type);
    if (whole < count)
        n += take_part(bytes, type);
    return n;
}

/* Leaves in *byte_count what is not a whole element. */
int MPIR_Get_elements_x_impl(MPI_Count * byte_count, MPI_Datatype datatype, MPI_Count * elements)
{
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(datatype, size);
    if (size == 0)
        *elements = *byte_count > 0 ? MPI_UNDEFINED : 0;
    else if (HANDLE_IS_BUILTIN(datatype) && *byte_count % size != 0)
        *elements = MPI_UNDEFINED;      /* as MPI_Get_count */
    else
        *elements = take(byte_count, *byte_count, datatype);
    return MPI_SUCCESS;
}
