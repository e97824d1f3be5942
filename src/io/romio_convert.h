/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_CONVERT_H_INCLUDED
#define ROMIO_CONVERT_H_INCLUDED

/* For the functions of MPI_File_* that did not convert, with a file view of external32: the nonblocking
 * ones that are not collective, and MPI_File_read_ordered. The former then do all of their work in the
 * call. Included by read_ord.c, and by mpiu_greq.h in the others. */

typedef void romio_read_fn(ADIO_File fd, void *buf, int n, MPI_Datatype type, int pointer,
                           ADIO_Offset at, ADIO_Status * status, int *err);
typedef void romio_write_fn(ADIO_File fd, const void *buf, int n, MPI_Datatype type, int pointer,
                            ADIO_Offset at, ADIO_Status * status, int *err);

/* Functions, so that they can be chosen. */
static inline void romio_read_contig(ADIO_File fd, void *buf, int n, MPI_Datatype type, int pointer,
                                     ADIO_Offset at, ADIO_Status * status, int *err)
{
    ADIO_ReadContig(fd, buf, n, type, pointer, at, status, err);
}

static inline void romio_read_converted(romio_read_fn * read, ADIO_File fd, void *buf, int n,
                                        MPI_Datatype type, int pointer, ADIO_Offset at,
                                        ADIO_Status * status, int *err)
{
    void *file_buf = NULL;
    int error_code;             /* no success: nothing is converted (romio_external32.h) */

    if (!fd->is_external32) {
        read(fd, buf, n, type, pointer, at, status, err);
        return;
    }
    /* what lies beyond the end of the file is then converted to what the program has there */
    *err = MPIU_external32_buffer_setup(buf, n, type, &file_buf);
    if (*err != MPI_SUCCESS)
        return;
    read(fd, file_buf, n, type, pointer, at, status, &error_code);
    *err = MPIU_read_external32_conversion_fn(buf, type, n, file_buf);
    if (file_buf)
        ADIOI_Free(file_buf);
}

static inline void romio_write_converted(romio_write_fn * write, ADIO_File fd, const void *buf, int n,
                                         MPI_Datatype type, int pointer, ADIO_Offset at,
                                         ADIO_Status * status, int *err)
{
    void *file_buf = NULL;

    if (!fd->is_external32) {
        write(fd, buf, n, type, pointer, at, status, err);
        return;
    }
    *err = MPIU_external32_buffer_setup(buf, n, type, &file_buf);
    if (*err != MPI_SUCCESS)
        return;
    write(fd, file_buf, n, type, pointer, at, status, err);
    if (file_buf)
        ADIOI_Free(file_buf);
}

/* The request of an access that is over. */
static inline void romio_request_of(ADIO_File fd, const ADIO_Status * status, MPI_Request * request,
                                    int *err)
{
    MPI_Count bytes;

    if (*err == MPI_SUCCESS)
        *err = MPI_Get_elements_x(status, MPI_BYTE, &bytes);
    if (*err == MPI_SUCCESS)
        MPIO_Completed_request_create(&fd, bytes, err, request);
}

static inline void romio_iread_converted(romio_read_fn * read, ADIO_File fd, void *buf, int n,
                                         MPI_Datatype type, int pointer, ADIO_Offset at,
                                         MPI_Request * request, int *err)
{
    ADIO_Status status;

    romio_read_converted(read, fd, buf, n, type, pointer, at, &status, err);
    romio_request_of(fd, &status, request, err);
}

static inline void romio_iwrite_converted(romio_write_fn * write, ADIO_File fd, const void *buf, int n,
                                          MPI_Datatype type, int pointer, ADIO_Offset at,
                                          MPI_Request * request, int *err)
{
    ADIO_Status status;

    romio_write_converted(write, fd, buf, n, type, pointer, at, &status, err);
    romio_request_of(fd, &status, request, err);
}

#undef ADIO_IreadContig
#undef ADIO_IreadStrided
#undef ADIO_IwriteContig
#undef ADIO_IwriteStrided
#define ADIO_IreadContig(fd_, ...) \
    ((fd_)->is_external32 ? romio_iread_converted(romio_read_contig, fd_, __VA_ARGS__) : \
     (*(fd_)->fns->ADIOI_xxx_IreadContig) (fd_, __VA_ARGS__))
#define ADIO_IreadStrided(fd_, ...) \
    ((fd_)->is_external32 ? romio_iread_converted(romio_external32_read, fd_, __VA_ARGS__) : \
     (*(fd_)->fns->ADIOI_xxx_IreadStrided) (fd_, __VA_ARGS__))
#define ADIO_IwriteContig(fd_, ...) \
    ((fd_)->is_external32 ? romio_iwrite_converted(romio_holes_write, fd_, __VA_ARGS__) : \
     (*(fd_)->fns->ADIOI_xxx_IwriteContig) (fd_, __VA_ARGS__))
#define ADIO_IwriteStrided(fd_, ...) \
    ((fd_)->is_external32 ? romio_iwrite_converted(romio_external32_write, fd_, __VA_ARGS__) : \
     (*(fd_)->fns->ADIOI_xxx_IwriteStrided) (fd_, __VA_ARGS__))

/* As for atomic mode. */
#undef ADIO_ReadContig
#undef ADIO_WriteContig
#undef ADIO_ReadStridedColl
#define ADIO_ReadContig(...) romio_read_converted(romio_read_contig, __VA_ARGS__)
#define ADIO_WriteContig(...) romio_write_converted(romio_holes_write, __VA_ARGS__)
#define ADIO_ReadStridedColl(...) romio_read_converted(romio_external32_read_coll, __VA_ARGS__)

#endif /* ROMIO_CONVERT_H_INCLUDED */
