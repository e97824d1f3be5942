/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_BRIEF_H_INCLUDED
#define POSIX_EAGER_RING_BRIEF_H_INCLUDED

/* Brief messages: an MPI message of up to 40 bytes is in one cache line, with what of its header says
 * something. The receiver makes the header that its handler expects. Of any other message, header and
 * data begin in different lines, since a header alone fills one.
 *
 *   MPIDI_POSIX_ring_is_brief      whether a segment can go that way
 *   MPIDI_POSIX_ring_send_brief    sends it
 *   MPIDI_POSIX_ring_recv_brief    receives the oldest message of a VCI, if it is one; 0: it is not
 *
 * Order and progress are those of other messages. VCI held. */

#include "ring_types.h"

/* Header and data of one segment of type MPIDIG_SEND; size: of the data, which is contiguous. Not what
 * has a flag or an error, or needs its sender's request. */
MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_ring_is_brief(const MPIDI_POSIX_am_header_t * msg_hdr,
                                                       const void *am_hdr, MPI_Aint size)
{
    const MPIDIG_hdr_t *hdr = am_hdr;

    return hdr && msg_hdr->handler_id == MPIDIG_SEND &&
        msg_hdr->am_type == MPIDI_POSIX_AM_TYPE__SHORT && size <= MPIDI_POSIX_RING_BRIEF_ROOM &&
        hdr->flags == MPIDIG_AM_SEND_FLAGS_NONE && hdr->error_bits == MPIR_ERR_NONE;
}

/* sent: NULL if there is no data. Result as of MPIDI_POSIX_eager_send. */
MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_ring_send_brief(tsm_ring_writer_t * writer, int src_vsi,
                                                         const void *am_hdr, const void *data,
                                                         MPI_Aint size, MPI_Aint * sent)
{
    const MPIDIG_hdr_t *hdr = am_hdr;
    MPIDI_POSIX_ring_slot_t *slot;
    uint64_t position;

    slot = (MPIDI_POSIX_ring_slot_t *) tsm_ring_claim(writer, &position);
    if (unlikely(!slot))
        return MPIDI_POSIX_NOK;
    MPIDI_POSIX_ring_fetch_ahead(writer, position, src_vsi, 1);
    slot->from = (uint16_t) MPIDI_POSIX_global.my_local_rank;
    slot->src_vsi = (uint8_t) src_vsi;
    slot->flags = MPIDI_POSIX_RING_HEAD | MPIDI_POSIX_RING_BRIEF;
    slot->brief.src_rank = hdr->src_rank;
    slot->brief.tag = hdr->tag;
    slot->brief.context_id = hdr->context_id;
    slot->brief.size = (uint32_t) size;
    if (sent) {
        MPIR_Typerep_copy(slot->brief.data, data, size);
        *sent = size;
    }
    tsm_ring_publish(&slot->slot, position);
    return MPIDI_POSIX_OK;
}

/* The data stays in the slot until its handler has returned. */
MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_ring_recv_brief(int vsi)
{
    tsm_ring_reader_t *reader = &MPIDI_POSIX_ring_global.vsi[vsi].reader;
    MPIDI_POSIX_ring_slot_t *slot;
    uint32_t attr = MPIDIG_AM_ATTR__IS_LOCAL;

    if (unlikely(!reader->ring))
        return 0;
    slot = (MPIDI_POSIX_ring_slot_t *) tsm_ring_look(reader);
    if (!slot || !(slot->flags & MPIDI_POSIX_RING_BRIEF))
        return 0;
    MPIDIG_hdr_t hdr = {
        .src_rank = slot->brief.src_rank,.tag = slot->brief.tag,
        .context_id = (MPIR_Context_id_t) slot->brief.context_id,.error_bits = MPIR_ERR_NONE,
        .flags = MPIDIG_AM_SEND_FLAGS_NONE,.data_sz = slot->brief.size
    };
    tsm_ring_take_seen(reader);
    MPIDIG_AM_ATTR_SET_VCIS(attr, slot->src_vsi, vsi);
    MPIDIG_global.target_msg_cbs[MPIDIG_SEND] (&hdr, slot->brief.data, slot->brief.size, attr, NULL);
    tsm_ring_give_back(reader);
    return 1;
}

#endif /* POSIX_EAGER_RING_BRIEF_H_INCLUDED */
