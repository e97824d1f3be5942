/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_EVENTS_COMPLETE_H_INCLUDED
#define OFI_EVENTS_COMPLETE_H_INCLUDED

/* For ofi_events.c, whose handlers count an event of a request down, clean up after the last one, and
 * drop the device's reference. From here on the last event is not counted before that reference is
 * dropped, which is when the request completes: the handler cleans up before. The macro takes the
 * member cc_ptr of a request. */

#include "ofi_dynproc.h"

/* *left: the events that are left. With the VCI locked, as all events of req come under it. */
MPL_STATIC_INLINE_PREFIX void MPIDI_OFI_count_but_last(MPIR_Request * req, int *left)
{
    *left = !MPIDI_complete_is_last(req);
    if (*left)
        MPIDI_complete(req);
}

#undef MPIR_cc_decr
#define MPIR_cc_decr(cc_ptr_, left_) \
    MPIDI_OFI_count_but_last(MPL_container_of(&(cc_ptr_), MPIR_Request, cc_ptr), left_)

#undef MPIDI_CH4_REQUEST_FREE
#define MPIDI_CH4_REQUEST_FREE(req_) MPIDI_complete(req_)

#endif /* OFI_EVENTS_COMPLETE_H_INCLUDED */
