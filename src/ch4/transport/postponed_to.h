/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_POSTPONED_TO_H_INCLUDED
#define MPIDI_POSTPONED_TO_H_INCLUDED

/* See postponed.h.
 *
 *   MPIDI_postponed_fifo     the messages to a VCI of a process; call it only while one waits
 *   MPIDI_postponed_has      1: a message to there must wait behind others
 *   MPIDI_postponed_add      hdr waits; fails if there is no memory
 *   MPIDI_postponed_take     the first message to there has been sent: takes it out and returns it
 *   MPIDI_postponed_free     the memory of a VCI, in the end
 *
 * MPIDI_ARRIVING_NUM is the length of active_rreq, see arrived.h. */

#define MPIDI_ARRIVING_NUM (MPIR_Process.local_size * MPIDI_POSIX_global.num_vsis)

MPL_STATIC_INLINE_PREFIX MPIDI_postponed_fifo_t *MPIDI_postponed_fifo(int src_vsi, int grank,
                                                                      int dst_vsi)
{
    return &MPIDI_POSIX_global.per_vsi[src_vsi].postponed.
        all[MPIDI_POSIX_global.local_ranks[grank] * MPIDI_POSIX_global.num_vsis + dst_vsi];
}

MPL_STATIC_INLINE_PREFIX int MPIDI_postponed_has(int src_vsi, int grank, int dst_vsi)
{
    return unlikely(MPIDI_POSIX_global.per_vsi[src_vsi].postponed.waiting != NULL) &&
        MPIDI_postponed_fifo(src_vsi, grank, dst_vsi)->first != NULL;
}

/* Here and not in MPI_Init: most programs never need it, and 64 VCIs have 64 x 64 for each process. */
static inline int MPIDI_postponed_alloc(int vsi)
{
    MPIDI_postponed_t *postponed = &MPIDI_POSIX_global.per_vsi[vsi].postponed;
    int mpi_errno = MPI_SUCCESS;

    postponed->all = MPL_calloc((size_t) MPIDI_POSIX_global.num_local * MPIDI_POSIX_global.num_vsis,
                                sizeof(postponed->all[0]), MPL_MEM_SHM);
    MPIR_ERR_CHKANDJUMP(!postponed->all, mpi_errno, MPI_ERR_OTHER, "**nomem");

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

static inline int MPIDI_postponed_add(MPIDI_POSIX_am_request_header_t * hdr)
{
    MPIDI_postponed_t *postponed = &MPIDI_POSIX_global.per_vsi[hdr->src_vsi].postponed;
    MPIDI_postponed_fifo_t *fifo;
    int mpi_errno = MPI_SUCCESS;

    if (!postponed->all) {
        mpi_errno = MPIDI_postponed_alloc(hdr->src_vsi);
        MPIR_ERR_CHECK(mpi_errno);
    }
    fifo = MPIDI_postponed_fifo(hdr->src_vsi, hdr->dst_grank, hdr->dst_vsi);
    if (!fifo->first)
        DL_APPEND(postponed->waiting, fifo);
    DL_APPEND(fifo->first, hdr);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

static inline MPIDI_POSIX_am_request_header_t *MPIDI_postponed_take(int src_vsi, int grank, int dst_vsi)
{
    MPIDI_postponed_fifo_t *fifo = MPIDI_postponed_fifo(src_vsi, grank, dst_vsi);
    MPIDI_POSIX_am_request_header_t *hdr = fifo->first;

    DL_DELETE(fifo->first, hdr);
    if (!fifo->first)
        DL_DELETE(MPIDI_POSIX_global.per_vsi[src_vsi].postponed.waiting, fifo);
    return hdr;
}

static inline void MPIDI_postponed_free(int vsi)
{
    MPL_free(MPIDI_POSIX_global.per_vsi[vsi].postponed.all);
    memset(&MPIDI_POSIX_global.per_vsi[vsi].postponed, 0, sizeof(MPIDI_postponed_t));
}

#endif /* MPIDI_POSTPONED_TO_H_INCLUDED */
