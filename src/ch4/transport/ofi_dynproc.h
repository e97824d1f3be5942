/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_DYNPROC_H_INCLUDED
#define OFI_DYNPROC_H_INCLUDED

/* The end of a message of dynamic processes that did not complete in time. Its request and buffer are
 * on the stack of a thread that is about to return.
 *
 *   MPIDI_OFI_dynproc_cancel    returns when libfabric is done with the message: MPI_SUCCESS if it
 *                               completed after all, MPI_ERR_PORT if it was canceled
 *   MPIDI_OFI_dynproc_canceled  at the event of a canceled request: whether it was of such a message */

#include "ofi_impl.h"

#define MPIDI_OFI_DYNPROC_CANCELED (-1)

MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_dynproc_cancel(MPIDI_OFI_dynamic_process_request_t * req,
                                                      struct fid *endpoint)
{
    int mpi_errno = MPI_SUCCESS;

    /* The result does not matter: a send that cannot be canceled completes. */
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock);
    (void) fi_cancel(endpoint, &req->context);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock);
    while (!req->done) {
        mpi_errno = MPID_Progress_test(NULL);
        MPIR_ERR_CHECK(mpi_errno);
    }
    if (req->done == MPIDI_OFI_DYNPROC_CANCELED)
        mpi_errno = MPI_ERR_PORT;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

MPL_STATIC_INLINE_PREFIX bool MPIDI_OFI_dynproc_canceled(MPIR_Request * req)
{
    if (MPIDI_OFI_REQUEST(req, event_id) != MPIDI_OFI_EVENT_DYNPROC_DONE)
        return false;
    ((MPIDI_OFI_dynamic_process_request_t *) req)->done = MPIDI_OFI_DYNPROC_CANCELED;
    return true;
}

#endif /* OFI_DYNPROC_H_INCLUDED */
