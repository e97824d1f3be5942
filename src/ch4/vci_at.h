/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_VCI_AT_H_INCLUDED
#define MPIDI_VCI_AT_H_INCLUDED

/* The VCI by its number. gcc would compute the address anew for each field, which costs a tenth of what
 * a model adds to a call; it does not see where this one comes from. */
MPL_STATIC_INLINE_PREFIX MPIDI_per_vci_t *MPIDI_vci_at(int vci)
{
#ifdef __GNUC__
    MPIDI_per_vci_t *v;

  __asm__("": "=r"(v):"0"(&MPIDI_VCI(vci)));
    return v;
#else
    return &MPIDI_VCI(vci);
#endif
}

/* The VCI for a number, the remainder: without a division, which takes longer than all the rest of
 * lockq's fast path, in the case of one VCI. */
MPL_STATIC_INLINE_PREFIX int MPIDI_vci_of(int number)
{
    return MPIDI_global.n_vcis == 1 ? 0 : number % MPIDI_global.n_vcis;
}

/* The pool of the request of a nonblocking collective or another schedule: its number is that of the
 * VCI that has the messages, which MPI_Wait and MPI_Test poll. comm: NULL if a schedule has none. In a
 * session without a communicator of all processes only VCI 0 is ready. */
#define MPIDI_pool_of_comm(comm_) \
    ((comm_) && MPIDI_global.is_initialized ? \
     MPIDI_vci_of(MPIDI_get_vci(SRC_VCI_FROM_SENDER, (comm_), 0, 0, 0)) : 0)

#endif /* MPIDI_VCI_AT_H_INCLUDED */
