/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ARRIVED_H_INCLUDED
#define MPIDI_ARRIVED_H_INCLUDED

/* Shared memory calls this for each cell that it takes in, so that a poll knows whether there may be
 * more; see drive.h. */
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#include "../thread.h"
#define MPIDI_SHM_ARRIVED() (MPIDI_thread_local.arrived++)
#else
#define MPIDI_SHM_ARRIVED() do { } while (0)
#endif

/* The request of the long message of which a part has come: one for each VCI of each process of the
 * node, since the parts of messages from two VCIs of a process mix. VCI lock held. */
MPL_STATIC_INLINE_PREFIX MPIR_Request **MPIDI_arriving(int vsi,
                                                       MPIDI_POSIX_eager_recv_transaction_t * part)
{
    return &MPIDI_POSIX_global.per_vsi[vsi].
        active_rreq[part->src_local_rank * MPIDI_POSIX_global.num_vsis + part->src_vsi];
}

#endif /* MPIDI_ARRIVED_H_INCLUDED */
