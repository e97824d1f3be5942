/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef POSIX_EAGER_RING_TYPES_H_INCLUDED
#define POSIX_EAGER_RING_TYPES_H_INCLUDED

#include "mpidimpl.h"
#include "ring_cells.h"
#include "tsm/queue/tsm_ring.h"

/* Four lines. An MPI message of 64 bytes fills two: 16 bytes of ours, 48 of MPIDIG_hdr_t, the data. One
 * of up to 40 bytes fills one (ring_brief.h). */
#define MPIDI_POSIX_RING_SLOT_SIZE 256
#define MPIDI_POSIX_RING_SLOT_ROOM (MPIDI_POSIX_RING_SLOT_SIZE - 16)

/* The slots of a ring: 256 KB for each VCI of a process. As many messages are under way before a
 * sender defers the next. */
#define MPIDI_POSIX_RING_SLOTS 1024

typedef enum {
    MPIDI_POSIX_RING_HEAD = 1,  /* begins a message, so it has an active message header */
    MPIDI_POSIX_RING_IN_CELL = 2,       /* the payload is in the cell whose number is in the slot */
    MPIDI_POSIX_RING_BRIEF = 4, /* all of it is in the first line */
    MPIDI_POSIX_RING_TIMED = 8, /* the receiver leaves the time it takes in the cell (ring_way.h) */
    MPIDI_POSIX_RING_LATER = 16 /* the sender will not look soon for the cell to come back */
} MPIDI_POSIX_ring_flags_t;

/* The most data of a brief message: what a line has besides. */
#define MPIDI_POSIX_RING_BRIEF_ROOM 40

/* src_rank, tag, context_id: as in MPIDIG_hdr_t. The data is aligned as elements are in packed data. */
typedef struct MPIDI_POSIX_ring_brief {
    int32_t src_rank, tag;
    uint32_t context_id;
    uint32_t size;              /* of the data */
    char data[MPIDI_POSIX_RING_BRIEF_ROOM];
} MPIDI_POSIX_ring_brief_t;

typedef struct MPIDI_POSIX_ring_slot {
    tsm_ring_slot_t slot;
    uint16_t from;              /* local rank of the sender */
    uint8_t src_vsi;
    uint8_t flags;
    union {
        struct {
            MPIDI_POSIX_am_header_t am_header;  /* `unused' is the size of the payload */
            union {
                char payload[MPIDI_POSIX_RING_SLOT_ROOM];
                uint32_t cell;
            } u;
        };
        MPIDI_POSIX_ring_brief_t brief;
    };
} MPIDI_POSIX_ring_slot_t;

/* What a process has for one of its VCIs. The shared parts of all are in one segment (ring.c). Each
 * message writes to it, so no two VCIs share a line. */
typedef struct MPIDI_POSIX_ring_vsi {
    tsm_ring_reader_t reader TSM_ALIGNED;       /* ring: NULL before there is MPI_COMM_WORLD */
    const tsm_ring_writer_t *sent_to;   /* with its last message: which ring, and the next position */
    uint64_t sent_next;
    MPIDI_POSIX_ring_cells_t cells;
} MPIDI_POSIX_ring_vsi_t;

typedef struct MPIDI_POSIX_ring_global {
    MPIDI_POSIX_ring_vsi_t vsi[MPIDI_CH4_MAX_VCIS];
    tsm_ring_writer_t *writers; /* [local rank * num_vsis + vsi]; ours */
    char *segment;
    size_t box_size;            /* of one VCI of one process in the segment */
    size_t returns_at, cells_at;        /* in a box; the ring comes first */
    size_t cell_size;
    int num_vsis;
    int nontemporal;            /* MPIR_CVAR_CH4_SHM_NONTEMPORAL, as MPI_Init has checked it */
} MPIDI_POSIX_ring_global_t;

extern MPIDI_POSIX_ring_global_t MPIDI_POSIX_ring_global;

MPL_STATIC_INLINE_PREFIX char *MPIDI_POSIX_ring_box(int local_rank, int vsi)
{
    MPIDI_POSIX_ring_global_t *g = &MPIDI_POSIX_ring_global;

    return g->segment + ((size_t) local_rank * g->num_vsis + vsi) * g->box_size;
}

MPL_STATIC_INLINE_PREFIX tsm_returns_t *MPIDI_POSIX_ring_returns(int local_rank, int vsi)
{
    return (tsm_returns_t *) (MPIDI_POSIX_ring_box(local_rank, vsi) +
                              MPIDI_POSIX_ring_global.returns_at);
}

MPL_STATIC_INLINE_PREFIX char *MPIDI_POSIX_ring_cell(int local_rank, int vsi, uint32_t cell)
{
    return MPIDI_POSIX_ring_box(local_rank, vsi) + MPIDI_POSIX_ring_global.cells_at +
        cell * MPIDI_POSIX_ring_global.cell_size;
}

/* In a cell: for the time of its receiver, once that has read the data. The receiver writes it before
 * it gives the cell back, and the owner reads it after it has collected the cell. */
MPL_STATIC_INLINE_PREFIX uint32_t *MPIDI_POSIX_ring_time_at(char *cell)
{
    return (uint32_t *) (cell + MPIDI_POSIX_ring_global.cell_size) - 1;
}

#endif /* POSIX_EAGER_RING_TYPES_H_INCLUDED */
