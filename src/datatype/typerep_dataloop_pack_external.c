/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

#include "mpiimpl.h"
#include "dataloop.h"
#include "typerep_ext32_parts.h"
#include <wchar.h>

/* The data of types without a struct of different types are converted by the segment functions, all
 * other types in the order of their type map, down to parts that these functions can convert. */

typedef struct {
    char *packed;               /* the next byte of the packed data */
    bool is_unpack;
} ext32_stream;

/* A dimension of a subarray or a darray: runs of `run` items begin at first, first + step ... */
typedef struct {
    MPI_Aint first, run, step, end;
    MPI_Aint size;              /* of the whole array */
    MPI_Aint bytes;             /* from one index to the next */
} ext32_dim;

static int convert(ext32_stream * s, char *buf, MPI_Aint count, MPI_Datatype type);

static int convert_plain(ext32_stream * s, const void *buf, MPI_Aint count, MPI_Datatype type)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint bytes = MPIR_SEGMENT_IGNORE_LAST;

    MPIR_Segment *segment = MPIR_Segment_alloc(buf, count, type);
    MPIR_ERR_CHKANDJUMP1(!segment, mpi_errno, MPI_ERR_OTHER, "**nomem", "**nomem %s", "MPIR_Segment");
    if (s->is_unpack)
        MPIR_Segment_unpack_external32(segment, 0, &bytes, s->packed);
    else
        MPIR_Segment_pack_external32(segment, 0, &bytes, s->packed);
    s->packed += bytes;
    MPIR_Segment_free(segment);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Two bytes in external32, whatever a wchar_t has: the segment functions cannot do that. */
static void convert_wchars(ext32_stream * s, char *buf, MPI_Aint count)
{
    for (MPI_Aint i = 0; i < count; i++) {
        unsigned char *two = (unsigned char *) s->packed;
        char *place = buf + i * (MPI_Aint) sizeof(wchar_t);
        wchar_t c;
        if (s->is_unpack) {
            c = (wchar_t) (two[0] << 8 | two[1]);
            MPIR_Memcpy(place, &c, sizeof(c));
        } else {
            MPIR_Memcpy(&c, place, sizeof(c));
            two[0] = (unsigned char) ((unsigned long) c >> 8);
            two[1] = (unsigned char) c;
        }
        s->packed += 2;
    }
}

static int convert_pairs(ext32_stream * s, char *buf, MPI_Aint count, const ext32_pair * pair)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint extent;

    MPIR_Datatype_get_extent_macro(pair->whole, extent);
    for (MPI_Aint i = 0; i < count; i++, buf += extent) {
        mpi_errno = convert_plain(s, buf, 1, pair->first);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = convert_plain(s, buf + pair->second_at, 1, pair->second);
        MPIR_ERR_CHECK(mpi_errno);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The predefined types that are not plain. */
static int convert_predefined(ext32_stream * s, char *buf, MPI_Aint count, MPI_Datatype type)
{
    const ext32_pair *pair = ext32_find_pair(type);

    if (pair)
        return convert_pairs(s, buf, count, pair);
    if (type != MPI_WCHAR)
        return convert_plain(s, buf, 2 * count, ext32_twin(type));
    convert_wchars(s, buf, count);
    return MPI_SUCCESS;
}

static int convert_blocks(ext32_stream * s, char *buf, const ext32_contents * c)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint n = ext32_blocks(c);

    for (MPI_Aint i = 0; i < n; i++) {
        mpi_errno = convert(s, buf + ext32_block_at(c, i), ext32_block_length(c, i),
                            ext32_block_type(c, i));
        MPIR_ERR_CHECK(mpi_errno);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* dims: the slowest first */
static int convert_dims(ext32_stream * s, char *buf, const ext32_dim * dims, int n, MPI_Datatype old)
{
    int mpi_errno = MPI_SUCCESS;

    for (MPI_Aint at = dims->first; at < dims->end; at += dims->step) {
        MPI_Aint run = MPL_MIN(dims->run, dims->end - at);
        if (n == 1) {
            mpi_errno = convert(s, buf + at * dims->bytes, run, old);
            MPIR_ERR_CHECK(mpi_errno);
        } else {
            for (MPI_Aint i = at; i < at + run; i++) {
                mpi_errno = convert_dims(s, buf + i * dims->bytes, dims + 1, n - 1, old);
                MPIR_ERR_CHECK(mpi_errno);
            }
        }
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

static void set_strides(ext32_dim * dims, int n, MPI_Aint unit)
{
    for (int i = n - 1; i >= 0; i--) {
        dims[i].bytes = unit;
        unit *= dims[i].size;
    }
}

static void subarray_dims(const ext32_contents * c, ext32_dim * dims, int n)
{
    const int order = c->is_large ? c->ints[1] : c->ints[1 + 3 * n];
    const int before = c->is_large ? 0 : 1;     /* the lists are sizes, subsizes and starts */

    for (int i = 0; i < n; i++) {
        ext32_dim *d = &dims[order == MPI_ORDER_FORTRAN ? n - 1 - i : i];
        d->size = ext32_number(c, before + i);
        d->run = d->step = ext32_number(c, before + n + i);
        d->first = ext32_number(c, before + 2 * n + i);
        d->end = d->first + d->run;
    }
}

/* One dimension of a darray, over procs processes of which this is the one at `coord`. */
static void distribute(ext32_dim * d, int kind, int darg, int procs, int coord)
{
    d->run = d->size;
    if (kind == MPI_DISTRIBUTE_NONE)
        procs = 1;
    else if (darg != MPI_DISTRIBUTE_DFLT_DARG)
        d->run = darg;
    else
        d->run = kind == MPI_DISTRIBUTE_CYCLIC ? 1 : (d->size + procs - 1) / procs;
    d->step = procs * d->run;
    d->first = procs > 1 ? coord * d->run : 0;
    d->end = d->size;
}

static void darray_dims(const ext32_contents * c, ext32_dim * dims, int n)
{
    const int *kinds = c->ints + 3 + (c->is_large ? 0 : n), *dargs = kinds + n, *procs = dargs + n;
    const int order = procs[n];
    int all = c->ints[0], rank = c->ints[1];

    for (int i = 0; i < n; i++) {
        ext32_dim *d = &dims[order == MPI_ORDER_FORTRAN ? n - 1 - i : i];
        /* processes are in row-major order, whatever the order of the array */
        all /= procs[i];
        d->size = ext32_number(c, (c->is_large ? 0 : 3) + i);
        distribute(d, kinds[i], dargs[i], procs[i], rank / all);
        rank %= all;
    }
}

static int convert_array(ext32_stream * s, char *buf, const ext32_contents * c)
{
    int mpi_errno = MPI_SUCCESS;
    const bool is_subarray = c->combiner == MPI_COMBINER_SUBARRAY;
    const int n = c->ints[is_subarray ? 0 : 2];

    ext32_dim *dims = MPL_malloc(n * sizeof(*dims), MPL_MEM_DATATYPE);
    MPIR_ERR_CHKANDJUMP1(!dims, mpi_errno, MPI_ERR_OTHER, "**nomem", "**nomem %s", "dimensions");
    if (is_subarray)
        subarray_dims(c, dims, n);
    else
        darray_dims(c, dims, n);
    set_strides(dims, n, c->unit);
    mpi_errno = convert_dims(s, buf, dims, n, c->types[0]);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    MPL_free(dims);
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

static int convert_derived(ext32_stream * s, char *buf, MPI_Aint count, MPI_Datatype type)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint extent;
    ext32_contents c;

    ext32_open(type, &c);
    MPIR_Datatype_get_extent_macro(type, extent);
    for (MPI_Aint i = 0; i < count; i++, buf += extent) {
        if (c.combiner == MPI_COMBINER_SUBARRAY || c.combiner == MPI_COMBINER_DARRAY)
            mpi_errno = convert_array(s, buf, &c);
        else
            mpi_errno = convert_blocks(s, buf, &c);
        MPIR_ERR_CHECK(mpi_errno);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* Types without data, as MPI_UB, have nothing to convert, and perhaps no dataloop. */
static int convert(ext32_stream * s, char *buf, MPI_Aint count, MPI_Datatype type)
{
    MPI_Aint size;

    type = ext32_item(type);
    MPIR_Datatype_get_size_macro(type, size);
    if (size == 0 || count == 0)
        return MPI_SUCCESS;
    if (ext32_is_plain(type))
        return convert_plain(s, buf, count, type);
    if (MPIR_DATATYPE_IS_PREDEFINED(type))
        return convert_predefined(s, buf, count, type);
    return convert_derived(s, buf, count, type);
}

int MPIR_Typerep_pack_external(const void *inbuf, MPI_Aint incount, MPI_Datatype datatype,
                               void *outbuf, MPI_Aint * actual_pack_bytes)
{
    ext32_stream s = {.packed = outbuf,.is_unpack = false };
    int mpi_errno = convert(&s, (char *) inbuf, incount, datatype);

    *actual_pack_bytes = s.packed - (char *) outbuf;
    return mpi_errno;
}

int MPIR_Typerep_unpack_external(const void *inbuf, void *outbuf, MPI_Aint outcount,
                                 MPI_Datatype datatype, MPI_Aint * actual_unpack_bytes)
{
    ext32_stream s = {.packed = (char *) inbuf,.is_unpack = true };
    int mpi_errno = convert(&s, outbuf, outcount, datatype);

    *actual_unpack_bytes = s.packed - (const char *) inbuf;
    return mpi_errno;
}
