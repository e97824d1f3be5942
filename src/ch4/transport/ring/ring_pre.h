/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_PRE_H_INCLUDED
#define POSIX_EAGER_RING_PRE_H_INCLUDED

#include <stdint.h>

/* In ring_brief.h, which comes after MPIDI_POSIX_progress. There is none with other modules. */
MPL_STATIC_INLINE_PREFIX int MPIDI_POSIX_ring_recv_brief(int vsi) ATTRIBUTE((unused));
#define MPIDI_POSIX_eager_recv_brief(vsi_) MPIDI_POSIX_ring_recv_brief(vsi_)

typedef struct MPIDI_POSIX_eager_ring_recv_transaction {
    uint32_t cell;              /* with the data of a long message, or TSM_RETURNS_NONE */
    int cell_from;              /* local rank of its process */
    uint64_t begin;             /* of a timed one, in ns; else 0 */
} MPIDI_POSIX_eager_ring_recv_transaction_t;

#endif /* POSIX_EAGER_RING_PRE_H_INCLUDED */
