/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CH4_ISSUE_H_INCLUDED
#define CH4_ISSUE_H_INCLUDED

/* The issue step of LockQ (ICS'19 section 3.4, fig. 3c): try the lock; with it, drain the queue and
 * issue; without it, post the operation and return. The thick parts are in ch4_issue.c. */

#include "ch4_impl.h"
#include "ch4_model.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

/* Post the operation to the queue of vci; *req is the request to wait on. Wait-free but for the
 * request's allocation; takes references on comm and datatype, so the caller may free both. */
int MPIDI_tsm_post(MPIDI_tsm_op_t op, int vci, const void *buf, MPI_Aint count,
                   MPI_Datatype datatype, int rank, int tag, MPIR_Comm * comm,
                   int context_offset, MPIDI_av_entry_t * av, MPIR_Errflag_t errflag,
                   MPIR_Request ** req);
int MPIDI_tsm_post_imrecv(int vci, void *buf, MPI_Aint count, MPI_Datatype datatype,
                          MPIR_Request * message);

/* 1: the VCI is ours, nothing is queued before us, issue directly and call MPIDI_tsm_issue_end.
 * 0: the lock is busy, or the bound on combining was met, or another thread is in the middle of
 * posting (then ours may sit behind it, unseen), or the caller is in the middle of applying a posted
 * operation: post. Never blocks. */
MPL_STATIC_INLINE_PREFIX int MPIDI_tsm_issue_begin(int vci)
{
    MPIDU_Thread_mutex_t *m = &MPIDI_VCI(vci).lock;

    if (!MPIDU_vci_cs_tryenter(m))
        return 0;
    if (likely(!m->workq->draining && (!MPIDU_vci_cs_has_work(m) || MPIDI_tsm_drain(m->workq))))
        return 1;
    MPIDU_vci_cs_exit(m);
    return 0;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_tsm_issue_end(int vci)
{
    MPIDU_vci_cs_exit(&MPIDI_VCI(vci).lock);
}

MPL_STATIC_INLINE_PREFIX int MPIDI_tsm_send_vci(MPIR_Comm * comm, int rank, int tag)
{
    return MPIDI_get_vci(SRC_VCI_FROM_SENDER, comm, comm->rank, rank, tag) % MPIDI_global.n_vcis;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_tsm_recv_vci(MPIR_Comm * comm, int rank, int tag)
{
    return MPIDI_get_vci(DST_VCI_FROM_RECVER, comm, rank, comm->rank, tag) % MPIDI_global.n_vcis;
}

/* A receive has been issued. If it is complete, it has found its message here: one of those that
 * came early was for the calling thread itself. Only a hint (another thread may have completed it
 * since), for MPIDI_tsm_let_receivers_run. req is the caller's and cannot go away. */
MPL_STATIC_INLINE_PREFIX void MPIDI_tsm_receive_issued(int mpi_errno, const MPIR_Request * req)
{
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self_ptr;

    if (self && self->unexpected > 0 && mpi_errno == MPI_SUCCESS && MPIR_Request_is_complete(req))
        self->unexpected--;
}

/* The netmod's request behind the user's: itself unless it was posted. Under the VCI lock, which
 * has drained the queue. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDI_tsm_real_request(MPIR_Request * req)
{
    return req->dev.tsm.real ? req->dev.tsm.real : req;
}

#else

#define MPIDI_tsm_post(...) MPI_SUCCESS
#define MPIDI_tsm_post_imrecv(...) MPI_SUCCESS
#define MPIDI_tsm_issue_begin(vci_) 1
#define MPIDI_tsm_issue_end(vci_) do { } while (0)
#define MPIDI_tsm_send_vci(comm_, rank_, tag_) 0
#define MPIDI_tsm_recv_vci(comm_, rank_, tag_) 0
#define MPIDI_tsm_real_request(req_) (req_)
#define MPIDI_tsm_receive_issued(mpi_errno_, req_) do { } while (0)

#endif

#endif /* CH4_ISSUE_H_INCLUDED */
