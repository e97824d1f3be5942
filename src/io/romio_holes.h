/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_HOLES_H_INCLUDED
#define ROMIO_HOLES_H_INCLUDED

/* A collective write that has holes between what it writes reads the whole range, waits for the data of
 * the other processes, and writes the whole range. Other threads come in while it waits
 * (romio_let_in.h), and what one of them writes into a hole would be undone. So such writes are noted,
 * and their places are read again just before the range is written.
 *
 *   romio_holes_open(fd, buf, at, len)  before the range is read into buf; the write from buf ends it
 *   romio_holes_forget(fd)              the collective write is over, perhaps without that write
 *   ADIO_WriteContig                    notes a write, or reads again what was noted
 *   ADIO_WriteStrided                   writes piece by piece meanwhile: it would itself read holes and
 *                                       write them, and only the pieces may be noted
 *
 * All with ROMIO's mutex. A lock of the range would not do: the thread that writes alone would wait for
 * other processes, which may wait for it before they test their nonblocking operation. One thread's
 * independent write with holes needs nothing of this: it has the mutex from its read to its write.
 * One collective write at a time is under way on a file handle, and MPI promises nothing for writes
 * through two handles at the same time. A write of another process is not seen here: MPICH 4.0.2
 * does not keep it either.
 *
 * An asynchronous write may be done any time after it has begun: it is noted, and the range is written
 * after it has ended, for which it needs no process (romio_aio.h). */

struct ROMIO_Holes {
    char *buf;
    ADIO_Offset at, end;
    struct ROMIO_Noted *noted;  /* the latest first */
};

struct ROMIO_Noted {
    ADIO_Offset at, end;
    struct ROMIO_Noted *next;
};

#ifdef ROMIO_HAVE_WORKING_AIO
void ADIOI_aio_begun(ADIO_File fd, int writes, ADIOI_AIO_Request * r);
void ADIOI_aio_note_writes(ADIO_File fd);
void ADIOI_aio_end_writes(ADIO_File fd);
#else
#define ADIOI_aio_note_writes(fd_) do { } while (0)
#define ADIOI_aio_end_writes(fd_) do { } while (0)
#endif

static inline void romio_holes_forget(ADIO_File fd)
{
    struct ROMIO_Noted *n, *next;

    if (!fd->romio.holes)
        return;
    for (n = fd->romio.holes->noted; n; n = next) {
        next = n->next;
        ADIOI_Free(n);
    }
    ADIOI_Free(fd->romio.holes);
    fd->romio.holes = NULL;
}

/* A write that goes on where the last one ended, or is done again, makes the list no longer. */
static inline void romio_holes_note(ADIO_File fd, ADIO_Offset at, ADIO_Offset len)
{
    ADIO_Offset end = MPL_MIN(at + len, fd->romio.holes->end);
    struct ROMIO_Noted *n = fd->romio.holes->noted;

    at = MPL_MAX(at, fd->romio.holes->at);
    if (at >= end)
        return;
    if (n && n->at <= at && at <= n->end) {
        n->end = MPL_MAX(n->end, end);
        return;
    }
    n = (struct ROMIO_Noted *) ADIOI_Malloc(sizeof(*n));
    n->at = at;
    n->end = end;
    n->next = fd->romio.holes->noted;
    fd->romio.holes->noted = n;
}

static inline void romio_holes_open(ADIO_File fd, char *buf, ADIO_Offset at, ADIO_Offset len)
{
    romio_holes_forget(fd);     /* of a range that was not written, after an error */
    fd->romio.holes = (struct ROMIO_Holes *) ADIOI_Malloc(sizeof(*fd->romio.holes));
    fd->romio.holes->buf = buf;
    fd->romio.holes->at = at;
    fd->romio.holes->end = at + len;
    fd->romio.holes->noted = NULL;
    ADIOI_aio_note_writes(fd);
}

static inline int romio_holes_close(ADIO_File fd)
{
    struct ROMIO_Holes *h = fd->romio.holes;
    ADIO_Status status;
    int err = MPI_SUCCESS;

    ADIOI_aio_end_writes(fd);
    for (struct ROMIO_Noted * n = h->noted; n && err == MPI_SUCCESS; n = n->next)
        ADIO_ReadContig(fd, h->buf + (n->at - h->at), (int) (n->end - n->at), MPI_BYTE,
                        ADIO_EXPLICIT_OFFSET, n->at, &status, &err);
    romio_holes_forget(fd);
    return err;
}

static inline void romio_holes_write(ADIO_File fd, const void *buf, int count, MPI_Datatype datatype,
                                     int file_ptr_type, ADIO_Offset offset, ADIO_Status * status,
                                     int *error_code)
{
    if (fd->romio.holes && fd->romio.holes->buf == buf) {
        *error_code = romio_holes_close(fd);
        if (*error_code != MPI_SUCCESS)
            return;
    } else if (fd->romio.holes) {
        MPI_Count size;
        MPI_Type_size_x(datatype, &size);
        romio_holes_note(fd, file_ptr_type == ADIO_INDIVIDUAL ? fd->fp_ind : offset, count * size);
    }
    (*fd->fns->ADIOI_xxx_WriteContig) (fd, buf, count, datatype, file_ptr_type, offset, status,
                                       error_code);
}

#undef ADIO_WriteContig
#undef ADIO_WriteStrided
#define ADIO_WriteContig romio_holes_write
#define ADIO_WriteStrided(fd_, ...) \
    ((fd_)->romio.holes ? ADIOI_GEN_WriteStrided_naive(fd_, __VA_ARGS__) : \
     (*(fd_)->fns->ADIOI_xxx_WriteStrided) (fd_, __VA_ARGS__))

#endif /* ROMIO_HOLES_H_INCLUDED */
