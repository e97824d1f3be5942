/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_POSTED_H_INCLUDED
#define MPIDI_POSTED_H_INCLUDED

/* The queue of posted operations of a VCI. Any thread posts without waiting; the holder of the VCI
 * issues them in the order of posting. A posted operation is in the request that the user waits on,
 * and the device uses the same request to issue it; a one-sided operation without a request is in a
 * cell of the thread's pool. So posting allocates nothing else. */

#include "vci.h"
#include "op.h"

/* Make op an item for the queue; *req is the request to wait on (IMRECV: in and out the message), not
 * used for an operation without one. Takes references on the communicator and the datatypes, which the
 * caller may free at once; a window stays until its posted operations are issued (issue/rma_sync.h).
 * Wait-free but for the allocation of a cell (op_pool.h). Any thread. Returns NULL without memory. An
 * error of the operation itself is reported at the completion of the request, or by the next
 * synchronization of the window. */
MPIDI_posted_t *MPIDI_posted_make(MPIDI_vci_t * vci, const MPIDI_op_t * op, MPIR_Request ** req);

/* Returns 0 if the queue has no room (post_queue.h): the caller enters the VCI, which issues what the
 * thread has posted before, and calls MPIDI_posted_issue_one. tells: as in post_queue.h. Any thread. */
static inline int MPIDI_posted_push(MPIDI_vci_t * vci, MPIDI_posted_t * item, int tells)
{
    return MPIDI_post_queue_push(&vci->posted, vci->index, &item->node, tells);
}

/* Issue an item that the queue has refused. VCI held. */
void MPIDI_posted_issue_one(MPIDI_vci_t * vci, MPIDI_posted_t * item);

/* Issue at most max operations and return their number. VCI held; never waits. Returns 0 inside an
 * issue: the caller's operation goes behind the others. */
int MPIDI_posted_issue(MPIDI_vci_t * vci, int max);

/* Issue all that was posted before the call, which may include operations of the calling thread. VCI
 * held. Waits for a thread that is between the two stores of its post; that thread needs only a
 * processor. */
void MPIDI_posted_issue_all(MPIDI_vci_t * vci);

#endif /* MPIDI_POSTED_H_INCLUDED */
