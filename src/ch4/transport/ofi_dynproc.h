/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_DYNPROC_H_INCLUDED
#define OFI_DYNPROC_H_INCLUDED

/* A message of dynamic processes, whose request and buffer are on the stack of the thread that waits
 * for it.
 *
 *   MPIDI_OFI_DYNPROC_POST      gives a send to libfabric; MPI_ERR_PORT (to fn_fail) if that has no
 *                               room, or no connection, for timeout seconds (0: for ever)
 *   MPIDI_OFI_dynproc_turn      one turn of a wait. On an error the caller cancels the message.
 *   MPIDI_OFI_dynproc_cancel    in the end, if it did not complete: returns when libfabric is done
 *                               with it: MPI_SUCCESS if it completed after all, else MPI_ERR_PORT
 *   MPIDI_OFI_dynproc_failed    at an error of libfabric: whether it ends such a message */

#include "ofi_impl.h"

#define MPIDI_OFI_DYNPROC_CANCELED (-1)

/* With model global the other threads need the lock meanwhile. */
MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_dynproc_turn(void)
{
    int mpi_errno = MPID_Progress_test(NULL);

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    MPIDI_section_pause();
#else
    MPIDI_PROGRESS_YIELD();
#endif
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX bool MPIDI_OFI_dynproc_in_time(MPL_time_t * start, int timeout)
{
    MPL_time_t now;
    double gap;

    MPL_wtime(&now);
    MPL_wtime_diff(start, &now, &gap);
    return timeout == 0 || gap < (double) timeout;
}

#define MPIDI_OFI_DYNPROC_POST(call_, timeout_) \
    do { \
        MPL_time_t start_; \
        ssize_t ret_; \
        MPL_wtime(&start_); \
        do { \
            MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock); \
            ret_ = call_; \
            MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock); \
        } while (ret_ == -FI_EAGAIN && (mpi_errno = MPIDI_OFI_dynproc_turn()) == MPI_SUCCESS && \
                 MPIDI_OFI_dynproc_in_time(&start_, timeout_)); \
        MPIR_ERR_CHECK(mpi_errno); \
        MPIDI_OFI_ERR(ret_ && ret_ != -FI_EAGAIN, mpi_errno, MPI_ERR_OTHER, "**ofid_tsenddata", \
                      "**ofid_tsenddata %s %d %s %s", __SHORT_FILE__, __LINE__, __func__, \
                      fi_strerror((int) -ret_)); \
        if (ret_) { \
            mpi_errno = MPI_ERR_PORT; \
            goto fn_fail; \
        } \
    } while (0)

MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_dynproc_cancel(MPIDI_OFI_dynamic_process_request_t * req,
                                                      struct fid *endpoint)
{
    /* The result does not matter: a send that cannot be canceled completes. */
    if (!req->done) {
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(0).lock);
        (void) (fi_cancel) (endpoint, &req->context);
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(0).lock);
    }
    while (!req->done)
        (void) MPIDI_OFI_dynproc_turn();        /* an error is of another message */
    return req->done == MPIDI_OFI_DYNPROC_CANCELED ? MPI_ERR_PORT : MPI_SUCCESS;
}

/* An error of libfabric: true if it ends such a message. Truncation, and a probe that finds nothing,
 * are left to MPICH. */
MPL_STATIC_INLINE_PREFIX bool MPIDI_OFI_dynproc_failed(const struct fi_cq_err_entry *error)
{
    MPIR_Request *req;

    if (error->err == FI_ETRUNC || error->err == FI_ENOMSG || !error->op_context)
        return false;
    req = MPIDI_OFI_context_to_request(error->op_context);
    if (MPIDI_OFI_REQUEST(req, event_id) != MPIDI_OFI_EVENT_DYNPROC_DONE)
        return false;
    ((MPIDI_OFI_dynamic_process_request_t *) req)->done = MPIDI_OFI_DYNPROC_CANCELED;
    return true;
}

#endif /* OFI_DYNPROC_H_INCLUDED */
