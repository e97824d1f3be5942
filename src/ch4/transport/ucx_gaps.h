/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef UCX_GAPS_H_INCLUDED
#define UCX_GAPS_H_INCLUDED

/* Receives whose data do not lie together, which UCX gives back piece by piece. Their state is that of
 * the receive and ends with it: for a state of its own UCX calls no function when a receive is
 * cancelled, so each one from any source that shared memory completes would leave one behind, and keep
 * its datatype for ever. */

#include <ucp/api/ucp.h>

typedef struct MPIDI_UCX_gaps {
    MPIR_Request *rreq;
    void *buf;
    MPI_Aint count;
    MPIR_Datatype *type;        /* with a reference */
} MPIDI_UCX_gaps_t;

/* UCX's type of all such receives, which pass their state as a buffer with one element: in
 * ucx_init_locked.h. */
extern ucp_datatype_t MPIDI_UCX_gaps_type;

/* NULL without memory. */
MPL_STATIC_INLINE_PREFIX MPIDI_UCX_gaps_t *MPIDI_UCX_gaps_new(MPIR_Request * rreq, void *buf,
                                                              MPI_Aint count, MPIR_Datatype * type)
{
    MPIDI_UCX_gaps_t *gaps = MPL_malloc(sizeof(*gaps), MPL_MEM_DATATYPE);

    if (gaps) {
        *gaps = (MPIDI_UCX_gaps_t) {.rreq = rreq,.buf = buf,.count = count,.type = type };
        MPIR_Datatype_ptr_add_ref(type);
    }
    return gaps;
}

/* The receive, which is done but for its completion. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDI_UCX_gaps_free(MPIDI_UCX_gaps_t * gaps)
{
    MPIR_Request *rreq = gaps->rreq;

    MPIR_Datatype_ptr_release(gaps->type);
    MPL_free(gaps);
    return rreq;
}

#endif /* UCX_GAPS_H_INCLUDED */
