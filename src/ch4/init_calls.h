/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_INIT_CALLS_H_INCLUDED
#define MPIDI_INIT_CALLS_H_INCLUDED

/* For ch4_init.c, after mpidimpl.h: what it calls in place of MPICH's functions.
 *
 * mpirun sends SIGUSR1 if a process has failed and the others are to live (-disable-auto-cleanup).
 * MPICH counts these signals, and at each the threads in MPI ask mpirun which process it was, and do
 * nothing with the answer. Two threads may ask at once, and each may take what is for the other, which
 * then waits for ever. The program's own use of the signal did this, too: its handler was called by
 * MPICH's, so the signal was counted, and the handler had no siginfo, other flags and another mask.
 * Here a handler of the program stays as it is, and no signal is counted. Without a handler the signal
 * would end the process, so there is one that does nothing. */

#include <signal.h>
#include "casper/universe.h"

#ifdef HAVE_SIGNAL
typedef void (*MPIDI_sighandler_t) (int);

static void MPIDI_overlook(int sig)
{
}

/* In place of signal in MPID_Init. Returns what leaves MPICH nothing to call, or SIG_ERR. */
static MPIDI_sighandler_t MPIDI_overlook_default(int sig)
{
    struct sigaction now, overlook = {.sa_handler = MPIDI_overlook,.sa_flags = SA_RESTART };

    if (sigaction(sig, NULL, &now) != 0)
        return SIG_ERR;
    if ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
        return SIG_DFL;
    return sigaction(sig, &overlook, NULL) != 0 ? SIG_ERR : SIG_DFL;
}

#define signal(sig_, handler_) MPIDI_overlook_default(sig_)
#endif

#if defined(HAVE_CH4_NETMOD_UCX) && !defined(HAVE_CH4_NETMOD_OFI)
/* UCX's own type of a datatype is an address. MPICH frees it if its lower half is not negative as an
 * int, which depends on where the heap lies; this frees the others. */
static inline int MPIDI_UCX_type_free(MPIR_Datatype * type)
{
    ucp_datatype_t *of_ucx = &type->dev.netmod.ucx.ucp_datatype;

    if (type->is_committed && (int) *of_ucx < 0 && *of_ucx != (ucp_datatype_t) -1) {
        ucp_dt_destroy(*of_ucx);
        *of_ucx = (ucp_datatype_t) -1;
    }
    return MPIDI_UCX_mpi_type_free_hook(type);
}

#define MPIDI_UCX_mpi_type_free_hook(type_) MPIDI_UCX_type_free(type_)
#endif

#endif /* MPIDI_INIT_CALLS_H_INCLUDED */
