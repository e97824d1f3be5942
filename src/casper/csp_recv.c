/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_direct.h"
#include "csp_envelope.h"
#include "threads/request_done.h"

/* Describe the buffer, and post the receive of op->req. On failure op has no data. */
static int post_recv(csp_post_t * post, void *buf, MPI_Aint count, MPI_Datatype datatype,
                     csp_op_t * op)
{
    int mpi_errno = csp_data_of_recv(buf, count, datatype, &op->data);

    MPIR_ERR_CHECK(mpi_errno);
    post->op = (uint64_t) (uintptr_t) op;
    post->serial = op->serial;
    post->addr = (uint64_t) (uintptr_t) op->data.addr;
    post->bytes = (uint64_t) op->data.bytes;
    csp_direct_mark(post);
    mpi_errno = csp_post(post);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    csp_data_free(&op->data);
    goto fn_exit;
}

/* MPI_Irecv wants a request also when it fails, so this one is complete and has the error. */
static int refuse(MPIR_Comm * comm, int error, MPIR_Request ** req)
{
    *req = csp_request_new(MPIR_REQUEST_KIND__RECV, comm);
    if (!*req)
        return error;
    (*req)->casper = NULL;
    (*req)->status.MPI_ERROR = error;
    MPIDI_complete(*req);
    return MPI_SUCCESS;
}

/* With so much room it would wait at the ghost. If the program has taken the assertion back, its
 * message may be below the threshold, and so come by MPICH, and the two would never meet. */
static int check_room(const MPIR_Comm * comm)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP1(MPIDI_COMM(comm, casper_least) > 0 &&
                         !comm->hints[MPIR_COMM_HINT_EXACT_LENGTH], mpi_errno, MPI_ERR_COUNT,
                         "**arg", "**arg %s", "count (offload_min_msgsz bytes or more, but "
                         "mpi_assert_exact_length is false)");

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_irecv(void *buf, MPI_Aint count, MPI_Datatype datatype, int rank, int tag, MPIR_Comm * comm,
              MPIR_Request ** req)
{
    csp_op_t *op = NULL;
    csp_post_t post = {.kind = CSP_POST_RECV };
    int mpi_errno = check_room(comm);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = csp_envelope_recv(comm, rank, tag, &post);
    MPIR_ERR_CHECK(mpi_errno);
    op = csp_op_begin(MPIR_REQUEST_KIND__RECV, comm, req);
    MPIR_ERR_CHKANDSTMT(!op, mpi_errno, MPIX_ERR_NOREQ, goto fn_fail, "**nomemreq");
    op->rank = rank;
    mpi_errno = post_recv(&post, buf, count, datatype, op);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    if (op)
        csp_op_drop(op);
    mpi_errno = refuse(comm, mpi_errno, req);
    goto fn_exit;
}

/* The message has the operation of its probe, which becomes that of the receive. On failure it is a
 * message as before, which can be received into another buffer. */
int csp_imrecv(void *buf, MPI_Aint count, MPI_Datatype datatype, MPIR_Request * message)
{
    csp_op_t *op = message->casper;
    csp_post_t post = {.kind = CSP_POST_MRECV,.object = op->message };
    int mpi_errno;

    op->req = message;
    mpi_errno = post_recv(&post, buf, count, datatype, op);
    if (mpi_errno) {
        op->req = NULL;
        message->kind = MPIR_REQUEST_KIND__MPROBE;
    }
    return MPIR_Request_error(message, mpi_errno);
}
