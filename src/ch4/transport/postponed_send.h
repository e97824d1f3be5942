/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_POSTPONED_SEND_H_INCLUDED
#define MPIDI_POSTPONED_SEND_H_INCLUDED

/* For each VCI of a process that messages of vsi wait for, try to send the first one. A callback of a
 * message may send others: then a FIFO that the loop has yet to visit may be empty. See postponed.h.
 * By the holder of the VCI. */
MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_progress_send(int vsi, int blocking)
{
    MPIDI_postponed_fifo_t *fifo, *tmp;
    int mpi_errno = MPI_SUCCESS;

    DL_FOREACH_SAFE(MPIDI_POSIX_global.per_vsi[vsi].postponed.waiting, fifo, tmp) {
        MPIDI_POSIX_am_request_header_t *first = fifo->first;
        mpi_errno = MPIDI_POSIX_send_postponed(first);
        MPIR_ERR_CHECK(mpi_errno);
        if (fifo->first != first)
            MPIDI_SHM_ARRIVED();        /* the poll found work */
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#endif /* MPIDI_POSTPONED_SEND_H_INCLUDED */
