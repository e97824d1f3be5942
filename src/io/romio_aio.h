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
 * The poll function is called without ROMIO's mutex, which guards the list, and takes it. A request
 * is completed by one thread, as in any other MPI call for a request. */

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

void ADIOI_aio_end_writes(ADIO_File fd)
{
    for (ADIOI_AIO_Request * r = aio_writes; r; r = r->next_write) {
        if (r->aiocbp->aio_fildes == fd->fd_sys)
            aio_end(r->aiocbp);
    }
}

static void aio_remove(ADIOI_AIO_Request * r)
{
    ADIOI_AIO_Request **at = &aio_writes;

    ROMIO_QUEUE_ENTER();
    while (*at && *at != r)
        at = &(*at)->next_write;
    if (*at)
        *at = r->next_write;
    ROMIO_QUEUE_EXIT();
}

int ADIOI_GEN_aio_poll_fn(void *extra_state, MPI_Status * status)
{
    ADIOI_AIO_Request *r = (ADIOI_AIO_Request *) extra_state;
    int err;

    if (!r->aiocbp)             /* is complete */
        return MPI_SUCCESS;
    err = aio_error(r->aiocbp);
    if (err == EINPROGRESS)
        return MPI_SUCCESS;
    if (err == 0)
        r->nbytes = aio_return(r->aiocbp);
    else
        r->error = MPIO_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, "ADIOI_GEN_aio_poll_fn",
                                        __LINE__, MPI_ERR_IO, "**io", "**io %s", strerror(err));
    aio_remove(r);
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
        if (r->aiocbp)
            aio_end(r->aiocbp);
        err = ADIOI_GEN_aio_poll_fn(r, status);
    }
    return err;
}

#endif /* ROMIO_AIO_H_INCLUDED */
