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
 * thread. When the FIFO is full, the sender queues the message inside UCX, which costs it as much
 * again; with 8 receiving threads, whose processor goes from one to the next, it is always full. Each
 * element comes with a buffer of 8 KB: 2 MB a process. */
#define MPIDI_TSM_UCX_FIFO_SIZE "256"

/* Before ucp_init, in a process that asks for MPI_THREAD_MULTIPLE. What the user has set stays, and
 * who has chosen the transports may have left shared memory out, of which UCX would complain. */
static inline ucs_status_t MPIDI_tsm_ucx_config(ucp_config_t * config)
{
    static const char *const settings[] = { "UCX_TLS", "UCX_MM_FIFO_SIZE", "UCX_POSIX_FIFO_SIZE",
        "UCX_SYSV_FIFO_SIZE", "UCX_XPMEM_FIFO_SIZE"
    };

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (getenv(settings[i]))
            return UCS_OK;
    }
    return ucp_config_modify(config, "MM_FIFO_SIZE", MPIDI_TSM_UCX_FIFO_SIZE);
}

#endif /* CH4_UCX_H_INCLUDED */
