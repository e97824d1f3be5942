/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_AM_SOURCE_H_INCLUDED
#define OFI_AM_SOURCE_H_INCLUDED

/* What an active message says of its sender, for a VCI: the receiver keeps the number of the next
 * message, and the message that comes in parts, by it. In 4.0.2 it is the address that the sender has
 * in its own table, which process 0 of every MPI_COMM_WORLD has alike. This one no other endpoint has,
 * not even a later one of the same name. Included by ofi_calls.h.
 *
 * The sender numbers its messages by the address that they go to, and libfabric gives the same address
 * to a process that has the name of one that has ended. So what is said to a process begins anew when
 * the two connect (MPIDI_OFI_am_source_renew), and so do the numbers.
 *
 *   MPIDI_OFI_am_source_make   when the endpoint of the VCI has been made
 *   MPIDI_OFI_am_source_to     what a message to an address says; with the VCI held
 *   MPIDI_OFI_am_source_renew  nothing is under way to that process, which belongs to another
 *                              MPI_COMM_WORLD: all that goes there uses VCI 0. No VCI held
 *   MPIDI_OFI_am_source_forget in MPI_Finalize */

extern uint64_t MPIDI_OFI_am_source[MPIDI_OFI_MAX_VNIS];
extern void *MPIDI_OFI_am_renewed;      /* map from addresses to numbers; NULL: none. VCI 0 */

int MPIDI_OFI_am_source_make(int vni);
void MPIDI_OFI_am_source_renew(MPIDI_av_entry_t * av);
void MPIDI_OFI_am_source_forget(void);
uint64_t MPIDI_OFI_am_source_renewed(fi_addr_t addr);

MPL_STATIC_INLINE_PREFIX uint64_t MPIDI_OFI_am_source_to(int vni, fi_addr_t addr)
{
    return likely(vni > 0 || !MPIDI_OFI_am_renewed) ? MPIDI_OFI_am_source[vni] :
        MPIDI_OFI_am_source_renewed(addr);
}

#endif /* OFI_AM_SOURCE_H_INCLUDED */
