/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "threads/complete.h"
#include "threads/op_apply.h"
#include "threads/op_pool.h"
#include "threads/posted.h"
#include "threads/stats/hooks.h"

#define NODE_ITEM(node_) (MPL_container_of(node_, MPIDI_posted_t, node))
#define ITEM_REQUEST(item_) (MPL_container_of(item_, MPIR_Request, dev.threads.posted))
#define ITEM_CELL(item_) (MPL_container_of(item_, MPIDI_op_cell_t, posted))

/* MPI ignores the origin's datatype with MPI_NO_OP, so it may be anything. */
static MPI_Datatype origin_type(const MPIDI_op_t * op)
{
    return MPIDI_op_is_rma(op->kind) && op->op == MPI_NO_OP ? MPI_DATATYPE_NULL : op->datatype;
}

static void add_refs(const MPIDI_op_t * op)
{
    MPIR_Datatype_add_ref_if_not_builtin(origin_type(op));
    if (MPIDI_op_is_rma(op->kind)) {
        MPIR_Datatype_add_ref_if_not_builtin(op->target_datatype);
        MPIR_Datatype_add_ref_if_not_builtin(op->result_datatype);
    }
}

static void release_refs(const MPIDI_op_t * op)
{
    MPIR_Datatype_release_if_not_builtin(origin_type(op));
    if (MPIDI_op_is_rma(op->kind)) {
        MPIR_Datatype_release_if_not_builtin(op->target_datatype);
        MPIR_Datatype_release_if_not_builtin(op->result_datatype);
    }
}

/* The device has another request for the operation than the one given, and it is complete: it has
 * needed none. */
static void drop_complete(MPIR_Request * used)
{
    MPIR_Assert(MPIR_Request_is_complete(used));
    if (!HANDLE_IS_BUILTIN(used->handle))
        MPIR_Request_free(used);
}

/* Here the queue's reference on the request passes to the device: if the operation is complete already
 * (or failed), completing the request drops it, else the device has taken its own. */
static int apply_request(MPIR_Request * req)
{
    const MPIDI_op_t op = MPIDI_op_copy(&req->dev.threads.posted.op);   /* req may be reused at once */
    MPIR_Request *used = req;
    int mpi_errno = MPIDI_op_apply_any(&op, &used);

    if (mpi_errno != MPI_SUCCESS) {
        /* the device may have counted what it has not started; if it has also taken a reference,
         * the request is lost, but it is never reused */
        MPIR_cc_set(req->cc_ptr, 1);
        req->status.MPI_ERROR = mpi_errno;
        MPIR_STATUS_SET_COUNT(req->status, 0);
        MPIDI_complete(req);
    } else if (used != req) {
        drop_complete(used);
        MPIDI_complete(req);
    } else {
        MPIR_Request_free(req);
    }
    release_refs(&op);
    return mpi_errno;
}

static int apply_cell(MPIDI_op_cell_t * cell)
{
    const MPIDI_op_t op = cell->posted.op;
    MPIR_Request *none = NULL;
    int no_error = MPI_SUCCESS;
    int mpi_errno = MPIDI_op_apply_any(&op, &none);

    MPIDI_op_pool_put(cell);
    if (mpi_errno != MPI_SUCCESS)
        tsm_cas(&MPIDI_WIN(op.win, threads).error, &no_error, mpi_errno, TSM_RELAXED, TSM_RELAXED);
    release_refs(&op);
    return mpi_errno;
}

/* Ask for the lines of the operation behind one of this kind, which its thread has written: else the
 * holder of the VCI waits for them with each operation. It writes to the request as it issues it. */
static void prefetch_next(const MPIDI_vci_t * vci, MPIDI_op_kind_t kind)
{
    tsm_swp_node_t *next = MPIDI_post_queue_next(&vci->posted);

    if (!next)
        return;
    __builtin_prefetch(next);
    if (MPIDI_op_has_request(kind))     /* as the next one, too, probably */
        tsm_prefetch_write(&ITEM_REQUEST(NODE_ITEM(next))->cc);
}

/* Issue one posted operation. Takes no lock but the VCI, which is held; runs no progress hook. */
static void apply(MPIDI_vci_t * vci, MPIDI_posted_t * item)
{
    const int depth = MPIDI_VCI(vci->index).lock.count;
    int mpi_errno;

    prefetch_next(vci, item->op.kind);
    mpi_errno = MPIDI_op_has_request(item->op.kind) ? apply_request(ITEM_REQUEST(item)) :
        apply_cell(ITEM_CELL(item));
    if (unlikely(mpi_errno != MPI_SUCCESS))
        MPIDI_VCI(vci->index).lock.count = depth;       /* MPICH may fail inside the section */
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
        apply(vci, NODE_ITEM(node));
    }
    MPIDI_vci_issue_end(vci);
    MPIDI_STATS(MPIDI_stats_taken(vci, (uint64_t) n));
    return n;
}

typedef struct {
    MPIDI_vci_t *vci;
    int n;                      /* operations taken so far */
} taking_t;

static void apply_node(void *arg, tsm_swp_node_t * node)
{
    taking_t *taking = arg;

    apply(taking->vci, NODE_ITEM(node));
    taking->n++;
}

void MPIDI_posted_issue_all(MPIDI_vci_t * vci)
{
    taking_t taking = {.vci = vci,.n = 0 };

    if (vci->draining)
        return;
    MPIDI_vci_issue_begin(vci);
    MPIDI_post_queue_take_all(&vci->posted, apply_node, &taking);
    MPIDI_vci_issue_end(vci);
    MPIDI_STATS(MPIDI_stats_taken(vci, (uint64_t) taking.n));
}

void MPIDI_posted_issue_one(MPIDI_vci_t * vci, MPIDI_posted_t * item)
{
    int nested = vci->draining;

    if (!nested)
        MPIDI_vci_issue_begin(vci);
    apply(vci, item);
    if (!nested)
        MPIDI_vci_issue_end(vci);
}

/* Create the request for op, with one reference for the user and one for the queue. */
static MPIR_Request *request_for(MPIDI_vci_t * vci, const MPIDI_op_t * op)
{
    MPIR_Request_kind_t kind = op->kind == MPIDI_OP_IRECV ? MPIR_REQUEST_KIND__RECV :
        MPIDI_op_is_rma(op->kind) ? MPIR_REQUEST_KIND__RMA : MPIR_REQUEST_KIND__SEND;
    MPIR_Request *req = MPIR_Request_create_from_pool(kind, vci->index, 2);

    if (req && !MPIDI_op_is_rma(op->kind)) {
        req->comm = op->comm;
        MPIR_Comm_add_ref(op->comm);
    }
    return req;
}

static MPIDI_posted_t *cell_for(void)
{
    MPIDI_op_cell_t *cell = MPIDI_op_pool_get();

    return cell ? &cell->posted : NULL;
}

MPIDI_posted_t *MPIDI_posted_make(MPIDI_vci_t * vci, const MPIDI_op_t * op, MPIR_Request ** req)
{
    MPIDI_posted_t *item;

    if (!MPIDI_op_has_request(op->kind)) {
        item = cell_for();
    } else {
        if (op->kind == MPIDI_OP_IMRECV)
            MPIR_Request_add_ref(*req);
        else
            *req = request_for(vci, op);
        item = *req ? &(*req)->dev.threads.posted : NULL;
    }
    if (item) {
        item->op = MPIDI_op_copy(op);
        add_refs(op);
    }
    return item;
}

#endif
