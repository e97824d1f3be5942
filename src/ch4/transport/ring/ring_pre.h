/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_PRE_H_INCLUDED
#define POSIX_EAGER_RING_PRE_H_INCLUDED

#include <stdint.h>

typedef struct MPIDI_POSIX_eager_ring_recv_transaction {
    uint32_t cell;              /* with the data of a long message, or TSM_RETURNS_NONE */
    int cell_from;              /* local rank of its process */
} MPIDI_POSIX_eager_ring_recv_transaction_t;

#endif /* POSIX_EAGER_RING_PRE_H_INCLUDED */
