/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_post.h"

/* The ghost cancels the receive unless it has a message for it; either way it answers. If the receive
 * completes just now, its operation may be another one already, with another serial. A new serial is
 * read only after the operation was freed, and so after the request was complete (csp_done.c; the lock
 * orders the two); an old one names no operation any more, and the ghost leaves it alone. */
int csp_cancel_recv(MPIR_Request * req)
{
    const csp_op_t *op = req->casper;
    csp_post_t post = {.kind = CSP_POST_CANCEL,.object = (uint64_t) (uintptr_t) op };

    csp_lock();
    post.serial = op->serial;
    csp_unlock();
    return MPIR_Request_is_complete(req) ? MPI_SUCCESS : csp_post(&post);
}
