/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef BSEND_DETACH_H_INCLUDED
#define BSEND_DETACH_H_INCLUDED

/* For bsendutil.c. */

static int MPIR_Bsend_progress(void);

/* MPI_Buffer_detach, with the mutex of the buffer held: waits for all messages, each without the mutex,
 * since others may send meanwhile, or find the message sent. *err: of waiting, or of a send; returns
 * that of waiting. */
static int bsend_wait_all(int *err)
{
    while (BsendBuffer.active) {
        MPIR_Request *req = BsendBuffer.active->request;
        MPIR_Request_add_ref(req);
        MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_BSEND_MUTEX);
        int wait_errno = MPID_Wait(req, MPI_STATUS_IGNORE);
        MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_BSEND_MUTEX);
        int send_errno = wait_errno ? wait_errno : req->status.MPI_ERROR;
        *err = *err ? *err : send_errno;
        MPIR_Bsend_progress();
        MPIR_Request_free(req);
        if (wait_errno)
            return wait_errno;
    }
    return MPI_SUCCESS;
}

#endif /* BSEND_DETACH_H_INCLUDED */
