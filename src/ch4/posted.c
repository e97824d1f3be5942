/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/complete.h"
#include "threads/op_apply.h"
#include "threads/posted.h"

#define NODE_REQUEST(node_) MPL_container_of(node_, MPIR_Request, dev.threads.node)

/* Issue one posted operation. Here the queue's reference on the request passes to the device: if the
 * operation is complete already (or failed), completing the request drops it, else the device has
 * taken its own. Takes no lock but the VCI, which is held; runs no progress hook. */
static void apply(MPIR_Request * req)
{
    const MPIDI_op_t op = req->dev.threads.op;  /* a completed receive may be reused at once */
    MPIR_Request *used = req;
    int mpi_errno = MPIDI_op_apply(&op, &used);

    if (mpi_errno != MPI_SUCCESS) {
        req->status.MPI_ERROR = mpi_errno;
        MPIDI_complete(req);
    } else if (used != req) {
        /* the netmod needs no request for it: sent */
        MPIR_Assert(MPIR_Request_is_complete(used) && HANDLE_IS_BUILTIN(used->handle));
        MPIDI_complete(req);
    } else {
        MPIR_Request_free(req);
    }
    MPIR_Datatype_release_if_not_builtin(op.datatype);
}

int MPIDI_posted_issue(MPIDI_vci_t * vci, int max)
{
    int n = 0;

    if (vci->draining)
        return 0;
    MPIDI_vci_issue_begin(vci);
    for (; n < max; n++) {
        tsm_swp_node_t *node = MPIDI_post_queue_pop(&vci->posted);
        if (!node)
            break;
        apply(NODE_REQUEST(node));
    }
    MPIDI_vci_issue_end(vci);
    return n;
}

static void apply_node(void *arg, tsm_swp_node_t * node)
{
    apply(NODE_REQUEST(node));
}

void MPIDI_posted_issue_all(MPIDI_vci_t * vci)
{
    if (vci->draining)
        return;
    MPIDI_vci_issue_begin(vci);
    MPIDI_post_queue_take_all(&vci->posted, apply_node, NULL);
    MPIDI_vci_issue_end(vci);
}

void MPIDI_posted_issue_one(MPIDI_vci_t * vci, MPIR_Request * req)
{
    int nested = vci->draining;

    if (!nested)
        MPIDI_vci_issue_begin(vci);
    apply(req);
    if (!nested)
        MPIDI_vci_issue_end(vci);
}

/* Create the request for op, with one reference for the user and one for the queue. */
static MPIR_Request *request_for(MPIDI_vci_t * vci, const MPIDI_op_t * op)
{
    MPIR_Request_kind_t kind =
        op->kind == MPIDI_OP_IRECV ? MPIR_REQUEST_KIND__RECV : MPIR_REQUEST_KIND__SEND;
    MPIR_Request *req = MPIR_Request_create_from_pool(kind, vci->index, 2);

    if (req) {
        req->comm = op->comm;
        MPIR_Comm_add_ref(op->comm);
    }
    return req;
}

int MPIDI_posted_push(MPIDI_vci_t * vci, const MPIDI_op_t * op, MPIR_Request ** req, int *refused)
{
    int mpi_errno = MPI_SUCCESS;

    if (op->kind == MPIDI_OP_IMRECV)
        MPIR_Request_add_ref(*req);
    else
        *req = request_for(vci, op);
    MPIR_ERR_CHKANDSTMT(*req == NULL, mpi_errno, MPIX_ERR_NOREQ, goto fn_fail, "**nomemreq");
    MPIR_Datatype_add_ref_if_not_builtin(op->datatype);
    (*req)->dev.threads.op = *op;
    *refused = !MPIDI_post_queue_push(&vci->posted, vci->index, &(*req)->dev.threads.node);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#endif
