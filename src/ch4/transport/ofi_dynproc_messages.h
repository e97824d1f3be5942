/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_DYNPROC_MESSAGES_H_INCLUDED
#define OFI_DYNPROC_MESSAGES_H_INCLUDED

/* For ofi_spawn.c, in place of its functions: a message between processes that connect, with a time
 * limit in seconds (0: none); see ofi_dynproc.h. */

#include "ofi_dynproc.h"

/* Wait for a message that libfabric has; MPI_ERR_PORT if it does not complete in time. */
static int dynproc_complete(MPIDI_OFI_dynamic_process_request_t * req, MPL_time_t * start, int timeout,
                            struct fid *endpoint)
{
    do {
        if (MPIDI_OFI_dynproc_turn() != MPI_SUCCESS)
            break;
    } while (!req->done && MPIDI_OFI_dynproc_in_time(start, timeout));
    return req->done > 0 ? MPI_SUCCESS : MPIDI_OFI_dynproc_cancel(req, endpoint);
}

int MPIDI_OFI_dynamic_send(uint64_t remote_gpid, int tag, const void *buf, int size, int timeout)
{
    int mpi_errno = MPI_SUCCESS;
    int avtid = MPIDIU_GPID_GET_AVTID(remote_gpid);
    int lpid = MPIDIU_GPID_GET_LPID(remote_gpid);
    fi_addr_t remote_addr = MPIDI_OFI_av_to_phys(&MPIDIU_get_av(avtid, lpid), 0, 0, 0);
    uint64_t match_bits = MPIDI_OFI_init_sendtag(0, tag, MPIDI_OFI_DYNPROC_SEND);
    MPIDI_OFI_dynamic_process_request_t req;
    MPL_time_t start;

    MPIR_Assert(MPIDI_OFI_ENABLE_TAGGED);
    req.done = 0;
    req.event_id = MPIDI_OFI_EVENT_DYNPROC_DONE;
    MPL_wtime(&start);
    MPIDI_OFI_DYNPROC_POST((fi_tsenddata) (MPIDI_OFI_global.ctx[0].tx, buf, size, NULL, 0, remote_addr,
                                           match_bits, (void *) &req.context), timeout);
    mpi_errno = dynproc_complete(&req, &start, timeout, &MPIDI_OFI_global.ctx[0].tx->fid);
  fn_fail:
    return mpi_errno;
}

int MPIDI_OFI_dynamic_recv(int tag, void *buf, int size, int timeout)
{
    int mpi_errno = MPI_SUCCESS;
    uint64_t mask_bits = 0;
    uint64_t match_bits = MPIDI_OFI_init_recvtag(&mask_bits, 0, tag) | MPIDI_OFI_DYNPROC_SEND;
    MPIDI_OFI_dynamic_process_request_t req;
    MPL_time_t start;

    MPIR_Assert(MPIDI_OFI_ENABLE_TAGGED);
    req.done = 0;
    req.event_id = MPIDI_OFI_EVENT_DYNPROC_DONE;
    MPL_wtime(&start);
    MPIDI_OFI_VCI_CALL_RETRY((fi_trecv) (MPIDI_OFI_global.ctx[0].rx, buf, size, NULL, FI_ADDR_UNSPEC,
                                         match_bits, mask_bits, &req.context), 0, trecv, FALSE);
    mpi_errno = dynproc_complete(&req, &start, timeout, &MPIDI_OFI_global.ctx[0].rx->fid);
  fn_fail:
    return mpi_errno;
}

#endif /* OFI_DYNPROC_MESSAGES_H_INCLUDED */
