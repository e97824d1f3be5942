/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ARRIVED_H_INCLUDED
#define MPIDI_ARRIVED_H_INCLUDED

/* Shared memory counts the cells that it takes in, and the messages that it sends later, so that a poll
 * knows whether there may be more; see drive.h. */
#include "../thread.h"

#if MPIDI_THREAD_HAS_RECORDS
#define MPIDI_SHM_FOUND_WORK() (MPIDI_thread_local.arrived++)
#else
#define MPIDI_SHM_FOUND_WORK() do { } while (0)
#endif

/* A part of a message has come. From here on src_local_rank is the index of the VCI that sent it, which
 * finds the request of a long message in active_rreq: that has one for each VCI of each process of the
 * node (MPIDI_ARRIVING_NUM), since the parts of messages from two VCIs of a process mix. What follows
 * does not use it otherwise. VCI lock held. */
MPL_STATIC_INLINE_PREFIX void MPIDI_arrived(MPIDI_POSIX_eager_recv_transaction_t * part)
{
    MPIDI_SHM_FOUND_WORK();
    part->src_local_rank = part->src_local_rank * MPIDI_POSIX_global.num_vsis + part->src_vsi;
}

#endif /* MPIDI_ARRIVED_H_INCLUDED */
