/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_TYPES_H_INCLUDED
#define ROMIO_TYPES_H_INCLUDED

/* ROMIO walks the datatypes of views and buffers by MPI_Type_get_envelope and MPI_Type_get_contents,
 * which refuse those made with large counts (MPI_Type_vector_c). It gets the contents that such a type
 * would have if it had been made without: first the counts that are ints there, then addresses. The
 * functions of MPI_File_* refuse a type with a count that is no int (romio_calls.h), unless it
 * has no gaps, so that ROMIO does not walk it. For glue_romio.c; declared in romio_let_in.h. */

int MPIR_Ext_type_envelope(MPI_Datatype type, int *nints, int *nadds, int *ntypes, int *combiner);
int MPIR_Ext_type_contents(MPI_Datatype type, int max_ints, int max_adds, int max_types, int *ints,
                           MPI_Aint * adds, MPI_Datatype * types);
int MPIR_Ext_type_fits(MPI_Datatype type);

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

static MPIR_Datatype_contents *contents_of(MPI_Datatype type)
{
    MPIR_Datatype *dt;

    if (MPIR_DATATYPE_IS_PREDEFINED(type))
        return NULL;
    MPIR_Datatype_get_ptr(type, dt);
    return dt->contents;
}

int MPIR_Ext_type_envelope(MPI_Datatype type, int *nints, int *nadds, int *ntypes, int *combiner)
{
    const MPIR_Datatype_contents *c = contents_of(type);

    *combiner = c ? c->combiner : MPI_COMBINER_NAMED;
    *nints = c ? (int) (c->nr_ints + int_counts(c)) : 0;
    *nadds = c ? (int) (c->nr_aints + c->nr_counts - int_counts(c)) : 0;
    *ntypes = c ? (int) c->nr_types : 0;
    return MPI_SUCCESS;
}

static void give_types(int n, const MPI_Datatype * types, MPI_Datatype * given)
{
    MPIR_Datatype *dt;

    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    for (int i = 0; i < n; i++) {
        given[i] = types[i];
        if (!HANDLE_IS_BUILTIN(types[i])) {
            MPIR_Datatype_get_ptr(types[i], dt);
            MPIR_Datatype_ptr_add_ref(dt);
        }
    }
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
}

/* ROMIO's arrays have the lengths that the function before has told. */
int MPIR_Ext_type_contents(MPI_Datatype type, int max_ints, int max_adds, int max_types, int *ints,
                           MPI_Aint * adds, MPI_Datatype * types)
{
    MPIR_Datatype_contents *c = contents_of(type);
    MPI_Aint *own_adds, *counts, n;
    MPI_Datatype *own_types;
    int *own_ints, before;

    MPIR_Assert(c && MPIR_Ext_type_fits(type));
    MPIR_Datatype_access_contents(c, &own_ints, &own_adds, &counts, &own_types);
    n = int_counts(c);
    before = n ? ints_before(c) : 0;
    for (int i = 0; i < max_ints; i++)
        ints[i] = i < before ? own_ints[i] :
            i < before + n ? (int) counts[i - before] : own_ints[i - n];
    for (int i = 0; i < max_adds; i++)
        adds[i] = i < c->nr_aints ? own_adds[i] : counts[n + i - c->nr_aints];
    give_types(max_types, own_types, types);
    return MPI_SUCCESS;
}

/* A type that ADIOI_Datatype_iscontig finds contiguous is not walked. */
int MPIR_Ext_type_fits(MPI_Datatype type)
{
    MPIR_Datatype_contents *c = contents_of(type);
    MPI_Aint *adds, *counts;
    MPI_Datatype *types;
    MPIR_Datatype *dt;
    int *ints, fits = 1;

    if (!c)
        return 1;
    MPIR_Datatype_get_ptr(type, dt);
    if (dt->is_contig && dt->true_lb <= 0)
        return 1;
    MPIR_Datatype_access_contents(c, &ints, &adds, &counts, &types);
    for (MPI_Aint i = 0; fits && i < int_counts(c); i++)
        fits = counts[i] >= INT_MIN && counts[i] <= INT_MAX;
    fits = fits && c->nr_ints + c->nr_counts <= INT_MAX;
    for (MPI_Aint i = 0; fits && i < c->nr_types; i++)
        fits = MPIR_Ext_type_fits(types[i]);
    return fits;
}

#endif /* ROMIO_TYPES_H_INCLUDED */
