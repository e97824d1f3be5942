/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_UCX_H_INCLUDED
#define CH4_UCX_H_INCLUDED

/* Settings of UCX for many threads. Included by ucx_init.c. */

#include <stdlib.h>
#include <ucp/api/ucp.h>

/* Messages that UCX's shared memory holds for a process. Its own default, 64, is one window of one
 * thread. When the FIFO is full, the sender queues the message inside UCX, which is slower, and with
 * several receiving threads, whose processor goes from one to the next, it often is. 256 cost 0.1 MB
 * of shared memory more for two processes (UCX 1.13; its receive buffers are a pool of 4 MB anyway). */
#define MPIDI_TSM_UCX_FIFO_SIZE "256"

/* Before ucp_init, by the thread that initializes MPI, in a process that asks for
 * MPI_THREAD_MULTIPLE. What the user has set stays, and who has chosen the transports may have left
 * shared memory out, of which UCX would complain. Only a hint: a UCX that does not take settings of
 * transports here (before 1.12) refuses it, and goes on with its own. */
static inline void MPIDI_tsm_ucx_config(ucp_config_t * config)
{
    static const char *const settings[] = { "UCX_TLS", "UCX_MM_FIFO_SIZE", "UCX_POSIX_FIFO_SIZE",
        "UCX_SYSV_FIFO_SIZE", "UCX_XPMEM_FIFO_SIZE"
    };

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (getenv(settings[i]))
            return;
    }
    (void) ucp_config_modify(config, "MM_FIFO_SIZE", MPIDI_TSM_UCX_FIFO_SIZE);
}

#endif /* CH4_UCX_H_INCLUDED */
