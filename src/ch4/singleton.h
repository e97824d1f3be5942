/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_SINGLETON_H_INCLUDED
#define MPIDI_SINGLETON_H_INCLUDED

#include <stdlib.h>

/* Whether the process was started without mpirun. MPICH's PMI would then start an mpiexec to ask it,
 * and wait for ever to hear from it: Hydra's ends at once, as it does not know the option -pmi_args. */
static inline bool MPIDI_is_singleton(void)
{
#if defined(USE_PMI_PORT) && !defined(USE_PMI2_API) && !defined(USE_PMIX_API)
    return MPIR_Process.size == 1 && !getenv("PMI_FD") && !getenv("PMI_PORT");
#else
    return false;
#endif
}

#endif /* MPIDI_SINGLETON_H_INCLUDED */
