/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_POSTPONED_H_INCLUDED
#define MPIDI_POSTPONED_H_INCLUDED

/* Messages of one VCI that found no room in shared memory: a FIFO for each VCI of each process of the
 * node, so that a receiver that computes delays no message to another one. The functions are in
 * postponed_to.h. With the VCI held. */
typedef struct MPIDI_postponed_fifo {
    MPIDI_POSIX_am_request_header_t *first;
    struct MPIDI_postponed_fifo *prev, *next;   /* the FIFOs that are not empty */
} MPIDI_postponed_fifo_t;

typedef struct {
    MPIDI_postponed_fifo_t *all;        /* [local rank * num_vsis + vsi]; NULL until a message waits */
    MPIDI_postponed_fifo_t *waiting;    /* those that are not empty */
} MPIDI_postponed_t;

#endif /* MPIDI_POSTPONED_H_INCLUDED */
