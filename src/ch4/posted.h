/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_POSTED_H_INCLUDED
#define MPIDI_POSTED_H_INCLUDED

/* The queue of posted operations of a VCI. Any thread posts without waiting; the holder of the VCI
 * issues them in the order of posting. A posted operation is in the request that the user waits on,
 * and the device uses the same request to issue it, so posting allocates nothing else. */

#include "vci.h"
#include "op.h"

/* Post op; *req is the request to wait on (IMRECV: in and out the message). Takes references on the
 * communicator and the datatype, which the caller may free at once. Wait-free but for the request's
 * allocation, with SWP (post_queue.h). Any thread. An error of the operation itself is reported at its
 * completion. *refused: the queue has no room; the caller enters the VCI, which issues what the thread
 * has posted before, and calls MPIDI_posted_issue_one. */
int MPIDI_posted_push(MPIDI_vci_t * vci, const MPIDI_op_t * op, MPIR_Request ** req, int *refused);

/* Issue the operation of *req, which the queue has refused. VCI held. */
void MPIDI_posted_issue_one(MPIDI_vci_t * vci, MPIR_Request * req);

/* Issue at most max operations and return their number. VCI held; never waits. Returns 0 inside an
 * issue: the caller's operation goes behind the others. */
int MPIDI_posted_issue(MPIDI_vci_t * vci, int max);

/* Issue all that was posted before the call, which may include operations of the calling thread. VCI
 * held. Waits for a thread that is between the two stores of its post; that thread needs only a
 * processor. */
void MPIDI_posted_issue_all(MPIDI_vci_t * vci);

#endif /* MPIDI_POSTED_H_INCLUDED */
