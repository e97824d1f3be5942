/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp_link.h"

void csp_must(int mpi_errno, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];

    if (mpi_errno == MPI_SUCCESS)
        return;
    MPIR_Err_get_string(mpi_errno, text, sizeof(text), NULL);
    csp_fail("ghost %d cannot %s: %s", MPIR_Process.comm_world->rank, what, text);
}

MPIR_Request *csp_link_send(const void *buf, size_t bytes, int ghost, int tag)
{
    MPIR_Request *req = NULL;

    csp_must(MPID_Isend(buf, (MPI_Aint) bytes, MPI_BYTE, ghost, tag, MPIR_Process.comm_world,
                        MPIR_CONTEXT_INTRA_PT2PT, &req), "send");
    return req;
}

MPIR_Request *csp_link_send_sync(const void *buf, size_t bytes, int ghost, int tag)
{
    MPIR_Request *req = NULL;

    csp_must(MPID_Issend(buf, (MPI_Aint) bytes, MPI_BYTE, ghost, tag, MPIR_Process.comm_world,
                         MPIR_CONTEXT_INTRA_PT2PT, &req), "send");
    return req;
}

MPIR_Request *csp_link_recv(void *buf, size_t bytes, int ghost, int tag)
{
    MPIR_Request *req = NULL;

    csp_must(MPID_Irecv(buf, (MPI_Aint) bytes, MPI_BYTE, ghost, tag, MPIR_Process.comm_world,
                        MPIR_CONTEXT_INTRA_PT2PT, &req), "receive");
    return req;
}

int csp_link_is_done(MPIR_Request ** req)
{
    if (!MPIR_Request_is_complete(*req))
        return 0;
    csp_must((*req)->status.MPI_ERROR, "exchange a message");
    MPIR_Request_free(*req);
    *req = NULL;
    return 1;
}

void csp_link_progress(void)
{
    csp_must(MPID_Progress_test(NULL), "make progress");
}
