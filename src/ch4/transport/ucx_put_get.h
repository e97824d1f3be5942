/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef UCX_PUT_GET_H_INCLUDED
#define UCX_PUT_GET_H_INCLUDED

/* Put and get over UCX, in place of MPICH's functions of these names:
 *
 *   MPIDI_UCX_do_put, MPIDI_UCX_do_get
 *
 * They hold an operation back if a flush asks for it, and count it (ucx_flush.h). A put of packed data
 * may wait for the target: with several threads it is an active message, as whatever is not contiguous
 * at the target.
 *
 * reqptr: NULL, or the address of NULL or of a request that a model has given. An operation with reqptr
 * leaves a request there, the given one or a new one, or NULL if it is complete. */

#include "ucx_impl.h"
#include "ucx_flush.h"

/* Where an operation goes. */
typedef struct {
    MPIR_Win *win;
    int rank;
    int vni;
    ucp_ep_h ep;
    uint64_t addr;
    ucp_rkey_h rkey;
} MPIDI_UCX_remote_t;

MPL_STATIC_INLINE_PREFIX MPIDI_UCX_remote_t MPIDI_UCX_remote(MPIR_Win * win, int rank,
                                                             MPIDI_av_entry_t * av, MPI_Aint disp,
                                                             MPI_Aint true_lb)
{
    const MPIDI_UCX_win_info_t *info = &MPIDI_UCX_WIN_INFO(win, rank);
    const int vni = MPIDI_UCX_get_win_vni(win);
    const MPIDI_UCX_remote_t remote = {
        .win = win,.rank = rank,.vni = vni,.ep = MPIDI_UCX_WIN_AV_TO_EP(av, vni),
        .addr = info->addr + (size_t) (disp * info->disp + true_lb),.rkey = info->rkey
    };

    return remote;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_need_local_flush(const MPIDI_UCX_remote_t * remote)
{
    MPIDI_UCX_WIN(remote->win).target_sync[remote->rank].need_sync = MPIDI_UCX_WIN_SYNC_FLUSH_LOCAL;
}

/* The operation is under way: *reqptr is the request that it will complete, with a reference for
 * UCX. */
MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_under_way(const MPIDI_UCX_remote_t * remote,
                                                 MPIDI_UCX_ucp_request_t * ucp_request,
                                                 MPIR_Request * given, MPIR_Request ** reqptr)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDI_UCX_CHK_REQUEST(ucp_request);
    if (given)
        MPIR_Request_add_ref(given);
    else
        given = MPIR_Request_create_from_pool(MPIR_REQUEST_KIND__RMA, remote->vni, 2);
    MPIR_ERR_CHKANDJUMP(!given, mpi_errno, MPIX_ERR_NOREQ, "**nomemreq");
    ucp_request->req = given;
    *reqptr = given;
    MPIDI_UCX_need_local_flush(remote);
  fn_fail:
    return mpi_errno;
}

/* UCS_OK says that the data have left the origin: that they have arrived is for a flush to say. */
MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_put(const MPIDI_UCX_remote_t * remote, const void *buf,
                                           size_t len, MPIR_Request * given, MPIR_Request ** reqptr)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDI_UCX_count_issued(remote->vni);
    if (likely(!reqptr)) {
        ucs_status_t status = ucp_put_nbi(remote->ep, buf, len, remote->addr, remote->rkey);
        MPIDI_UCX_CHK_STATUS(status);
        if (status == UCS_INPROGRESS)
            MPIDI_UCX_need_local_flush(remote);
        else
            MPIDI_UCX_need_flush(remote->win, remote->rank);
    } else {
        MPIDI_UCX_ucp_request_t *ucp_request =
            ucp_put_nb(remote->ep, buf, len, remote->addr, remote->rkey, MPIDI_UCX_rma_cmpl_cb);
        if (ucp_request)
            mpi_errno = MPIDI_UCX_under_way(remote, ucp_request, given, reqptr);
        else
            MPIDI_UCX_need_flush(remote->win, remote->rank);
    }
  fn_fail:
    return mpi_errno;
}

/* ucp_get_nbi never says that the data are here. */
MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_get(const MPIDI_UCX_remote_t * remote, void *buf, size_t len,
                                           MPIR_Request * given, MPIR_Request ** reqptr)
{
    int mpi_errno = MPI_SUCCESS;

    MPIDI_UCX_count_issued(remote->vni);
    if (likely(!reqptr)) {
        ucs_status_t status = ucp_get_nbi(remote->ep, buf, len, remote->addr, remote->rkey);
        MPIDI_UCX_CHK_STATUS(status);
        MPIDI_UCX_need_local_flush(remote);
    } else {
        MPIDI_UCX_ucp_request_t *ucp_request =
            ucp_get_nb(remote->ep, buf, len, remote->addr, remote->rkey, MPIDI_UCX_rma_cmpl_cb);
        if (ucp_request)
            mpi_errno = MPIDI_UCX_under_way(remote, ucp_request, given, reqptr);
    }
  fn_fail:
    return mpi_errno;
}

/* ucp_put returns when it has taken the data, which may wait for the target. */
MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_put_packed(const MPIDI_UCX_remote_t * remote, const void *buf,
                                                  int count, MPI_Datatype datatype, size_t len)
{
    ucs_status_t status = UCS_ERR_NO_MEMORY;
    void *copy = MPL_malloc(len, MPL_MEM_BUFFER);
    int mpi_errno = MPI_SUCCESS;

    if (copy) {
        MPI_Aint packed;
        mpi_errno = MPIR_Typerep_pack(buf, count, datatype, 0, copy, len, &packed);
        if (mpi_errno == MPI_SUCCESS) {
            MPIR_Assert(packed == (MPI_Aint) len);
            status = ucp_put(remote->ep, copy, len, remote->addr, remote->rkey);
        }
        MPL_free(copy);
    }
    MPIR_ERR_CHECK(mpi_errno);
    MPIDI_UCX_CHK_STATUS(status);
    MPIDI_UCX_need_flush(remote->win, remote->rank);
  fn_fail:
    return mpi_errno;
}

/* MPICH reads NULL, after it has issued an operation, as "complete, no request": so the given request
 * is taken out of its variable first, and put back if the operation needs it. */
MPL_STATIC_INLINE_PREFIX MPIR_Request *MPIDI_UCX_take_given(MPIR_Request ** reqptr)
{
    MPIR_Request *given = NULL;

    if (reqptr) {
        given = *reqptr;
        *reqptr = NULL;
    }
    return given;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_do_put(const void *origin, int origin_count,
                                              MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                              int count, MPI_Datatype type, MPIR_Win * win,
                                              MPIDI_av_entry_t * av, MPIDI_winattr_t winattr,
                                              MPIR_Request ** reqptr)
{
    MPIR_Request *given = MPIDI_UCX_take_given(reqptr);
    int mpi_errno = MPI_SUCCESS, origin_contig, contig;
    size_t origin_len, len;
    MPI_Aint origin_lb, lb;

    MPIDIG_RMA_OP_CHECK_SYNC(rank, win);
    MPIDI_Datatype_check_origin_target_contig_size_lb(origin_type, type, origin_count, count,
                                                      origin_contig, contig, origin_len, len,
                                                      origin_lb, lb);
    if (unlikely(origin_len == 0))
        goto fn_exit;

    /* Without the VCI: what concurrent puts to one place leave there is undefined. */
    if (rank == MPIDIU_win_comm_rank(win, winattr)) {
        mpi_errno = MPIR_Localcopy(origin, origin_count, origin_type,
                                   (char *) win->base + win->disp_unit * disp, count, type);
        goto fn_exit;
    }

    if (contig && (origin_contig || !MPIR_IS_THREADED)) {
        const MPIDI_UCX_remote_t remote = MPIDI_UCX_remote(win, rank, av, disp, lb);
        if (origin_contig)
            MPIDI_UCX_hold_back(remote.vni);
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(remote.vni).lock);
        mpi_errno = origin_contig ?
            MPIDI_UCX_put(&remote, MPIR_get_contig_ptr(origin, origin_lb), origin_len, given, reqptr) :
            MPIDI_UCX_put_packed(&remote, origin, origin_count, origin_type, len);
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(remote.vni).lock);
    } else if (reqptr) {
        *reqptr = given;
        mpi_errno = MPIDIG_mpi_rput(origin, origin_count, origin_type, rank, disp, count, type, win,
                                    reqptr);
    } else {
        mpi_errno = MPIDIG_mpi_put(origin, origin_count, origin_type, rank, disp, count, type, win);
    }

  fn_exit:
  fn_fail:
    return mpi_errno;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_UCX_do_get(void *origin, int origin_count,
                                              MPI_Datatype origin_type, int rank, MPI_Aint disp,
                                              int count, MPI_Datatype type, MPIR_Win * win,
                                              MPIDI_av_entry_t * av, MPIDI_winattr_t winattr,
                                              MPIR_Request ** reqptr)
{
    MPIR_Request *given = MPIDI_UCX_take_given(reqptr);
    int mpi_errno = MPI_SUCCESS, origin_contig, contig;
    size_t origin_len, len ATTRIBUTE((unused));
    MPI_Aint origin_lb, lb;

    MPIDIG_RMA_OP_CHECK_SYNC(rank, win);
    MPIDI_Datatype_check_origin_target_contig_size_lb(origin_type, type, origin_count, count,
                                                      origin_contig, contig, origin_len, len,
                                                      origin_lb, lb);
    if (unlikely(origin_len == 0))
        goto fn_exit;

    if (rank == MPIDIU_win_comm_rank(win, winattr)) {
        mpi_errno = MPIR_Localcopy((char *) win->base + win->disp_unit * disp, count, type, origin,
                                   origin_count, origin_type);
        goto fn_exit;
    }

    if (origin_contig && contig) {
        const MPIDI_UCX_remote_t remote = MPIDI_UCX_remote(win, rank, av, disp, lb);
        MPIDI_UCX_hold_back(remote.vni);
        MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(remote.vni).lock);
        mpi_errno = MPIDI_UCX_get(&remote, MPIR_get_contig_ptr(origin, origin_lb), origin_len, given,
                                  reqptr);
        MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(remote.vni).lock);
    } else if (reqptr) {
        *reqptr = given;
        mpi_errno = MPIDIG_mpi_rget(origin, origin_count, origin_type, rank, disp, count, type, win,
                                    reqptr);
    } else {
        mpi_errno = MPIDIG_mpi_get(origin, origin_count, origin_type, rank, disp, count, type, win);
    }

  fn_exit:
  fn_fail:
    return mpi_errno;
}

#endif /* UCX_PUT_GET_H_INCLUDED */
