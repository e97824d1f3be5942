/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_PRE_H_INCLUDED
#define POSIX_EAGER_RING_PRE_H_INCLUDED

#include <stdint.h>

/* The most data of a brief message (ring_brief.h): what a line has besides the header. */
#define MPIDI_POSIX_RING_BRIEF_ROOM 40

/* Room for the header that handlers expect, MPIDIG_hdr_t. */
#define MPIDI_POSIX_RING_BRIEF_HEADER 48

typedef struct MPIDI_POSIX_eager_ring_recv_transaction {
    uint32_t cell;              /* with the data of a long message, or TSM_RETURNS_NONE */
    int cell_from;              /* local rank of its process */
    char brief[MPIDI_POSIX_RING_BRIEF_HEADER + MPIDI_POSIX_RING_BRIEF_ROOM]     /* a brief message */
        __attribute__((aligned(16)));
} MPIDI_POSIX_eager_ring_recv_transaction_t;

#endif /* POSIX_EAGER_RING_PRE_H_INCLUDED */
