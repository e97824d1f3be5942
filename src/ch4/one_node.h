/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_ONE_NODE_H_INCLUDED
#define MPIDI_ONE_NODE_H_INCLUDED

/* 1 while all processes that this one can hear from are on its node: its job runs there, and it never
 * connected to another one. The network then brings nothing but what MPI_Comm_accept and
 * MPI_Comm_connect exchange. A communicator that was made meanwhile gets all its messages through
 * shared memory, also later. By any thread, wait-free. */
MPL_STATIC_INLINE_PREFIX int MPIDI_on_one_node(void)
{
#ifdef MPIDI_CH4_DIRECT_NETMOD
    return 0;
#else
    return MPIR_Process.num_nodes == 1 && MPIDI_global.avt_mgr.n_avts == 1;
#endif
}

/* 1 while a poll takes well below a microsecond, because it looks into shared memory: MPICH's own, or
 * that of UCX, which polls no more than what connects it to processes (if UCX_TLS names another
 * transport, a poll is longer, and other threads find the VCI held more often). By any thread,
 * wait-free. */
MPL_STATIC_INLINE_PREFIX int MPIDI_polls_briefly(void)
{
#ifdef HAVE_CH4_NETMOD_UCX
    return MPIR_Process.num_nodes == 1 && MPIDI_global.avt_mgr.n_avts == 1;
#else
    return MPIDI_on_one_node();
#endif
}

#endif /* MPIDI_ONE_NODE_H_INCLUDED */
