/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_AHEAD_H_INCLUDED
#define POSIX_EAGER_RING_AHEAD_H_INCLUDED

#include "ring_types.h"

/* Most of the time of a send is the wait for the lines of its slot, at the release of the lock at the
 * latest: the receiver has them. So it asks for those of a later slot. Not if another VCI, perhaps of
 * another process, has taken slots since the last message of this one: it will want that slot, too, and
 * the lines would go back and forth. */
MPL_STATIC_INLINE_PREFIX void MPIDI_POSIX_ring_fetch_ahead(const tsm_ring_writer_t * writer,
                                                           uint64_t position, int src_vsi,
                                                           int lines)
{
    MPIDI_POSIX_ring_vsi_t *vsi = &MPIDI_POSIX_ring_global.vsi[src_vsi];

    if (vsi->sent_to == writer && vsi->sent_next == position && MPIR_CVAR_CH4_SHM_PREFETCH)
        tsm_ring_fetch_ahead(writer, position + (uint64_t) MPIR_CVAR_CH4_SHM_PREFETCH, lines);
    vsi->sent_to = writer;
    vsi->sent_next = position + 1;
}

#endif /* POSIX_EAGER_RING_AHEAD_H_INCLUDED */
