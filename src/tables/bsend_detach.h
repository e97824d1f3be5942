/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef BSEND_DETACH_H_INCLUDED
#define BSEND_DETACH_H_INCLUDED

/* For bsendutil.c. */

#include "bsend_sent.h"

/* A message takes its header, 88 bytes, and its length, rounded up to this. MPI_BSEND_OVERHEAD, 96, has
 * room for at most 7 bytes more; MPICH rounds up to 16. */
#undef MAX_ALIGNMENT
#define MAX_ALIGNMENT 8

static int MPIR_Bsend_progress(void);

/* The first error of a message since the last MPI_Buffer_detach: any call may find the message sent and
 * free its place. With the mutex of the buffer. */
static int bsend_error;

/* MPI_Buffer_detach, with the mutex of the buffer held: waits for all messages, each without the mutex,
 * since others may send meanwhile, or find the message sent. *err: of waiting, or of a send; returns
 * that of waiting, after which the buffer stays attached, and the error of a send for the next call. */
static int bsend_wait_all(int *err)
{
    int wait_errno = MPI_SUCCESS;

    while (BsendBuffer.active && wait_errno == MPI_SUCCESS) {
        MPIR_Request *req = BsendBuffer.active->request;
        MPIR_Request_add_ref(req);
        MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_BSEND_MUTEX);
        wait_errno = MPID_Wait(req, MPI_STATUS_IGNORE);
        MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_BSEND_MUTEX);
        MPIR_Bsend_progress();
        MPIR_Request_free(req);
    }
    *err = wait_errno;
    if (!wait_errno) {
        *err = bsend_error;
        bsend_error = MPI_SUCCESS;
    }
    return wait_errno;
}

void MPIR_Bsend_free_sent(void)
{
    MPID_THREAD_CS_ENTER(VCI, MPIR_THREAD_VCI_BSEND_MUTEX);
    MPIR_Bsend_progress();
    MPID_THREAD_CS_EXIT(VCI, MPIR_THREAD_VCI_BSEND_MUTEX);
}

#endif /* BSEND_DETACH_H_INCLUDED */
