/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Messages of a process to itself on a communicator of one process (MPI_COMM_SELF and the like): in
 * place of MPICH's ch4_self.c. A send or a receive that finds no partner waits in a queue; its partner
 * copies the data and completes both. One mutex guards both queues, and is not held while data is
 * copied: then the request is in no queue any more, and only the thread that took it out completes it.
 * A queue holds a reference on its requests, which MPIDI_complete drops: the user may free a send that
 * waits. The rank is always 0. */

#include "mpidimpl.h"
#include "threads/stats/hooks.h"
#include "utlist.h"

static MPID_Thread_mutex_t MPIDIU_THREAD_SELF_MUTEX;
static MPIR_Request *self_sends;
static MPIR_Request *self_recvs;

int MPIDI_Self_init(void)
{
    int err;

    MPID_Thread_mutex_create(&MPIDIU_THREAD_SELF_MUTEX, &err);
    MPIR_Assert(err == 0);
    return MPI_SUCCESS;
}

int MPIDI_Self_finalize(void)
{
    int err;

    MPID_Thread_mutex_destroy(&MPIDIU_THREAD_SELF_MUTEX, &err);
    MPIR_Assert(err == 0);
    MPIR_Assert(self_sends == NULL && self_recvs == NULL);
    return MPI_SUCCESS;
}

/* An error of the request goes to the handler of its communicator. */
static void set_comm(MPIR_Request * req, MPIR_Comm * comm)
{
    req->comm = comm;
    MPIR_Comm_add_ref(comm);
}

/* ---- queues; with the mutex ---- */

static void enqueue(MPIR_Request ** queue, MPIR_Request * req, const void *buf, MPI_Aint count,
                    MPI_Datatype datatype, int tag, MPIR_Comm * comm, int context_id)
{
    MPIDI_self_request_t *self = &req->dev.ch4.self;

    self->buf = (char *) buf;
    self->count = count;
    self->datatype = datatype;
    self->tag = tag;
    self->context_id = context_id;
    set_comm(req, comm);
    MPIR_Datatype_add_ref_if_not_builtin(datatype);
    MPIR_Request_add_ref(req);
    DL_APPEND(*queue, req);
}

/* The first of the queue that matches, or NULL. */
static MPIR_Request *find(MPIR_Request * queue, int tag, int context_id)
{
    MPIR_Request *req;

    DL_FOREACH(queue, req) {
        const MPIDI_self_request_t *self = &req->dev.ch4.self;
        if (self->context_id == context_id &&
            (self->tag == tag || self->tag == MPI_ANY_TAG || tag == MPI_ANY_TAG))
            break;
    }
    return req;
}

static MPIR_Request *dequeue(MPIR_Request ** queue, int tag, int context_id)
{
    MPIR_Request *req = find(*queue, tag, context_id);

    if (req)
        DL_DELETE(*queue, req);
    return req;
}

/* ---- data ---- */

static MPI_Aint bytes(MPI_Aint count, MPI_Datatype datatype)
{
    MPI_Aint size;

    MPIR_Datatype_get_size_macro(datatype, size);
    return size * count;
}

static void set_status(MPI_Status * status, int tag, MPI_Aint count)
{
    status->MPI_SOURCE = 0;
    status->MPI_TAG = tag;
    MPIR_STATUS_SET_COUNT(*status, count);
    MPIR_STATUS_SET_CANCEL_BIT(*status, FALSE);
}

/* Copies a message; status: of the receive. */
static void copy(const void *sbuf, MPI_Aint scount, MPI_Datatype stype, void *rbuf, MPI_Aint rcount,
                 MPI_Datatype rtype, MPI_Status * status, int tag)
{
    MPI_Aint sent = bytes(scount, stype), room = bytes(rcount, rtype);
    int mpi_errno = MPI_SUCCESS;

    MPIR_Localcopy(sbuf, scount, stype, rbuf, rcount, rtype);
    if (sent > room)
        mpi_errno = MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
                                         MPI_ERR_TRUNCATE, "**truncate", "**truncate %d %d %d %d",
                                         0, tag, (int) MPL_MIN(sent, INT_MAX),
                                         (int) MPL_MIN(room, INT_MAX));
    set_status(status, tag, sent > room ? room : sent);
    status->MPI_ERROR = mpi_errno;
}

/* The same from a send that was in the queue; completes it. */
static void take(MPIR_Request * sreq, void *buf, MPI_Aint count, MPI_Datatype datatype,
                 MPI_Status * status)
{
    MPIDI_self_request_t *self = &sreq->dev.ch4.self;

    copy(self->buf, self->count, self->datatype, buf, count, datatype, status, self->tag);
    MPIR_Datatype_release_if_not_builtin(self->datatype);
    MPIDI_complete(sreq);
}

/* ---- calls ---- */

int MPIDI_Self_isend(const void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag,
                     MPIR_Comm * comm, int context_offset, MPIR_Request ** request)
{
    int context_id = comm->context_id + context_offset;
    MPIR_Request *rreq;
    MPIR_FUNC_ENTER;

    MPIDI_STATS(MPIDI_stats_issued(MPIDI_STATS_DIRECT, MPIDI_STATS_SEND));
    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_SELF_MUTEX);
    rreq = dequeue(&self_recvs, tag, context_id);
    if (rreq == NULL) {
        *request = MPIR_Request_create(MPIR_REQUEST_KIND__SEND);
        enqueue(&self_sends, *request, buf, count, datatype, tag, comm, context_id);
    }
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_SELF_MUTEX);

    if (rreq) {
        MPIDI_self_request_t *self = &rreq->dev.ch4.self;
        copy(buf, count, datatype, self->buf, self->count, self->datatype, &rreq->status, tag);
        MPIR_Datatype_release_if_not_builtin(self->datatype);
        MPIDI_complete(rreq);
        *request = MPIR_Request_create_complete(MPIR_REQUEST_KIND__SEND);
    }

    MPIR_FUNC_EXIT;
    return MPI_SUCCESS;
}

int MPIDI_Self_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag,
                     MPIR_Comm * comm, int context_offset, MPIR_Request ** request)
{
    int context_id = comm->context_id + context_offset;
    MPIR_Request *sreq, *rreq;
    MPIR_FUNC_ENTER;

    MPIDI_STATS(MPIDI_stats_issued(MPIDI_STATS_DIRECT, MPIDI_STATS_RECV));
    rreq = MPIR_Request_create(MPIR_REQUEST_KIND__RECV);
    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_SELF_MUTEX);
    sreq = dequeue(&self_sends, tag, context_id);
    if (sreq == NULL)
        enqueue(&self_recvs, rreq, buf, count, datatype, tag, comm, context_id);
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_SELF_MUTEX);

    if (sreq) {
        take(sreq, buf, count, datatype, &rreq->status);
        if (unlikely(rreq->status.MPI_ERROR))
            set_comm(rreq, comm);
        MPIR_cc_set(&rreq->cc, 0);
    }

    *request = rreq;
    MPIR_FUNC_EXIT;
    return MPI_SUCCESS;
}

static void probe_status(const MPIR_Request * sreq, MPI_Status * status)
{
    const MPIDI_self_request_t *self = &sreq->dev.ch4.self;

    if (status != MPI_STATUS_IGNORE)
        set_status(status, self->tag, bytes(self->count, self->datatype));
}

int MPIDI_Self_iprobe(int rank, int tag, MPIR_Comm * comm, int context_offset, int *flag,
                      MPI_Status * status)
{
    MPIR_Request *sreq;
    MPIR_FUNC_ENTER;

    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_SELF_MUTEX);
    sreq = find(self_sends, tag, comm->context_id + context_offset);
    *flag = sreq != NULL;
    if (sreq)
        probe_status(sreq, status);
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_SELF_MUTEX);

    MPIR_FUNC_EXIT;
    return MPI_SUCCESS;
}

int MPIDI_Self_improbe(int rank, int tag, MPIR_Comm * comm, int context_offset, int *flag,
                       MPIR_Request ** message, MPI_Status * status)
{
    MPIR_Request *sreq;
    MPIR_FUNC_ENTER;

    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_SELF_MUTEX);
    sreq = dequeue(&self_sends, tag, comm->context_id + context_offset);
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_SELF_MUTEX);

    *flag = sreq != NULL;
    if (sreq) {
        probe_status(sreq, status);
        *message = MPIR_Request_create(MPIR_REQUEST_KIND__MPROBE);
        (*message)->dev.ch4.self.match_req = sreq;
        set_comm(*message, comm);       /* MPI_Mrecv looks at it, too */
    }

    MPIR_FUNC_EXIT;
    return MPI_SUCCESS;
}

int MPIDI_Self_imrecv(char *buf, MPI_Aint count, MPI_Datatype datatype, MPIR_Request * message,
                      MPIR_Request ** request)
{
    MPIR_FUNC_ENTER;

    MPIDI_STATS(MPIDI_stats_issued(MPIDI_STATS_DIRECT, MPIDI_STATS_RECV));
    message->kind = MPIR_REQUEST_KIND__RECV;
    take(message->dev.ch4.self.match_req, buf, count, datatype, &message->status);
    MPIR_cc_set(&message->cc, 0);

    *request = message;
    MPIR_FUNC_EXIT;
    return MPI_SUCCESS;
}

/* Cancels a request that is still in its queue. */
int MPIDI_Self_cancel(MPIR_Request * request)
{
    MPIR_Request **queue = request->kind == MPIR_REQUEST_KIND__SEND ? &self_sends : &self_recvs;
    MPIR_Request *req;
    MPIR_FUNC_ENTER;

    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_SELF_MUTEX);
    DL_FOREACH(*queue, req) {
        if (req == request)
            break;
    }
    if (req)
        DL_DELETE(*queue, req);
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_SELF_MUTEX);

    if (req) {
        MPIR_Datatype_release_if_not_builtin(req->dev.ch4.self.datatype);
        MPIR_STATUS_SET_CANCEL_BIT(req->status, TRUE);
        MPIR_STATUS_SET_COUNT(req->status, 0);
        MPIDI_complete(req);
    }

    MPIR_FUNC_EXIT;
    return MPI_SUCCESS;
}
