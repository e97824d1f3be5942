/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_REQUEST_COMPLETE_H_INCLUDED
#define MPIDI_REQUEST_COMPLETE_H_INCLUDED

/* What MPICH's own code calls to complete a request: for ch4_request.h, in place of MPICH's function.
 * The last event of an active message gives back what that has of the request, before the port. */
MPL_STATIC_INLINE_PREFIX int MPID_Request_complete(MPIR_Request * req)
{
    if (MPIDI_complete_is_last(req) && MPIDIG_REQUEST(req, req)) {
        MPIDIG_REQUEST(req, req) = NULL;
        MPIDI_NM_am_request_finalize(req);
#ifndef MPIDI_CH4_DIRECT_NETMOD
        MPIDI_SHM_am_request_finalize(req);
#endif
    }
    MPIDI_complete(req);
    return MPI_SUCCESS;
}

#endif /* MPIDI_REQUEST_COMPLETE_H_INCLUDED */
