/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpioimpl.h"

#ifdef HAVE_WEAK_SYMBOLS
/* Include mapping from MPI->PMPI */
#define MPIO_BUILD_PROFILING
#include "mpioprof.h"
#endif

/* In place of MPICH's. A file view of external32 accesses a buffer that has the layout of the
 * program's, with other bytes in its items. MPICH's buffer had no room for the gaps between several
 * items, nor for data before or behind the address of an item, such as with MPI_BOTTOM.
 *
 * The buffer begins with its first data: MPIU_external32_address is what to give to functions that want
 * the address of the first item (romio_external32.h). */

/* romio_external32.h: callers only convert what they could read */
#undef MPIU_read_external32_conversion_fn

int MPIU_external32_item_size(MPI_Datatype datatype, int count, MPI_Aint * size)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    int err;

    err = MPI_Type_get_extent(datatype, &lb, &extent);
    if (err == MPI_SUCCESS)
        err = MPI_Type_get_true_extent(datatype, &true_lb, &true_extent);
    if (err != MPI_SUCCESS)
        return err;
    if (extent < 0)
        extent = -extent;
    *size = count > 1 && extent > true_extent ? extent : true_extent;
    return MPI_SUCCESS;
}

void *MPIU_external32_address(const void *buf, int count, MPI_Datatype datatype)
{
    MPI_Aint lb, extent, low, true_extent;
    int is_contig;

    ADIOI_Datatype_iscontig(datatype, &is_contig);
    if (is_contig)              /* ROMIO accesses as many bytes from buf on */
        return (void *) buf;
    MPI_Type_get_extent(datatype, &lb, &extent);
    MPI_Type_get_true_extent(datatype, &low, &true_extent);
    if (extent < 0)
        low += (count - 1) * extent;
    return (void *) ((uintptr_t) buf - (uintptr_t) low);
}

/* Of all items. What is shorter in external32, as MPI_LONG, is followed by zeros. Longer data, as of
 * MPI_LONG_DOUBLE where it has 12 bytes, has no room in the file. */
static int get_sizes(MPI_Datatype datatype, int count, MPI_Count * size, MPI_Aint * converted)
{
    int err;

    err = MPI_Type_size_x(datatype, size);
    if (err != MPI_SUCCESS)
        return err;
    *size *= count;
    err = MPI_Pack_external_size("external32", count, datatype, converted);
    if (err == MPI_SUCCESS && *converted > *size)
        err = MPIO_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
                                   MPI_ERR_CONVERSION, "**conversion", 0);
    return err;
}

static int pack(const void *userbuf, MPI_Datatype datatype, int count, char *packed, MPI_Count size)
{
    MPI_Aint position = 0;
    int err;

    err = MPIR_Ext_pack_external32(userbuf, count, datatype, packed, size, &position);
    if (err == MPI_SUCCESS)
        memset(packed + position, 0, size - position);
    return err;
}

int MPIU_write_external32_conversion_fn(const void *userbuf, MPI_Datatype datatype, int count,
                                        void *filebuf)
{
    MPI_Count size, position = 0;
    MPI_Aint converted;
    int err, is_contig;
    char *packed;

    err = get_sizes(datatype, count, &size, &converted);
    if (err != MPI_SUCCESS)
        return err;
    ADIOI_Datatype_iscontig(datatype, &is_contig);
    if (is_contig)
        return pack(userbuf, datatype, count, filebuf, size);
    packed = ADIOI_Malloc(size);
    err = pack(userbuf, datatype, count, packed, size);
    if (err == MPI_SUCCESS)
        err = PMPI_Unpack_c(packed, size, &position,
                            MPIU_external32_address(filebuf, count, datatype), count, datatype,
                            MPI_COMM_SELF);
    ADIOI_Free(packed);
    return err;
}

int MPIU_read_external32_conversion_fn(void *userbuf, MPI_Datatype datatype, int count, void *filebuf)
{
    MPI_Count size, position = 0;
    MPI_Aint converted, converted_position = 0;
    int err, is_contig;
    void *packed = filebuf;

    err = get_sizes(datatype, count, &size, &converted);
    if (err != MPI_SUCCESS)
        return err;
    ADIOI_Datatype_iscontig(datatype, &is_contig);
    if (!is_contig) {
        packed = ADIOI_Malloc(size);
        err = PMPI_Pack_c(MPIU_external32_address(filebuf, count, datatype), count, datatype, packed,
                          size, &position, MPI_COMM_SELF);
    }
    if (err == MPI_SUCCESS)
        err = MPIR_Ext_unpack_external32(packed, converted, &converted_position, userbuf, count,
                                         datatype);
    if (!is_contig)
        ADIOI_Free(packed);
    return err;
}

/* The caller frees *newbuf. */
int MPIU_external32_buffer_setup(const void *buf, int count, MPI_Datatype type, void **newbuf)
{
    MPI_Aint size = 0;
    int err;

    err = MPIU_external32_item_size(type, count, &size);
    if (err != MPI_SUCCESS)
        return err;
    *newbuf = ADIOI_Malloc(size * count);
    err = MPIU_write_external32_conversion_fn(buf, type, count, *newbuf);
    if (err != MPI_SUCCESS) {
        ADIOI_Free(*newbuf);
        *newbuf = NULL;
    }
    return err;
}
