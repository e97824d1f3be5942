/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include "ch4_issue.h"
#include "tsm/tsm_wait.h"

__thread int MPIDI_tsm_combining __attribute__((tls_model("initial-exec")));

#define DESC_REQUEST(node_) MPL_container_of(node_, MPIR_Request, dev.tsm.node)

/* What the user holds completes: status first, then the counter, then the queue's reference. The
 * decrement publishes the status (MPIR_cc_set would be relaxed); it pairs with the acquiring load of
 * MPIR_Request_is_complete in the thread that waits. */
static void complete_user_request(MPIR_Request * user)
{
    user->dev.tsm.real = NULL;
    MPIR_cc_dec(&user->cc);
    if (user->completion_notification)
        MPIR_cc_dec(user->completion_notification);
    MPIR_Request_free(user);
}

static void fail_user_request(MPIR_Request * user, int mpi_errno)
{
    user->status.MPI_ERROR = mpi_errno;
    complete_user_request(user);
}

/* The netmod's request behind a posted one has completed and its device reference is being
 * dropped: pass status and completion on, and drop the reference that the user would have held.
 * VCI lock held. */
void MPIDI_tsm_complete_user(MPIR_Request * real)
{
    int inuse;
    MPIR_Request *user = real->dev.tsm.user;

    real->dev.tsm.user = NULL;
    user->status = real->status;
    MPIR_Request_release_ref(real, &inuse);
    MPIR_Assert(inuse);
    complete_user_request(user);
}

/* Connect the user's request with the one that the netmod made, or finish it. */
static void adopt(MPIR_Request * user, MPIR_Request * real)
{
    if (MPIR_Request_is_complete(real)) {
        if (!HANDLE_IS_BUILTIN(real->handle)) {
            user->status = real->status;
            MPIR_Request_free(real);
        }
        complete_user_request(user);
    } else {
        user->dev.tsm.real = real;
        real->dev.tsm.user = user;
    }
}

/* Issue one posted operation. VCI lock held; takes no other lock, runs no progress hook. */
static void apply(MPIR_Request * user)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *real = NULL;
    MPIDI_tsm_desc_t *d = &user->dev.tsm;
    MPI_Datatype datatype = d->datatype;

    switch (d->op) {
        case MPIDI_TSM_ISEND:
            mpi_errno = MPIDI_isend_direct(d->buf, d->count, d->datatype, d->rank, d->tag, d->comm,
                                           d->context_offset, d->av, &real);
            break;
        case MPIDI_TSM_ISSEND:
            mpi_errno = MPIDI_issend_direct(d->buf, d->count, d->datatype, d->rank, d->tag, d->comm,
                                            d->context_offset, d->av, &real);
            break;
        case MPIDI_TSM_ISEND_COLL:
            mpi_errno = MPIDI_isend_coll_direct(d->buf, d->count, d->datatype, d->rank, d->tag,
                                                d->comm, d->context_offset, d->av, &real,
                                                &d->errflag);
            break;
        case MPIDI_TSM_IRECV:
            mpi_errno = MPIDI_irecv_direct(d->buf, d->count, d->datatype, d->rank, d->tag, d->comm,
                                           d->context_offset, d->av, &real);
            break;
        case MPIDI_TSM_IMRECV:
            /* the message is a request of the netmod's already, no stand-in */
            mpi_errno = MPIDI_imrecv_direct(d->buf, d->count, d->datatype, user);
            break;
    }

    if (mpi_errno != MPI_SUCCESS)
        fail_user_request(user, mpi_errno);
    else if (d->op == MPIDI_TSM_IMRECV)
        MPIR_Request_free(user);
    else
        adopt(user, real);
    MPIR_Datatype_release_if_not_builtin(datatype);
}

static void drain_begin(MPIDU_workq_t * workq)
{
    workq->draining = 1;
    MPIDI_tsm_combining++;
}

static void drain_end(MPIDU_workq_t * workq)
{
    MPIDI_tsm_combining--;
    workq->draining = 0;
}

/* Issue at most MPIR_CVAR_CH4_MAX_COMBINE posted operations; 1 if the queue is empty then. VCI lock
 * held; never waits. Inside a drain it says 0: the caller's operation goes behind the others. */
int MPIDI_tsm_drain(MPIDU_workq_t * workq)
{
    if (workq->draining)
        return 0;
    drain_begin(workq);
    for (int n = 0; n < MPIR_CVAR_CH4_MAX_COMBINE; n++) {
        tsm_swp_node_t *node = tsm_swp_pop(&workq->queue);
        if (!node)
            break;
        apply(DESC_REQUEST(node));
    }
    drain_end(workq);
    return tsm_swp_is_empty(&workq->queue);
}

/* Issue all that was posted before the call. VCI lock held. Waits for a thread that stands between
 * the two stores of its post, because an operation of ours may be behind it; that thread needs
 * nothing of us. */
void MPIDI_tsm_drain_all(MPIDU_workq_t * workq)
{
    tsm_swp_node_t *last = tsm_swp_tail_snapshot(&workq->queue);
    tsm_swp_node_t *node = NULL;

    if (!last || workq->draining)
        return;
    drain_begin(workq);
    do {
        tsm_wait_until((node = tsm_swp_pop(&workq->queue)) != NULL, TSM_WAIT_POLL);
        apply(DESC_REQUEST(node));
    } while (node != last);
    drain_end(workq);
}

/* The lock was released with operations in the queue: issue them, unless somebody else is at it. */
void MPIDI_tsm_help(MPIDU_Thread_mutex_t * m)
{
    if (!MPIDU_vci_cs_tryenter(m))
        return;
    MPIDI_tsm_drain(m->workq);
    MPIDU_vci_cs_leave(m);
}

static void post(MPIR_Request * req, int vci)
{
    MPIDU_workq_t *workq = &MPIDI_VCI(vci).workq;

    tsm_swp_push(&workq->queue, &req->dev.tsm.node);
    /* the holder may have looked at the queue for the last time just before */
    MPIDI_tsm_help(&MPIDI_VCI(vci).lock);
}

int MPIDI_tsm_post(MPIDI_tsm_op_t op, int vci, const void *buf, MPI_Aint count,
                   MPI_Datatype datatype, int rank, int tag, MPIR_Comm * comm,
                   int context_offset, MPIDI_av_entry_t * av, MPIR_Errflag_t errflag,
                   MPIR_Request ** req)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request_kind_t kind =
        op == MPIDI_TSM_IRECV ? MPIR_REQUEST_KIND__RECV : MPIR_REQUEST_KIND__SEND;
    /* two references: the user's and the queue's */
    MPIR_Request *user = MPIR_Request_create_from_pool(kind, vci, 2);

    MPIR_ERR_CHKANDSTMT(user == NULL, mpi_errno, MPIX_ERR_NOREQ, goto fn_fail, "**nomemreq");
    user->comm = comm;
    MPIR_Comm_add_ref(comm);
    MPIR_Datatype_add_ref_if_not_builtin(datatype);

    MPIDI_tsm_desc_t *d = &user->dev.tsm;
    d->op = op;
    d->buf = (void *) buf;
    d->count = count;
    d->datatype = datatype;
    d->rank = rank;
    d->tag = tag;
    d->comm = comm;
    d->context_offset = context_offset;
    d->av = av;
    d->errflag = errflag;
    *req = user;
    post(user, vci);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int MPIDI_tsm_post_imrecv(int vci, void *buf, MPI_Aint count, MPI_Datatype datatype,
                          MPIR_Request * message)
{
    MPIDI_tsm_desc_t *d = &message->dev.tsm;

    MPIR_Request_add_ref(message);
    MPIR_Datatype_add_ref_if_not_builtin(datatype);
    d->op = MPIDI_TSM_IMRECV;
    d->buf = buf;
    d->count = count;
    d->datatype = datatype;
    post(message, vci);
    return MPI_SUCCESS;
}

#endif
