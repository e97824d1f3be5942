/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_POSTPONED_SEND_H_INCLUDED
#define MPIDI_POSTPONED_SEND_H_INCLUDED

/* Try to send a message that waits, the first of its FIFO: it leaves the FIFO if it is sent in full. */
MPL_STATIC_INLINE_PREFIX int MPIDI_postponed_send(MPIDI_POSIX_am_request_header_t * hdr)
{
    if (hdr->msg_hdr->am_type == MPIDI_POSIX_AM_TYPE__HDR)
        return MPIDI_POSIX_do_am_send_hdr(hdr->dst_grank, hdr->msg_hdr, hdr->am_hdr, true, hdr->src_vsi,
                                          hdr->dst_vsi);
    return MPIDI_POSIX_do_am_isend(hdr->dst_grank, hdr->msg_hdr, hdr->am_hdr, hdr->am_hdr_sz, hdr->buf,
                                   hdr->count, hdr->datatype, hdr->request, true, hdr->src_vsi,
                                   hdr->dst_vsi);
}

/* For each VCI of a process that messages of vsi wait for, try to send the first one. A callback of a
 * message may send others: then a FIFO that the loop has yet to visit may be empty. See postponed.h.
 * By the holder of the VCI, in place of MPICH's function of this name. */
MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_progress_send(int vsi, int blocking)
{
    MPIDI_postponed_fifo_t *fifo, *tmp;
    int mpi_errno = MPI_SUCCESS;

    DL_FOREACH_SAFE(MPIDI_POSIX_global.per_vsi[vsi].postponed.waiting, fifo, tmp) {
        MPIDI_POSIX_am_request_header_t *first = fifo->first;
        if (!first)
            continue;
        mpi_errno = MPIDI_postponed_send(first);
        MPIR_ERR_CHECK(mpi_errno);
        if (fifo->first != first)
            MPIDI_SHM_FOUND_WORK();
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#ifndef MPIDI_POSIX_eager_recv_brief
#define MPIDI_POSIX_eager_recv_brief(vsi_) 0
#endif

/* One poll of shared memory, for a VCI of the device; in place of MPICH's function, which divides. */
MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_progress(int vci, int blocking)
{
    int mpi_errno = MPI_SUCCESS;

    if (MPIDI_POSIX_eager_recv_brief(vci))
        MPIDI_SHM_FOUND_WORK();
    else
        mpi_errno = MPIDI_POSIX_progress_recv(vci, blocking);
    return mpi_errno == MPI_SUCCESS ? MPIDI_POSIX_progress_send(vci, blocking) : mpi_errno;
}

#endif /* MPIDI_POSTPONED_SEND_H_INCLUDED */
