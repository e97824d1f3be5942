/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ENTER_ONCE_H_INCLUDED
#define MPIDI_ENTER_ONCE_H_INCLUDED

/* A section of an operation whose thread most likely has the VCI already, since the models issue
 * operations with it: 14 instructions less than a section within a section, in MPI_Put. The caller
 * is not entered again meanwhile. */

/* Returns 1 if the VCI must be left again. */
MPL_STATIC_INLINE_PREFIX int MPIDI_enter_once(int vci)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    return MPIR_ThreadInfo.isThreaded && MPIDI_section_enter_once(&MPIDI_VCI(vci).lock);
#else
    return 0;
#endif
}

MPL_STATIC_INLINE_PREFIX void MPIDI_exit_once(int vci, int entered)
{
    if (unlikely(entered))
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vci).lock);
}

#endif /* MPIDI_ENTER_ONCE_H_INCLUDED */
