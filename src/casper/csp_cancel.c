/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_post.h"

/* The ghost cancels the receive unless it has a message for it; either way it answers. If the receive
 * completes just now, its operation may be another one already, with another serial, which the ghost
 * leaves alone. */
int csp_cancel_recv(MPIR_Request * req)
{
    const csp_op_t *op = req->dev.casper;
    csp_post_t post = {
        .kind = CSP_POST_CANCEL,.object = (uint64_t) (uintptr_t) op,.serial = op->serial
    };

    return MPIR_Request_is_complete(req) ? MPI_SUCCESS : csp_post(&post);
}
