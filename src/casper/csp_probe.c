/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "csp.h"
#include "csp_envelope.h"

static int ask(uint32_t kind, int rank, int tag, MPIR_Comm * comm, csp_op_t ** op)
{
    csp_post_t post = {.kind = kind };
    int mpi_errno = csp_envelope_recv(comm, rank, tag, &post);

    return mpi_errno ? mpi_errno : csp_ask(&post, op);
}

static int has_found(csp_op_t * op, int rank, MPI_Status * status)
{
    csp_answer_t *answer = &op->answer;

    if (!(answer->flags & CSP_ANSWER_FOUND))
        return 0;
    csp_envelope_read(rank, answer);
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = answer->source;
        status->MPI_TAG = answer->tag;
        MPIR_STATUS_SET_COUNT(*status, (MPI_Aint) answer->bytes);
        MPIR_STATUS_SET_CANCEL_BIT(*status, FALSE);
    }
    return 1;
}

/* Messages below a threshold and above it take two ways, so nobody can tell which one comes first. */
static int check_threshold(MPIR_Comm * comm)
{
    int mpi_errno = MPI_SUCCESS;

    MPIR_ERR_CHKANDJUMP1(MPIDI_COMM(comm, casper_least) > 0, mpi_errno, MPI_ERR_OTHER, "**notimpl",
                         "**notimpl %s", "a probe of a communicator with offload_min_msgsz");

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_iprobe(int rank, int tag, MPIR_Comm * comm, int *flag, MPI_Status * status)
{
    csp_op_t *op;
    int mpi_errno = check_threshold(comm);

    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = ask(CSP_POST_PROBE, rank, tag, comm, &op);
    MPIR_ERR_CHECK(mpi_errno);
    *flag = has_found(op, rank, status);
    csp_op_free(op);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

/* The message keeps the operation, for csp_imrecv. The request is made first, so that nothing that is
 * found is lost. */
int csp_improbe(int rank, int tag, MPIR_Comm * comm, int *flag, MPIR_Request ** message,
                MPI_Status * status)
{
    MPIR_Request *req = NULL;
    csp_op_t *op;
    int mpi_errno = check_threshold(comm);

    MPIR_ERR_CHECK(mpi_errno);
    req = csp_request_new(MPIR_REQUEST_KIND__MPROBE, comm);
    MPIR_ERR_CHKANDSTMT(!req, mpi_errno, MPIX_ERR_NOREQ, goto fn_fail, "**nomemreq");
    mpi_errno = ask(CSP_POST_MPROBE, rank, tag, comm, &op);
    MPIR_ERR_CHECK(mpi_errno);
    *flag = has_found(op, rank, status);
    if (*flag) {
        req->casper = op;
        op->message = op->answer.object;
        op->rank = rank;
        *message = req;
    } else {
        csp_op_free(op);
        csp_request_drop(req);
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    if (req)
        csp_request_drop(req);
    goto fn_exit;
}
