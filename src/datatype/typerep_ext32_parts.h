/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

#ifndef TYPEREP_EXT32_PARTS_H_INCLUDED
#define TYPEREP_EXT32_PARTS_H_INCLUDED

/* What datatypes consist of, for external32. A dataloop knows the element type of its data, except
 * where a struct has entries of different types: that is flattened to bytes, which need no conversion.
 * Such types are converted by what they were made of. */

#include "mpiimpl.h"
#include <stddef.h>

typedef struct {
    MPI_Datatype whole, first, second;
    MPI_Aint second_at;
} ext32_pair;

typedef struct {
    int combiner;
    bool is_large;              /* made by a function with large counts */
    const int *ints;
    const MPI_Aint *aints, *counts;
    const MPI_Datatype *types;
    MPI_Aint unit;              /* extent of types[0] */
} ext32_contents;

struct ext32_float_int {
    float a;
    int b;
};
struct ext32_double_int {
    double a;
    int b;
};
struct ext32_long_int {
    long a;
    int b;
};
struct ext32_short_int {
    short a;
    int b;
};
struct ext32_long_double_int {
    long double a;
    int b;
};

#define EXT32_PAIR(whole_, first_, struct_) { whole_, first_, MPI_INT, offsetof(struct struct_, b) }

/* NULL if it is none. */
static inline const ext32_pair *ext32_find_pair(MPI_Datatype type)
{
    static const ext32_pair pairs[] = {
        EXT32_PAIR(MPI_FLOAT_INT, MPI_FLOAT, ext32_float_int),
        EXT32_PAIR(MPI_DOUBLE_INT, MPI_DOUBLE, ext32_double_int),
        EXT32_PAIR(MPI_LONG_INT, MPI_LONG, ext32_long_int),
        EXT32_PAIR(MPI_SHORT_INT, MPI_SHORT, ext32_short_int),
        EXT32_PAIR(MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, ext32_long_double_int)
    };
    for (int i = 0; i < (int) (sizeof(pairs) / sizeof(pairs[0])); i++)
        if (pairs[i].whole == type)
            return &pairs[i];
    return NULL;
}

/* Two members of one type, side by side: the member, else MPI_DATATYPE_NULL. MPICH's table of
 * external32 has none of these pairs, and its function takes these complex types for one number. */
static inline MPI_Datatype ext32_twin(MPI_Datatype type)
{
    if (type == MPI_2INT)
        return MPI_INT;
    if (type == MPI_2INTEGER)
        return MPI_INTEGER;
    if (type == MPI_2REAL || type == MPI_COMPLEX)
        return MPI_REAL;
    if (type == MPI_2DOUBLE_PRECISION || type == MPI_DOUBLE_COMPLEX)
        return MPI_DOUBLE_PRECISION;
    return MPI_DATATYPE_NULL;
}

static inline void ext32_open(MPI_Datatype type, ext32_contents * c)
{
    MPIR_Datatype *ptr;
    int *ints;
    MPI_Aint *aints, *counts;
    MPI_Datatype *types;

    MPIR_Datatype_get_ptr(type, ptr);
    MPIR_Datatype_access_contents(ptr->contents, &ints, &aints, &counts, &types);
    c->combiner = ptr->contents->combiner;
    c->is_large = ptr->contents->nr_counts > 0;
    c->ints = ints;
    c->aints = aints;
    c->counts = counts;
    c->types = types;
    c->unit = 0;
    if (ptr->contents->nr_types > 0)
        MPIR_Datatype_get_extent_macro(types[0], c->unit);
}

/* The predefined type that one of MPI_Type_create_f90_* has one item of; all others as they are. */
static inline MPI_Datatype ext32_item(MPI_Datatype type)
{
    MPIR_Datatype *ptr;

    if (MPIR_DATATYPE_IS_PREDEFINED(type))
        return type;
    MPIR_Datatype_get_ptr(type, ptr);
    switch (ptr->contents->combiner) {
        case MPI_COMBINER_F90_REAL:
        case MPI_COMBINER_F90_COMPLEX:
        case MPI_COMBINER_F90_INTEGER:
            return ptr->basic_type;
        default:
            return type;
    }
}

/* The counts and the displacements that are counts. */
static inline MPI_Aint ext32_number(const ext32_contents * c, MPI_Aint i)
{
    return c->is_large ? c->counts[i] : c->ints[i];
}

/* The displacements in bytes: a list of its own, or behind all counts. */
static inline MPI_Aint ext32_address(const ext32_contents * c, MPI_Aint counts, MPI_Aint i)
{
    return c->is_large ? c->counts[counts + i] : c->aints[i];
}

/* Blocks: of all types but subarray and darray. */
static inline MPI_Aint ext32_blocks(const ext32_contents * c)
{
    switch (c->combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED:
        case MPI_COMBINER_CONTIGUOUS:
            return 1;
        default:
            return ext32_number(c, 0);
    }
}

static inline MPI_Aint ext32_block_length(const ext32_contents * c, MPI_Aint i)
{
    switch (c->combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED:
            return 1;
        case MPI_COMBINER_CONTIGUOUS:
            return ext32_number(c, 0);
        case MPI_COMBINER_VECTOR:
        case MPI_COMBINER_HVECTOR:
        case MPI_COMBINER_INDEXED_BLOCK:
        case MPI_COMBINER_HINDEXED_BLOCK:
            return ext32_number(c, 1);
        case MPI_COMBINER_INDEXED:
        case MPI_COMBINER_HINDEXED:
        case MPI_COMBINER_STRUCT:
            return ext32_number(c, 1 + i);
        default:
            MPIR_Assert(0);
            return 0;
    }
}

/* In bytes. */
static inline MPI_Aint ext32_block_at(const ext32_contents * c, MPI_Aint i)
{
    switch (c->combiner) {
        case MPI_COMBINER_VECTOR:
            return i * ext32_number(c, 2) * c->unit;
        case MPI_COMBINER_HVECTOR:
            return i * ext32_address(c, 2, 0);
        case MPI_COMBINER_INDEXED_BLOCK:
            return ext32_number(c, 2 + i) * c->unit;
        case MPI_COMBINER_HINDEXED_BLOCK:
            return ext32_address(c, 2, i);
        case MPI_COMBINER_INDEXED:
            return ext32_number(c, 1 + ext32_blocks(c) + i) * c->unit;
        case MPI_COMBINER_HINDEXED:
        case MPI_COMBINER_STRUCT:
            return ext32_address(c, 1 + ext32_blocks(c), i);
        default:
            return 0;
    }
}

static inline MPI_Datatype ext32_block_type(const ext32_contents * c, MPI_Aint i)
{
    return c->types[c->combiner == MPI_COMBINER_STRUCT ? i : 0];
}

/* The only type of the data of a struct, MPI_DATATYPE_NULL if there are several. */
static inline MPI_Datatype ext32_only_type(const ext32_contents * c)
{
    MPI_Datatype only = MPI_DATATYPE_NULL;

    for (MPI_Aint i = 0; i < ext32_blocks(c); i++) {
        if (ext32_block_length(c, i) == 0 || c->types[i] == MPI_LB || c->types[i] == MPI_UB)
            continue;
        if (only != MPI_DATATYPE_NULL && c->types[i] != only)
            return MPI_DATATYPE_NULL;
        only = c->types[i];
    }
    return only;
}

/* The dataloop has the element type of the data, and MPICH converts that. */
static inline bool ext32_is_plain(MPI_Datatype type)
{
    while (!MPIR_DATATYPE_IS_PREDEFINED(type)) {
        ext32_contents c;
        ext32_open(type, &c);
        switch (c.combiner) {
            case MPI_COMBINER_F90_REAL:
            case MPI_COMBINER_F90_COMPLEX:
            case MPI_COMBINER_F90_INTEGER:
                type = ext32_item(type);
                break;
            case MPI_COMBINER_DARRAY:  /* has a struct within if the last block is short */
                return false;
            case MPI_COMBINER_STRUCT:
                type = ext32_only_type(&c);
                if (type == MPI_DATATYPE_NULL)
                    return false;
                break;
            default:
                type = c.types[0];
        }
    }
    return type != MPI_WCHAR && ext32_twin(type) == MPI_DATATYPE_NULL && !ext32_find_pair(type);
}

#endif /* TYPEREP_EXT32_PARTS_H_INCLUDED */
