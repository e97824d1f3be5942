/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_SEND_H_INCLUDED
#define POSIX_EAGER_RING_SEND_H_INCLUDED

#include "ring_ahead.h"
#include "ring_brief.h"
#include "ring_types.h"

/* One segment of a message, as MPIDI_POSIX_eager_send has it. */
typedef struct MPIDI_POSIX_ring_segment {
    const MPIDI_POSIX_am_header_t *msg_hdr;     /* NULL if am_hdr is */
    const void *am_hdr;         /* NULL: not the first segment */
    MPI_Aint am_hdr_sz;
    const void *buf;
    MPI_Aint count;
    MPI_Datatype datatype;
    MPI_Aint offset;            /* of the data that was sent before */
    MPI_Aint size;              /* of the data that remains */
} MPIDI_POSIX_ring_segment_t;

MPL_STATIC_INLINE_PREFIX size_t MPIDI_POSIX_eager_payload_limit(void)
{
    return MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE;
}

MPL_STATIC_INLINE_PREFIX size_t MPIDI_POSIX_eager_buf_limit(void)
{
    return MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE;
}

/* Send what fits into a slot, and is not contiguous. In ring.c; result and *sent likewise. */
int MPIDI_POSIX_ring_send_packed(tsm_ring_writer_t * writer, int src_vsi,
                                 const MPIDI_POSIX_ring_segment_t * segment, MPI_Aint * sent);

/* Send what fits into a cell. In ring.c; result and *sent as of MPIDI_POSIX_eager_send. */
int MPIDI_POSIX_ring_send_cell(tsm_ring_writer_t * writer, int local_rank, int src_vsi,
                               const MPIDI_POSIX_ring_segment_t * segment, MPI_Aint * sent);

/* The data begins at a multiple of this, as handlers expect. */
MPL_STATIC_INLINE_PREFIX MPI_Aint MPIDI_POSIX_ring_header_room(MPI_Aint am_hdr_sz)
{
    return MPL_ROUND_UP_ALIGN(am_hdr_sz, MAX_ALIGNMENT);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_POSIX_ring_fill(MPIDI_POSIX_ring_slot_t * slot, int src_vsi,
                                                    const MPIDI_POSIX_am_header_t * msg_hdr,
                                                    MPI_Aint header_room, MPI_Aint payload_size,
                                                    int flags)
{
    slot->from = (uint16_t) MPIDI_POSIX_global.my_local_rank;
    slot->src_vsi = (uint8_t) src_vsi;
    slot->flags = (uint8_t) (flags | (msg_hdr ? MPIDI_POSIX_RING_HEAD : 0));
    if (msg_hdr)
        slot->am_header = *msg_hdr;
    slot->am_header.am_hdr_sz = (int16_t) header_room;
    slot->am_header.unused = (int32_t) payload_size;
}

/* Send what fits into a slot: header and data, which is contiguous. sent: NULL if there is none. */
MPL_STATIC_INLINE_PREFIX int
MPIDI_POSIX_ring_send_slot(tsm_ring_writer_t * writer, int src_vsi,
                           const MPIDI_POSIX_am_header_t * msg_hdr, const void *am_hdr,
                           MPI_Aint am_hdr_sz, const void *data, MPI_Aint size, MPI_Aint * sent)
{
    const MPI_Aint header_room = am_hdr ? MPIDI_POSIX_ring_header_room(am_hdr_sz) : 0;
    MPIDI_POSIX_ring_slot_t *slot;
    uint64_t position;

    if (MPIDI_POSIX_ring_is_brief(msg_hdr, am_hdr, size))
        return MPIDI_POSIX_ring_send_brief(writer, src_vsi, am_hdr, data, size, sent);
    slot = (MPIDI_POSIX_ring_slot_t *) tsm_ring_claim(writer, &position);
    if (unlikely(!slot))
        return MPIDI_POSIX_NOK;
    MPIDI_POSIX_ring_fetch_ahead(writer, position, src_vsi, 2);
    MPIDI_POSIX_ring_fill(slot, src_vsi, msg_hdr, header_room, header_room + size, 0);
    if (am_hdr)
        memcpy(slot->u.payload, am_hdr, am_hdr_sz);
    if (sent) {
        MPIR_Typerep_copy(slot->u.payload + header_room, data, size);
        *sent = size;
    }
    tsm_ring_publish(&slot->slot, position);
    return MPIDI_POSIX_OK;
}

/* Send the next segment of a message: msg_hdr and am_hdr are NULL unless it is the first one. Returns
 * MPIDI_POSIX_NOK if nothing was sent, because there is no slot or no cell; the caller tries again
 * later. sent: NULL if there is no data, else how much of it was sent. VCI held; waits for nobody. */
__attribute__((always_inline))
MPL_STATIC_INLINE_PREFIX int
MPIDI_POSIX_eager_send(int grank, MPIDI_POSIX_am_header_t * msg_hdr, const void *am_hdr,
                       MPI_Aint am_hdr_sz, const void *buf, MPI_Aint count, MPI_Datatype datatype,
                       MPI_Aint offset, int src_vsi, int dst_vsi, MPI_Aint * sent)
{
    const int local_rank = MPIDI_POSIX_global.local_ranks[grank];
    tsm_ring_writer_t *writer =
        &MPIDI_POSIX_ring_global.writers[local_rank * MPIDI_POSIX_ring_global.num_vsis + dst_vsi];
    const MPI_Aint header_room = am_hdr ? MPIDI_POSIX_ring_header_room(am_hdr_sz) : 0;
    MPI_Aint size = 0, lb = 0;
    int is_contig = 1;

    if (sent)
        MPIDI_Datatype_check_contig_size_lb(datatype, count, is_contig, size, lb);
    size -= offset;
    if (!is_contig || header_room + size > MPIDI_POSIX_RING_SLOT_ROOM) {
        const MPIDI_POSIX_ring_segment_t segment = { am_hdr ? msg_hdr : NULL, am_hdr, am_hdr_sz,
            buf, count, datatype, offset, size
        };
        return header_room + size > MPIDI_POSIX_RING_SLOT_ROOM ?
            MPIDI_POSIX_ring_send_cell(writer, local_rank, src_vsi, &segment, sent) :
            MPIDI_POSIX_ring_send_packed(writer, src_vsi, &segment, sent);
    }
    return MPIDI_POSIX_ring_send_slot(writer, src_vsi, am_hdr ? msg_hdr : NULL, am_hdr, am_hdr_sz,
                                      (const char *) buf + lb + offset, size, sent);
}

#endif /* POSIX_EAGER_RING_SEND_H_INCLUDED */
