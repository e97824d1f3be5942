/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_TYPES_H_INCLUDED
#define ROMIO_TYPES_H_INCLUDED

/* ROMIO walks the datatypes of views and buffers by MPI_Type_get_envelope and MPI_Type_get_contents,
 * which refuse those made with large counts (MPI_Type_vector_c). It gets the contents that such a type
 * would have if it had been made without: first the counts that are ints there, then addresses.
 *
 * A subarray or vector with a count that is no int looks like one of an equivalent type, in which
 * strides are in bytes and blocks are types of their own. The functions of MPI_File_* refuse others
 * with such a count (romio_calls.h), unless they have no gaps, so that ROMIO does not walk them.
 *
 * An indexed type of types with gaps looks like a struct: ROMIO loses blocks behind the bounds of a
 * resized type. Empty blocks, or those of a type without data, are left out: ROMIO takes them for one
 * item, and writes without end.
 *
 * A pair with a gap, such as MPI_DOUBLE_INT, looks like a struct: ROMIO takes named types to have no
 * gaps. It frees what it gets, pairs too.
 *
 * For glue_romio.c; declared in romio_let_in.h. */

int MPIR_Ext_type_envelope(MPI_Datatype type, int *nints, int *nadds, int *ntypes, int *combiner);
int MPIR_Ext_type_contents(MPI_Datatype type, int max_ints, int max_adds, int max_types, int *ints,
                           MPI_Aint * adds, MPI_Datatype * types);
int MPIR_Ext_type_fits(MPI_Datatype type);
int MPIR_Ext_type_free(MPI_Datatype * type);

#define INT_BEHIND(first_) offsetof(struct { first_ a; int b; }, b)

/* The type of the first part, and where the int is; 0 if type is not a pair with a gap. */
static MPI_Aint int_of_pair(MPI_Datatype type, MPI_Datatype * first)
{
    switch (type) {
        case MPI_SHORT_INT:
            *first = MPI_SHORT;
            return INT_BEHIND(short);
        case MPI_LONG_INT:
            *first = MPI_LONG;
            return INT_BEHIND(long);
        case MPI_DOUBLE_INT:
            *first = MPI_DOUBLE;
            return INT_BEHIND(double);
        case MPI_LONG_DOUBLE_INT:
            *first = MPI_LONG_DOUBLE;
            return INT_BEHIND(long double);
        default:
            return 0;
    }
}

/* The counts of a type that come first and are ints in the other form. */
static MPI_Aint int_counts(const MPIR_Datatype_contents * c)
{
    switch (c->combiner) {
        case MPI_COMBINER_HVECTOR:
        case MPI_COMBINER_HINDEXED_BLOCK:
            return MPL_MIN(2, c->nr_counts);
        case MPI_COMBINER_HINDEXED:
        case MPI_COMBINER_STRUCT:
            return (c->nr_counts + 1) / 2;
        case MPI_COMBINER_RESIZED:
            return 0;
        default:
            return c->nr_counts;
    }
}

/* The ints of a type made with large counts that come before its counts in the other form. */
static int ints_before(const MPIR_Datatype_contents * c)
{
    switch (c->combiner) {
        case MPI_COMBINER_SUBARRAY:
            return 1;   /* the number of dimensions; the order comes last */
        case MPI_COMBINER_DARRAY:
            return 3;   /* size, rank and the number of dimensions */
        default:
            return 0;
    }
}

/* 1 for an indexed type of a type that ROMIO walks. */
static int is_struct(MPIR_Datatype_contents * c)
{
    MPI_Aint *adds, *counts, true_lb, true_extent;
    MPI_Datatype *types;
    int *ints, is_contig;

    if (c->combiner != MPI_COMBINER_INDEXED && c->combiner != MPI_COMBINER_HINDEXED)
        return 0;
    MPIR_Datatype_access_contents(c, &ints, &adds, &counts, &types);
    MPIR_Datatype_is_contig(types[0], &is_contig);
    PMPI_Type_get_true_extent(types[0], &true_lb, &true_extent);
    return !is_contig || true_lb != 0;
}

static MPIR_Datatype_contents *contents_of(MPI_Datatype type)
{
    MPIR_Datatype *dt;

    if (MPIR_DATATYPE_IS_PREDEFINED(type))
        return NULL;
    MPIR_Datatype_get_ptr(type, dt);
    return dt->contents;
}

static int counts_fit(MPIR_Datatype_contents * c)
{
    MPI_Aint *adds, *counts;
    MPI_Datatype *types;
    int *ints, fit;

    MPIR_Datatype_access_contents(c, &ints, &adds, &counts, &types);
    fit = c->nr_ints + c->nr_counts <= INT_MAX;
    for (MPI_Aint i = 0; fit && i < int_counts(c); i++)
        fit = counts[i] >= INT_MIN && counts[i] <= INT_MAX;
    return fit;
}

static void wrap(MPI_Datatype * type, MPI_Count count, MPI_Count stride)
{
    MPI_Datatype inner = *type;

    PMPI_Type_create_hvector_c(count, 1, stride, inner, type);
    PMPI_Type_free(&inner);
}

static MPI_Datatype as_subarray(int dims, int order, const MPI_Aint * counts, MPI_Datatype old)
{
    const MPI_Aint *sizes = counts, *parts = counts + dims, *starts = counts + 2 * dims;
    MPI_Count lb, stride, at = 0;
    MPI_Datatype type, placed;

    PMPI_Type_get_extent_c(old, &lb, &stride);
    for (int i = 0; i < dims; i++) {
        const int d = order == MPI_ORDER_C ? dims - 1 - i : i;
        if (i == 0)
            PMPI_Type_contiguous_c(parts[d], old, &type);
        else
            wrap(&type, parts[d], stride);
        at += starts[d] * stride;
        stride *= sizes[d];
    }
    PMPI_Type_create_hindexed_block_c(1, 1, &at, type, &placed);
    PMPI_Type_free(&type);
    PMPI_Type_create_resized_c(placed, 0, stride, &type);
    PMPI_Type_free(&placed);
    return type;
}

/* Returns a new type if the counts do not fit and another type may take the place of this one. */
static MPI_Datatype equivalent(MPIR_Datatype_contents * c)
{
    MPI_Aint *adds, *counts;
    MPI_Datatype *types, type = MPI_DATATYPE_NULL;
    MPI_Count lb, extent = 1;
    int *ints;

    if (counts_fit(c))
        return MPI_DATATYPE_NULL;
    MPIR_Datatype_access_contents(c, &ints, &adds, &counts, &types);
    if (c->combiner == MPI_COMBINER_SUBARRAY)
        return as_subarray(ints[0], ints[1], counts, types[0]);
    if (c->combiner == MPI_COMBINER_VECTOR)
        PMPI_Type_get_extent_c(types[0], &lb, &extent);
    if (c->combiner == MPI_COMBINER_VECTOR || c->combiner == MPI_COMBINER_HVECTOR) {
        PMPI_Type_contiguous_c(counts[1], types[0], &type);
        wrap(&type, counts[0], counts[2] * extent);
    }
    return type;
}

static int has_equivalent(MPIR_Datatype_contents * c)
{
    const int kind = c->combiner;

    return (kind == MPI_COMBINER_SUBARRAY || kind == MPI_COMBINER_VECTOR ||
            kind == MPI_COMBINER_HVECTOR) && !counts_fit(c);
}

int MPIR_Ext_type_envelope(MPI_Datatype type, int *nints, int *nadds, int *ntypes, int *combiner)
{
    MPIR_Datatype_contents *c = contents_of(type);
    MPI_Datatype first;

    if (int_of_pair(type, &first)) {
        *nints = 3;
        *nadds = *ntypes = 2;
        *combiner = MPI_COMBINER_STRUCT;
        return MPI_SUCCESS;
    }
    if (c && has_equivalent(c)) {
        *nints = *ntypes = 1;
        *nadds = 0;
        *combiner = MPI_COMBINER_CONTIGUOUS;
        return MPI_SUCCESS;
    }
    if (c && is_struct(c)) {
        *nadds = *ntypes = (int) ((c->nr_ints + c->nr_counts + c->nr_aints - 1) / 2);
        *nints = *ntypes + 1;
        *combiner = MPI_COMBINER_STRUCT;
        return MPI_SUCCESS;
    }
    *combiner = c ? c->combiner : MPI_COMBINER_NAMED;
    *nints = c ? (int) (c->nr_ints + int_counts(c)) : 0;
    *nadds = c ? (int) (c->nr_aints + c->nr_counts - int_counts(c)) : 0;
    *ntypes = c ? (int) c->nr_types : 0;
    return MPI_SUCCESS;
}

static void give_type(MPI_Datatype type, MPI_Datatype * given)
{
    MPIR_Datatype *dt;

    *given = type;
    if (HANDLE_IS_BUILTIN(type))
        return;
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPIR_Datatype_get_ptr(type, dt);
    MPIR_Type_add_handle(dt);
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
}

/* The contents in the form without large counts: an int, an address. */
static int int_at(const MPIR_Datatype_contents * c, const int *ints, const MPI_Aint * counts,
                  MPI_Aint i)
{
    const MPI_Aint n = int_counts(c);
    const int before = n ? ints_before(c) : 0;

    return i < before ? ints[i] : i < before + n ? (int) counts[i - before] : ints[i - n];
}

static MPI_Aint add_at(const MPIR_Datatype_contents * c, const MPI_Aint * adds,
                       const MPI_Aint * counts, MPI_Aint i)
{
    return i < c->nr_aints ? adds[i] : counts[int_counts(c) + i - c->nr_aints];
}

static int is_empty(int length, MPI_Datatype type)
{
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(type, size);
    return length == 0 || size == 0;
}

/* The types of empty blocks go last, as ROMIO frees all. If all blocks are empty, nothing changes. */
static void leave_out_empty(int combiner, int *ints, MPI_Aint * adds, MPI_Datatype * types)
{
    const int all = ints[0], has_types = combiner == MPI_COMBINER_STRUCT;
    int *displs = combiner == MPI_COMBINER_INDEXED ? ints + 1 + all : NULL;
    int kept = 0;

    for (int i = 0; i < all; i++) {
        if (is_empty(ints[1 + i], types[has_types ? i : 0]))
            continue;
        ints[1 + kept] = ints[1 + i];
        if (displs)
            displs[kept] = displs[i];
        else
            adds[kept] = adds[i];
        if (has_types && kept < i) {
            MPI_Datatype type = types[i];
            types[i] = types[kept];
            types[kept] = type;
        }
        kept++;
    }
    if (kept == 0)
        return;
    if (displs)
        memmove(ints + 1 + kept, displs, (size_t) kept * sizeof(int));
    ints[0] = kept;
}

/* ROMIO's arrays have the lengths that the function before has returned. */
int MPIR_Ext_type_contents(MPI_Datatype type, int max_ints, int max_adds, int max_types, int *ints,
                           MPI_Aint * adds, MPI_Datatype * types)
{
    MPIR_Datatype_contents *c = contents_of(type);
    MPI_Aint *own_adds, *counts, lb, extent = 0;
    MPI_Datatype *own_types;
    int *own_ints, combiner, in_items;

    if (int_of_pair(type, &types[0])) {
        adds[1] = int_of_pair(type, &types[0]);
        adds[0] = 0;
        types[1] = MPI_INT;
        ints[0] = 2;
        ints[1] = ints[2] = 1;
        return MPI_SUCCESS;
    }
    MPIR_Assert(c && MPIR_Ext_type_fits(type));
    if (has_equivalent(c)) {
        ints[0] = 1;
        types[0] = equivalent(c);
        return MPI_SUCCESS;
    }
    MPIR_Datatype_access_contents(c, &own_ints, &own_adds, &counts, &own_types);
    combiner = is_struct(c) ? MPI_COMBINER_STRUCT : c->combiner;
    in_items = combiner != c->combiner && c->combiner == MPI_COMBINER_INDEXED;
    if (in_items)
        PMPI_Type_get_extent(own_types[0], &lb, &extent);
    for (int i = 0; i < max_ints; i++)
        ints[i] = int_at(c, own_ints, counts, i);
    for (int i = 0; i < max_adds; i++)
        adds[i] = in_items ? extent * int_at(c, own_ints, counts, max_ints + i) :
            add_at(c, own_adds, counts, i);
    for (int i = 0; i < max_types; i++)
        give_type(own_types[combiner == c->combiner ? i : 0], &types[i]);
    if (combiner == MPI_COMBINER_INDEXED || combiner == MPI_COMBINER_HINDEXED ||
        combiner == MPI_COMBINER_STRUCT)
        leave_out_empty(combiner, ints, adds, types);
    return MPI_SUCCESS;
}

/* A type that ADIOI_Datatype_iscontig finds contiguous is not walked. */
int MPIR_Ext_type_fits(MPI_Datatype type)
{
    MPIR_Datatype_contents *c = contents_of(type);
    MPI_Aint *adds, *counts;
    MPI_Datatype *types, other;
    MPIR_Datatype *dt;
    int *ints, fits = 1;

    if (!c)
        return 1;
    MPIR_Datatype_get_ptr(type, dt);
    if (dt->is_contig && dt->true_lb == 0)
        return 1;
    if (!counts_fit(c)) {
        other = equivalent(c);
        fits = other != MPI_DATATYPE_NULL && !has_equivalent(contents_of(other)) &&
            MPIR_Ext_type_fits(other);
        if (other != MPI_DATATYPE_NULL)
            PMPI_Type_free(&other);
        return fits;
    }
    MPIR_Datatype_access_contents(c, &ints, &adds, &counts, &types);
    for (MPI_Aint i = 0; fits && i < c->nr_types; i++)
        fits = MPIR_Ext_type_fits(types[i]);
    return fits;
}

int MPIR_Ext_type_free(MPI_Datatype * type)
{
    if (!MPIR_DATATYPE_IS_PREDEFINED(*type))
        return PMPI_Type_free(type);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

#endif /* ROMIO_TYPES_H_INCLUDED */
