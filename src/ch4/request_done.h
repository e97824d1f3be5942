/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_REQUEST_DONE_H_INCLUDED
#define MPIDI_REQUEST_DONE_H_INCLUDED

/* For MPICH's calls on lists of requests: checks whether a test call can return true already, makes
 * one turn of a wait, completes generalized requests that the program's poll function completes (for
 * MPI_Wait, too, which waits for a list of one there), and returns the status of a request.
 *
 * A test that can return true makes no progress, so it does not compete for a VCI with threads that
 * must (pmodels/mpich pull request 6629). An inactive persistent request is complete, but for Testany
 * and Testsome it does not count: a list that holds one would never make progress. */

static inline int MPIR_Requests_all_done(int count, MPIR_Request * reqs[])
{
    for (int i = 0; i < count; i++) {
        if (reqs[i] && !MPIR_Request_is_complete(reqs[i]))
            return 0;
    }
    return 1;
}

static inline int MPIR_Requests_any_done(int count, MPIR_Request * reqs[])
{
    for (int i = 0; i < count; i++) {
        if (reqs[i] && MPIR_Request_is_complete(reqs[i]) && MPIR_Request_is_active(reqs[i]))
            return 1;
    }
    return 0;
}

/* One turn of MPI_Waitany and MPI_Waitsome: polls, and may wait or sleep where other waits do, so that
 * MPICH's yield after it would be one too many. The caller then looks at its requests. */
static inline int MPIR_Requests_wait_turn(MPID_Progress_state * state)
{
#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
    return MPID_Progress_wait(state);
#else
#ifdef MPIDI_WATCHDOG_H_INCLUDED        /* in ch4 */
    MPIDI_watchdog_step();
#endif
    int mpi_errno = MPID_Progress_test(state);

    MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return mpi_errno;
#endif
}

/* MPI_Sendrecv waits as MPI_Waitall does; MPICH's loop, which follows, then finds both complete. Not
 * where a failed process ends a wait. */
static inline int MPIR_Requests_wait_two(MPIR_Request * sreq, MPIR_Request * rreq)
{
    int mpi_errno = MPI_SUCCESS;
#if MPIR_REQUEST_IS_CACHED
    if (!MPIR_CVAR_ENABLE_FT) {
        MPIR_Request *reqs[2] = { sreq, rreq };
        MPI_Status statuses[2];
        mpi_errno = MPID_Waitall(2, reqs, statuses, 0);
    }
#endif
    return mpi_errno;
}

/* Of a partitioned request: returns 1 if it is inactive, with that status. */
static inline int MPIR_Request_is_idle(MPIR_Request * req, MPI_Status * status)
{
    if (MPIR_Request_is_active(req))
        return 0;
    MPIR_Status_set_empty(status);
    return 1;
}

/* In MPI_Wait and MPI_Test, in a switch over the kind of the request, whose status is `status`. */
#define MPIR_Part_request_inactivate(req_) \
    if (MPIR_Request_is_idle(req_, status)) \
        break; \
    MPIR_Part_request_inactivate(req_)

/* The last step of a function that returns err, the error of req: err_return.h. */
int MPIR_Err_of_request(MPIR_Request * req, int err);

static inline int MPIR_Request_error(MPIR_Request * req, int err)
{
    return likely(err == MPI_SUCCESS) ? MPI_SUCCESS : MPIR_Err_of_request(req, err);
}

/* The status and the error of a complete request, which is not persistent. It may be partitioned, and
 * inactive: then its last status is no longer that of an operation. */
static inline int MPIR_Request_peek(MPIR_Request * req, MPI_Status * status)
{
    if (MPIR_Request_is_idle(req, status))
        return MPI_SUCCESS;
    MPIR_Request_extract_status(req, status);
    return req->status.MPI_ERROR;
}

/* In MPI_Testall without statuses, which is to return what this makes of mpi_errno. */
#define MPIR_REQUESTS_NOTE(err_) \
    do { \
        if (err_) \
            mpi_errno = MPI_ERR_IN_STATUS; \
    } while (0)

/* With statuses: rc is the error of request i, which MPI_Testall completes, and mpi_errno what it is to
 * return so far. It may meet its first error there: MPICH looks for errors before only if it checks
 * arguments, and never for one of a free function. All requests are complete then. */
static inline int MPIR_Requests_first_error(int mpi_errno, int rc, MPI_Status statuses[], int i)
{
    if (rc == MPI_SUCCESS || mpi_errno != MPI_SUCCESS)
        return mpi_errno;
    while (i-- > 0)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    return MPI_ERR_IN_STATUS;
}

/* The error of a persistent collective. */
static inline int MPIR_Request_coll_error(MPIR_Request * req)
{
    MPIR_Request *real = req->u.persist_coll.real_request;
    return real ? real->status.MPI_ERROR : req->status.MPI_ERROR;
}

/* The status that the program's functions of a generalized request get. MPICH gives them &statuses[i]
 * of MPI_STATUSES_IGNORE, too, which is 1: then the address is not aligned. */
static inline MPI_Status *MPIR_Requests_status(MPI_Status * status)
{
    return (uintptr_t) status % _Alignof(MPI_Status) ? MPI_STATUS_IGNORE : status;
}

#define MPIR_Grequest_poll(req_, status_) MPIR_Grequest_poll(req_, MPIR_Requests_status(status_))
#define MPIR_Grequest_wait(req_, status_) MPIR_Grequest_wait(req_, MPIR_Requests_status(status_))

/* Poll a generalized request that has a poll function. */
static inline int MPIR_Request_poll(MPIR_Request * req, MPI_Status * status)
{
    return MPIR_Request_has_poll_fn(req) ? MPIR_Grequest_poll(req, status) : MPI_SUCCESS;
}

/* Whether only a function of the program completes the request. The handle is not checked yet. */
static inline int MPIR_Request_is_polled(MPI_Request request)
{
    MPIR_Request *req = NULL;

    if (request != MPI_REQUEST_NULL)
        MPIR_Request_get_ptr(request, req);
    return req && (MPIR_Request_has_poll_fn(req) || MPIR_Request_has_wait_fn(req));
}

/* MPI_Waitall waits for icount requests from index at on, then for the next batch. Before the first:
 * returns count if only functions of the program complete a later request, since another process may
 * wait for that before it sends what this batch waits for. If some request fails, the program looks for
 * it in all statuses: a null request of the batch has no error (MPI-4.0 section 3.7.5). */
static inline int MPIR_Waitall_batch(int at, int icount, int count, const MPI_Request requests[],
                                     MPI_Status statuses[])
{
    for (int i = icount; at == 0 && i < count; i++) {
        if (MPIR_Request_is_polled(requests[i])) {
            icount = count;
            break;
        }
    }
    for (int i = at; statuses != MPI_STATUSES_IGNORE && i < at + icount; i++) {
        if (requests[i] == MPI_REQUEST_NULL)
            statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
    return icount;
}

/* For MPI_Waitall, before it waits for one request after the other: completes the generalized requests
 * that have a poll function, since no other thread does. Any of them may depend on any other request,
 * so it polls them all and makes progress. property: MPICH's, of the whole list. */
static inline int MPIR_Waitall_poll(int count, MPIR_Request * reqs[], MPI_Status statuses[],
                                    int property, MPID_Progress_state * state)
{
    int mpi_errno = MPI_SUCCESS;

    if (property & MPIR_REQUESTS_PROPERTY__SEND_RECV_ONLY)
        return MPI_SUCCESS;
    for (;;) {
        int pending = 0;
        for (int i = 0; i < count; i++) {
            if (!reqs[i] || !MPIR_Request_has_poll_fn(reqs[i]) || MPIR_Request_is_complete(reqs[i]))
                continue;
            mpi_errno = MPIR_Grequest_poll(reqs[i], &statuses[i]);
            MPIR_ERR_CHECK(mpi_errno);
            pending += !MPIR_Request_is_complete(reqs[i]);
        }
        if (!pending)
            break;
        mpi_errno = MPIR_Requests_wait_turn(state);
        MPIR_ERR_CHECK(mpi_errno);
    }
  fn_fail:
    return mpi_errno;
}

#endif /* MPIDI_REQUEST_DONE_H_INCLUDED */
