/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_EXTERNAL32_H_INCLUDED
#define ROMIO_EXTERNAL32_H_INCLUDED

/* For the functions of MPI_File_* that convert, with a file view of external32. They access a buffer
 * that begins with its first data (mpiu_external32.c), and ROMIO wants the address of the first item.
 * What could not be read is not converted: in MPICH that made the error a success. Those that MPICH
 * forgot include romio_convert.h, too. Included by romio_calls.h. */

#include "mpiu_external32.h"

void *MPIU_external32_address(const void *buf, int count, MPI_Datatype datatype);

/* So many bytes for each of so many items are enough. The callers have a variable count. */
int MPIU_external32_item_size(MPI_Datatype datatype, int count, MPI_Aint * size);
#define MPIU_datatype_full_size(type_, size_) MPIU_external32_item_size(type_, count, size_)

int MPIR_Ext_pack_external32(const void *buf, MPI_Aint n, MPI_Datatype type, void *packed,
                             MPI_Aint size, MPI_Aint * position);
int MPIR_Ext_unpack_external32(const void *packed, MPI_Aint size, MPI_Aint * position, void *buf,
                               MPI_Aint n, MPI_Datatype type);

#define ROMIO_EXTERNAL32_ADDRESS(fd_, buf_, n_, type_) \
    ((fd_)->is_external32 ? MPIU_external32_address(buf_, n_, type_) : (void *) (buf_))

#define MPIU_read_external32_conversion_fn(...) \
    (error_code == MPI_SUCCESS ? MPIU_read_external32_conversion_fn(__VA_ARGS__) : error_code)

/* No others: where the data is contiguous, in ADIO_ReadContig and ADIO_WriteContig, it begins there. */
static inline void romio_external32_read(ADIO_File fd, void *buf, int n, MPI_Datatype type, int pointer,
                                         ADIO_Offset at, ADIO_Status * status, int *err)
{
    ADIO_ReadStrided(fd, ROMIO_EXTERNAL32_ADDRESS(fd, buf, n, type), n, type, pointer, at, status, err);
}

static inline void romio_external32_write(ADIO_File fd, const void *buf, int n, MPI_Datatype type,
                                          int pointer, ADIO_Offset at, ADIO_Status * status, int *err)
{
    ADIO_WriteStrided(fd, ROMIO_EXTERNAL32_ADDRESS(fd, buf, n, type), n, type, pointer, at, status,
                      err);
}

static inline void romio_external32_read_coll(ADIO_File fd, void *buf, int n, MPI_Datatype type,
                                              int pointer, ADIO_Offset at, ADIO_Status * status,
                                              int *err)
{
    ADIO_ReadStridedColl(fd, ROMIO_EXTERNAL32_ADDRESS(fd, buf, n, type), n, type, pointer, at, status,
                         err);
}

static inline void romio_external32_write_coll(ADIO_File fd, const void *buf, int n, MPI_Datatype type,
                                               int pointer, ADIO_Offset at, ADIO_Status * status,
                                               int *err)
{
    ADIO_WriteStridedColl(fd, ROMIO_EXTERNAL32_ADDRESS(fd, buf, n, type), n, type, pointer, at, status,
                          err);
}

#undef ADIO_ReadStrided
#undef ADIO_WriteStrided
#undef ADIO_ReadStridedColl
#undef ADIO_WriteStridedColl
#define ADIO_ReadStrided romio_external32_read
#define ADIO_WriteStrided romio_external32_write
#define ADIO_ReadStridedColl romio_external32_read_coll
#define ADIO_WriteStridedColl romio_external32_write_coll

#endif /* ROMIO_EXTERNAL32_H_INCLUDED */
