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

/* In MPICH's functions that send such an operation, which follow in mpidig_rma.h and have the request
 * that is given in sreq_ptr; am_rma_calls.h, behind them, gives the name back. */
#define MPIDIG_request_create(kind_, refs_, vci_, peer_vci_) MPIDIG_request_of(sreq_ptr, kind_, vci_)

#endif /* AM_GIVEN_H_INCLUDED */
