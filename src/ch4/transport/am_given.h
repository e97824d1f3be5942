/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef AM_GIVEN_H_INCLUDED
#define AM_GIVEN_H_INCLUDED

#include "enter_once.h"

/* The request of a one-sided operation that goes as an active message: the one in *req_ptr, given by a
 * model that posts operations, with a reference for the device, or a new one. NULL without memory. VCI
 * held. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDIG_request_of(MPIR_Request ** req_ptr,
                                                         MPIR_Request_kind_t kind, int vci)
{
    return req_ptr && *req_ptr ? MPIDIG_request_init(*req_ptr, kind, vci, vci) :
        MPIDIG_request_create(kind, 2, vci, vci);
}

#endif /* AM_GIVEN_H_INCLUDED */
