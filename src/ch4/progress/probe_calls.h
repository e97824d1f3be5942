/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* ch4_probe.h includes this after MPIDI_improbe and again behind its functions. A message of an
 * offloaded communicator is looked for at the ghost (casper/csp.h), from here on under MPICH's names.
 * MPID_Probe and MPID_Mprobe are ours: they tell the watchdog that they wait, take the lock of the VCI
 * with low priority, as all blocking progress does (TOPC section 6.2), and return at once if the
 * message is there. MPICH's, which are not used, would poll and yield first. A probe polls the VCI that
 * its message comes to, as a test call does, and not all VCIs each time, as in MPICH. One from any
 * source asks the netmod only if a message can come from the network. */

#ifndef MPID_Probe
#include "../direct_recv.h"
#include "../vci_at.h"

MPL_STATIC_INLINE_PREFIX int MPIDI_probe_error(const MPI_Status * status)
{
    return status == MPI_STATUS_IGNORE ? MPI_SUCCESS : status->MPI_ERROR;
}

/* A network fills in the status of the program, or copies one of a request that it has only borrowed;
 * neither is told whether the message was cancelled, which it was not. UCX also sets MPI_ERROR, which
 * was `error` before. */
MPL_STATIC_INLINE_PREFIX int MPIDI_probe_end(int mpi_errno, int flag, int error, MPI_Status * status)
{
    if (mpi_errno == MPI_SUCCESS && flag && status != MPI_STATUS_IGNORE) {
        MPIR_STATUS_SET_CANCEL_BIT(*status, FALSE);
        status->MPI_ERROR = error;
    }
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_iprobe_or_ghost(int source, int tag, MPIR_Comm * comm,
                                                   int context_offset, MPIDI_av_entry_t * av,
                                                   int *flag, MPI_Status * status)
{
    int mpi_errno;
    const int error = MPIDI_probe_error(status);

    if (csp_takes(comm, context_offset))
        return csp_iprobe(source, tag, comm, flag, status);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (source == MPI_ANY_SOURCE && MPIDI_on_one_node())
        return MPIDI_SHM_mpi_iprobe(source, tag, comm, context_offset, flag, status);
#endif
    mpi_errno = MPIDI_iprobe(source, tag, comm, context_offset, av, flag, status);
    return MPIDI_probe_end(mpi_errno, *flag, error, status);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_improbe_or_ghost(int source, int tag, MPIR_Comm * comm,
                                                    int context_offset, MPIDI_av_entry_t * av,
                                                    int *flag, MPIR_Request ** message,
                                                    MPI_Status * status)
{
    int mpi_errno;
    const int error = MPIDI_probe_error(status);

    if (csp_takes(comm, context_offset))
        return csp_improbe(source, tag, comm, flag, message, status);
#ifndef MPIDI_CH4_DIRECT_NETMOD
    if (source == MPI_ANY_SOURCE && MPIDI_on_one_node()) {
        mpi_errno = MPIDI_SHM_mpi_improbe(source, tag, comm, context_offset, flag, message, status);
        if (mpi_errno == MPI_SUCCESS && *flag)
            MPIDI_REQUEST(*message, is_local) = 1;
        return mpi_errno;
    }
#endif
    mpi_errno = MPIDI_improbe(source, tag, comm, context_offset, av, flag, message, status);
#if !defined(MPIDI_CH4_DIRECT_NETMOD) && !defined(HAVE_CH4_NETMOD_UCX)  /* UCX matches by itself */
    if (mpi_errno == MPI_SUCCESS && *flag && source == MPI_ANY_SOURCE)
        MPIDI_message_set_local(*message, comm, (*message)->status.MPI_SOURCE);
#endif
    return MPIDI_probe_end(mpi_errno, *flag, error, status);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_probe_poll(int source, int tag, MPIR_Comm * comm)
{
    return MPIDI_test_vci(!MPIDI_global.is_initialized ? 0 :
                          MPIDI_vci_of(MPIDI_get_vci(DST_VCI_FROM_RECVER, comm, source, comm->rank,
                                                     tag)));
}

#define MPID_Progress_test(state_) MPIDI_probe_poll(source, tag, comm)
#define MPIDI_iprobe MPIDI_iprobe_or_ghost
#define MPIDI_improbe MPIDI_improbe_or_ghost
#define MPID_Probe MPIDI_probe_of_mpich
#define MPID_Mprobe MPIDI_mprobe_of_mpich

#else

#undef MPID_Progress_test
#undef MPID_Probe
#undef MPID_Mprobe

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#define MPIDI_PROBE_IS_LOW(low_) (MPIDI_thread_local.is_low = (low_))
#else
#define MPIDI_PROBE_IS_LOW(low_)
#endif

/* message: NULL for MPI_Probe. */
MPL_STATIC_INLINE_PREFIX int MPIDI_probe_look(int source, int tag, MPIR_Comm * comm,
                                              int context_offset, MPIR_Request ** message,
                                              MPI_Status * status, int *flag)
{
    MPIDI_av_entry_t *av;

    if (MPIDI_is_self_comm(comm))
        return message ?
            MPIDI_Self_improbe(source, tag, comm, context_offset, flag, message, status) :
            MPIDI_Self_iprobe(source, tag, comm, context_offset, flag, status);
    av = source == MPI_ANY_SOURCE ? NULL : MPIDIU_comm_rank_to_av(comm, source);
    return message ?
        MPIDI_improbe_or_ghost(source, tag, comm, context_offset, av, flag, message, status) :
        MPIDI_iprobe_or_ghost(source, tag, comm, context_offset, av, flag, status);
}

/* One turn of a probe that finds nothing. */
MPL_STATIC_INLINE_PREFIX int MPIDI_probe_turn(int source, int tag, MPIR_Comm * comm)
{
    int mpi_errno = MPI_SUCCESS;

    if (!MPIDI_is_self_comm(comm))      /* there, another thread has to send */
        mpi_errno = MPIDI_probe_poll(source, tag, comm);
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    MPIDUI_SECTION(MPIDI_section_rest());
#else
    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
#endif
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_probe_wait(int source, int tag, MPIR_Comm * comm,
                                              int context_offset, MPIR_Request ** message,
                                              MPI_Status * status)
{
    int mpi_errno, flag = 0;

    MPIDI_wait_enter(message ? "MPID_Mprobe" : "MPID_Probe");
    MPIDI_PROBE_IS_LOW(1);
    do {
        mpi_errno = MPIDI_probe_look(source, tag, comm, context_offset, message, status, &flag);
        if (mpi_errno == MPI_SUCCESS && !flag)
            mpi_errno = MPIDI_probe_turn(source, tag, comm);
    } while (mpi_errno == MPI_SUCCESS && !flag);
    MPIDI_PROBE_IS_LOW(0);
    MPIDI_wait_exit();
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPID_Probe(int source, int tag, MPIR_Comm * comm, int context_offset,
                                        MPI_Status * status)
{
    return MPIDI_probe_wait(source, tag, comm, context_offset, NULL, status);
}

MPL_STATIC_INLINE_PREFIX int MPID_Mprobe(int source, int tag, MPIR_Comm * comm, int context_offset,
                                         MPIR_Request ** message, MPI_Status * status)
{
    return MPIDI_probe_wait(source, tag, comm, context_offset, message, status);
}

#endif
