/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_AM_SOURCE_H_INCLUDED
#define OFI_AM_SOURCE_H_INCLUDED

/* What an active message says of its sender, for a VCI: the receiver keeps the number of the next
 * message, and the message that comes in parts, by it. In 4.0.2 it is the address that the sender has
 * in its own table, which process 0 of every MPI_COMM_WORLD has alike. This one no other endpoint has,
 * not even a later one of the same name. Included by ofi_calls.h. */
extern uint64_t MPIDI_OFI_am_source[MPIDI_OFI_MAX_VNIS];

/* When the endpoint of the VCI has been made. */
int MPIDI_OFI_am_source_make(int vni);

#endif /* OFI_AM_SOURCE_H_INCLUDED */
