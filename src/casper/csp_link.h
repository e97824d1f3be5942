/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_LINK_H_INCLUDED
#define CSP_LINK_H_INCLUDED

/* MPI's own messages between ghosts, on their communicator. By ghosts. */

#include "csp_world.h"

#define CSP_LINK_ENVELOPE 1     /* tag: csp_outbox.h */
#define CSP_LINK_DATA     16    /* the first of the tags for data (csp_stream.h) */

/* Abort unless mpi_errno is MPI_SUCCESS; what: what this ghost was to do. */
void csp_must(int mpi_errno, const char *what);

MPIR_Request *csp_link_send(const void *buf, size_t bytes, int ghost, int tag);
MPIR_Request *csp_link_send_sync(const void *buf, size_t bytes, int ghost, int tag);
MPIR_Request *csp_link_recv(void *buf, size_t bytes, int ghost, int tag);

/* 1 if the request is complete; then frees it. */
int csp_link_is_done(MPIR_Request ** req);

void csp_link_progress(void);

#endif /* CSP_LINK_H_INCLUDED */
