/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_AIO_H_INCLUDED
#define ROMIO_AIO_H_INCLUDED

/* Requests of POSIX asynchronous accesses, for ad_iwrite.c: the poll and the wait function of ROMIO,
 * which never ended a request whose access had failed, and completed one again that was tested again
 * in a list. Writes are in a list until they are seen to have ended (romio_holes.h).
 *
 * An access may end short: Linux transfers 2 GB at most at once, and a disk may be full. Its rest is
 * begun then, until an access transfers nothing: a read is at the end of the file, and for a write that
 * is an error. aio_fildes is -1 when nothing more will be begun, so the lists below pass over it.
 *
 * The poll function is called without ROMIO's mutex, which guards the list and the beginning of a rest,
 * and takes it. A request is completed by one thread, as in any other MPI call for a request. */

static ADIOI_AIO_Request *aio_writes;

void ADIOI_aio_begun(ADIO_File fd, int writes, ADIOI_AIO_Request * r)
{
    ROMIO_QUEUE_RETURN_ERRORS(r->req, fd->comm);
    if (!writes)
        return;
    r->next_write = aio_writes;
    aio_writes = r;
    if (fd->romio.holes)
        romio_holes_note(fd, r->aiocbp->aio_offset, r->aiocbp->aio_nbytes);
}

void ADIOI_aio_note_writes(ADIO_File fd)
{
    for (ADIOI_AIO_Request * r = aio_writes; r; r = r->next_write) {
        if (r->aiocbp->aio_fildes == fd->fd_sys)
            romio_holes_note(fd, r->aiocbp->aio_offset, r->aiocbp->aio_nbytes);
    }
}

static void aio_end(const struct aiocb *cb)
{
    while (aio_error(cb) == EINPROGRESS)
        aio_suspend(&cb, 1, NULL);
}

/* Begin the rest of an access that has transferred n bytes. Returns an errno, or 0. */
static int aio_begin_rest(struct aiocb *cb, size_t n, int writes)
{
    cb->aio_buf = (volatile char *) cb->aio_buf + n;
    cb->aio_offset += n;
    cb->aio_nbytes -= n;
    return (writes ? aio_write(cb) : aio_read(cb)) == 0 ? 0 : errno;
}

static int aio_writes_it(const ADIOI_AIO_Request * r)
{
    const ADIOI_AIO_Request *w = aio_writes;

    while (w && w != r)
        w = w->next_write;
    return w != NULL;
}

/* Returns whether the access goes on. */
static int aio_goes_on(ADIOI_AIO_Request * r)
{
    struct aiocb *cb = r->aiocbp;
    int err, writes = aio_writes_it(r);
    ssize_t n;

    if (cb->aio_fildes == -1)
        return 0;
    err = aio_error(cb);
    if (err == EINPROGRESS)
        return 1;
    n = aio_return(cb);
    if (err == 0) {
        r->nbytes += n;
        if (n > 0 && (size_t) n < cb->aio_nbytes) {
            err = aio_begin_rest(cb, (size_t) n, writes);
            if (err == 0)
                return 1;
        } else if (writes && (size_t) n < cb->aio_nbytes) {
            err = EIO;
        }
    }
    if (err)
        r->error = MPIO_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, "ADIOI_GEN_aio_poll_fn",
                                        __LINE__, MPI_ERR_IO, "**io", "**io %s", strerror(err));
    cb->aio_fildes = -1;
    return 0;
}

void ADIOI_aio_end_writes(ADIO_File fd)
{
    for (ADIOI_AIO_Request * r = aio_writes; r; r = r->next_write) {
        if (r->aiocbp->aio_fildes == fd->fd_sys) {
            while (aio_goes_on(r))
                aio_end(r->aiocbp);
        }
    }
}

static void aio_remove(ADIOI_AIO_Request * r)
{
    ADIOI_AIO_Request **at = &aio_writes;

    while (*at && *at != r)
        at = &(*at)->next_write;
    if (*at)
        *at = r->next_write;
}

int ADIOI_GEN_aio_poll_fn(void *extra_state, MPI_Status * status)
{
    ADIOI_AIO_Request *r = (ADIOI_AIO_Request *) extra_state;
    int goes_on;

    if (!r->aiocbp)             /* is complete */
        return MPI_SUCCESS;
    if (aio_error(r->aiocbp) == EINPROGRESS)
        return MPI_SUCCESS;
    ROMIO_QUEUE_ENTER();
    goes_on = aio_goes_on(r);
    if (!goes_on)
        aio_remove(r);
    ROMIO_QUEUE_EXIT();
    if (goes_on)
        return MPI_SUCCESS;
    ADIOI_Free(r->aiocbp);
    r->aiocbp = NULL;
    return MPI_Grequest_complete(r->req);
}

/* Asynchronous accesses end without a call of MPI, so one may be waited for after the other. */
int ADIOI_GEN_aio_wait_fn(int count, void **array_of_states, double timeout, MPI_Status * status)
{
    int err = MPI_SUCCESS;

    for (int i = 0; i < count && err == MPI_SUCCESS; i++) {
        ADIOI_AIO_Request *r = (ADIOI_AIO_Request *) array_of_states[i];
        while (r->aiocbp && err == MPI_SUCCESS) {
            aio_end(r->aiocbp);
            err = ADIOI_GEN_aio_poll_fn(r, status);
        }
    }
    return err;
}

#endif /* ROMIO_AIO_H_INCLUDED */
