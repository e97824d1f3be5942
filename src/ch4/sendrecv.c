/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* MPI_Sendrecv, MPI_Isendrecv and their forms with one buffer: in place of MPICH's sendrecv.c;
 * rewritten. In MPICH a receive from MPI_PROC_NULL wrote its status into a request that all threads
 * share, and had no status in MPI_Isendrecv; that with one buffer sent what it had packed with the type
 * of the unpacked data. The blocking calls wait as MPI_Wait does. */

#include "mpiimpl.h"
#include "threads/request_done.h"

#define PT2PT MPIR_CONTEXT_INTRA_PT2PT

static int start_recv(void *buf, MPI_Aint count, MPI_Datatype datatype, int source, int tag,
                      MPIR_Comm * comm, MPIR_Request ** rreq)
{
    if (likely(source != MPI_PROC_NULL))
        return MPID_Irecv(buf, count, datatype, source, tag, comm, PT2PT, rreq);
    *rreq = MPIR_Request_create_null_recv();
    return MPI_SUCCESS;
}

/* Without the send, the receive that was started before is given up, too. */
static int start_send(const void *buf, MPI_Aint count, MPI_Datatype datatype, int dest, int tag,
                      MPIR_Comm * comm, MPIR_Request ** sreq, MPIR_Request * rreq)
{
    int mpi_errno = MPI_SUCCESS;

    if (unlikely(dest == MPI_PROC_NULL)) {
        *sreq = MPIR_Request_create_complete(MPIR_REQUEST_KIND__SEND);
        return MPI_SUCCESS;
    }
    mpi_errno = MPID_Isend(buf, count, datatype, dest, tag, comm, PT2PT, sreq);
    if (mpi_errno != MPI_SUCCESS) {
        if (mpi_errno == MPIX_ERR_NOREQ)
            MPIR_ERR_SET(mpi_errno, MPI_ERR_OTHER, "**nomem");
        /* or the next message goes to a buffer that is the caller's again */
        if (!MPIR_Request_is_complete(rreq))
            MPID_Cancel_recv(rreq);
        MPIR_Request_free(rreq);
    }
    return mpi_errno;
}

static int are_complete(MPIR_Request * sreq, MPIR_Request * rreq)
{
    return MPIR_Request_is_complete(sreq) && MPIR_Request_is_complete(rreq);
}

/* Wait for both, unless a process has failed that the receive may be from. */
static int wait_for_both(MPIR_Request * sreq, MPIR_Request * rreq)
{
    int mpi_errno = MPIR_Requests_wait_two(sreq, rreq);
    MPID_Progress_state state;

    MPIR_ERR_CHECK(mpi_errno);
    if (are_complete(sreq, rreq))
        goto fn_exit;

    MPID_Progress_start(&state);
    /* from here on a wait notices what other threads complete */
    while (mpi_errno == MPI_SUCCESS && !are_complete(sreq, rreq)) {
        mpi_errno = MPID_Progress_wait(&state);
        if (mpi_errno == MPI_SUCCESS && unlikely(MPIR_Request_is_anysrc_mismatched(rreq))) {
            mpi_errno = MPIR_Request_handle_proc_failed(rreq);
            if (!MPIR_Request_is_complete(sreq)) {
                MPID_Cancel_send(sreq);
                MPIR_STATUS_SET_CANCEL_BIT(sreq->status, FALSE);
            }
            break;
        }
    }
    MPID_Progress_end(&state);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The first error of the two. */
static int error_of(const MPIR_Request * first, const MPIR_Request * second)
{
    return first->status.MPI_ERROR ? first->status.MPI_ERROR : second->status.MPI_ERROR;
}

/* *packed: a copy of the data, which the caller frees; NULL if nothing is to be sent. */
static int pack(const void *buf, MPI_Aint count, MPI_Datatype datatype, int dest, void **packed,
                MPI_Aint * bytes)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Aint size = 0;

    *packed = NULL;
    *bytes = 0;
    if (count <= 0 || dest == MPI_PROC_NULL)
        goto fn_exit;
    MPIR_Pack_size(count, datatype, &size);
    *packed = MPL_malloc(size, MPL_MEM_BUFFER);
    if (*packed == NULL && size > 0) {
        MPIR_CHKMEM_SETERR(mpi_errno, size, "temporary send buffer");
        goto fn_fail;
    }
    mpi_errno = MPIR_Typerep_pack(buf, count, datatype, 0, *packed, size, bytes);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    MPL_free(*packed);
    *packed = NULL;
    goto fn_exit;
}

int MPIR_Sendrecv_impl(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, int dest,
                       int sendtag, void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype,
                       int source, int recvtag, MPIR_Comm * comm_ptr, MPI_Status * status)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *sreq = NULL, *rreq = NULL;

    mpi_errno = start_recv(recvbuf, recvcount, recvtype, source, recvtag, comm_ptr, &rreq);
    if (mpi_errno != MPI_SUCCESS)
        goto fn_exit;
    mpi_errno = start_send(sendbuf, sendcount, sendtype, dest, sendtag, comm_ptr, &sreq, rreq);
    if (mpi_errno != MPI_SUCCESS)
        goto fn_exit;
    mpi_errno = wait_for_both(sreq, rreq);
    if (mpi_errno != MPI_SUCCESS)
        goto fn_exit;

    mpi_errno = error_of(rreq, sreq);
    MPIR_Request_extract_status(rreq, status);
    MPIR_Request_free(rreq);
    MPIR_Request_free(sreq);
  fn_exit:
    return mpi_errno;
}

int MPIR_Sendrecv_replace_impl(void *buf, MPI_Aint count, MPI_Datatype datatype, int dest,
                               int sendtag, int source, int recvtag, MPIR_Comm * comm_ptr,
                               MPI_Status * status)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Request *sreq = NULL, *rreq = NULL;
    void *packed;
    MPI_Aint bytes;

    mpi_errno = pack(buf, count, datatype, dest, &packed, &bytes);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = start_recv(buf, count, datatype, source, recvtag, comm_ptr, &rreq);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = start_send(packed, bytes, MPI_PACKED, dest, sendtag, comm_ptr, &sreq, rreq);
    if (mpi_errno != MPI_SUCCESS)
        goto fn_fail;

    mpi_errno = MPID_Wait(rreq, MPI_STATUS_IGNORE);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPID_Wait(sreq, MPI_STATUS_IGNORE);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_Request_extract_status(rreq, status);
    mpi_errno = error_of(rreq, sreq);
    MPIR_Request_free(sreq);
    MPIR_Request_free(rreq);

  fn_exit:
    MPL_free(packed);
    return mpi_errno;
  fn_fail:
    if (sreq && !MPIR_Request_is_complete(sreq))
        packed = NULL;          /* the send goes on: it reads the copy, which is lost */
    goto fn_exit;
}

/* The nonblocking calls are a receive alone, or a schedule of a send beside a receive, whose status is
 * that of the request. No tag of collectives is used. */
static int free_packed(MPIR_Comm * comm, int tag, void *packed)
{
    MPL_free(packed);
    return MPI_SUCCESS;
}

/* The send is in s. last: called with packed when both have ended, or NULL. */
static int start_with_recv(MPIR_Sched_t s, void *buf, MPI_Aint count, MPI_Datatype datatype, int source,
                           int tag, MPIR_Comm * comm, MPIR_Sched_cb_t * last, void *packed,
                           MPIR_Request ** req)
{
    int mpi_errno = MPIR_Sched_pt2pt_recv(buf, count, datatype, tag, source, comm, s);

    MPIR_ERR_CHECK(mpi_errno);
    if (last) {
        mpi_errno = MPIR_Sched_barrier(s);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = MPIR_Sched_cb(last, packed, s);
        MPIR_ERR_CHECK(mpi_errno);
    }
    mpi_errno = MPIR_Sched_start(s, comm, req);
    MPIR_ERR_CHECK(mpi_errno);
    (*req)->u.nbc.is_pt2pt = 1; /* MPI_Request_free may free it */
  fn_fail:
    return mpi_errno;
}

static int start_both(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, int dest,
                      int sendtag, void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype,
                      int source, int recvtag, MPIR_Comm * comm, MPIR_Sched_cb_t * last, void *packed,
                      MPIR_Request ** req)
{
    MPIR_Sched_t s = MPIR_SCHED_NULL;
    int mpi_errno = MPIR_Sched_create(&s, MPIR_SCHED_KIND_REGULAR);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_Sched_pt2pt_send(sendbuf, sendcount, sendtype, sendtag, dest, comm, s);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = start_with_recv(s, recvbuf, recvcount, recvtype, source, recvtag, comm, last, packed,
                                req);
  fn_fail:
    return mpi_errno;
}

int MPIR_Isendrecv_impl(const void *sendbuf, MPI_Aint sendcount, MPI_Datatype sendtype, int dest,
                        int sendtag, void *recvbuf, MPI_Aint recvcount, MPI_Datatype recvtype,
                        int source, int recvtag, MPIR_Comm * comm_ptr, MPIR_Request ** p_req)
{
    int mpi_errno = unlikely(dest == MPI_PROC_NULL) ?
        start_recv(recvbuf, recvcount, recvtype, source, recvtag, comm_ptr, p_req) :
        start_both(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                   recvtag, comm_ptr, NULL, NULL, p_req);

    MPIR_ERR_CHECK(mpi_errno);
  fn_fail:
    return mpi_errno;
}

int MPIR_Isendrecv_replace_impl(void *buf, MPI_Aint count, MPI_Datatype datatype, int dest,
                                int sendtag, int source, int recvtag, MPIR_Comm * comm_ptr,
                                MPIR_Request ** p_req)
{
    void *packed;
    MPI_Aint bytes;
    int mpi_errno = pack(buf, count, datatype, dest, &packed, &bytes);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = unlikely(dest == MPI_PROC_NULL) ?
        start_recv(buf, count, datatype, source, recvtag, comm_ptr, p_req) :
        start_both(packed, bytes, MPI_PACKED, dest, sendtag, buf, count, datatype, source, recvtag,
                   comm_ptr, &free_packed, packed, p_req);
    MPIR_ERR_CHECK(mpi_errno);
  fn_fail:
    return mpi_errno;
}
