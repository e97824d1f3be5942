/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef UCX_GIVEN_H_INCLUDED
#define UCX_GIVEN_H_INCLUDED

/* The request of a one-sided operation over UCX: given by a model that posts operations, or a new one.
 * MPICH reads NULL, after it has issued an operation, as "complete, no request"; so the given one is
 * taken out of its variable first, and put back if the operation needs it. */

#include "ucx_impl.h"

/* Returns the request in *reqptr and leaves NULL there; NULL if there is none. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDI_UCX_take_given(MPIR_Request ** reqptr)
{
    MPIR_Request *given = NULL;

    if (reqptr) {
        given = *reqptr;
        *reqptr = NULL;
    }
    return given;
}

/* Returns the request that the operation will complete, with a reference for UCX, or NULL without
 * memory. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDI_UCX_rma_request(MPIR_Request * given, int vni)
{
    if (!given)
        return MPIR_Request_create_from_pool(MPIR_REQUEST_KIND__RMA, vni, 2);
    MPIR_Request_add_ref(given);
    return given;
}

#endif /* UCX_GIVEN_H_INCLUDED */
