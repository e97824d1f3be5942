/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_HUGE_DONE_H_INCLUDED
#define OFI_HUGE_DONE_H_INCLUDED

/* For ofi_huge.c: the data of a huge message is here. The sender gets its acknowledgement before the
 * receive is complete, because the user may then free the communicator. */
static int get_huge_complete(MPIR_Request * rreq)
{
    int mpi_errno = MPI_SUCCESS;
    MPIDI_OFI_huge_remote_info_t *info = MPIDI_OFI_REQUEST(rreq, huge.remote_info);
    int vni = info->vni_dst;
    struct fi_cq_tagged_entry wc;
    MPIDI_OFI_send_control_t ctrl;

    wc.len = info->msgsize;
    wc.data = info->origin_rank;
    wc.tag = info->tag;

    ctrl.type = MPIDI_OFI_CTRL_HUGEACK;
    ctrl.u.huge_ack.ackreq = info->ackreq;
    mpi_errno = MPIDI_NM_am_send_hdr(info->origin_rank, rreq->comm,
                                     MPIDI_OFI_INTERNAL_HANDLER_CONTROL, &ctrl, sizeof(ctrl), vni,
                                     info->vni_src);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    MPL_free(info);
    MPIDI_OFI_recv_event(vni, &wc, rreq, MPIDI_OFI_EVENT_GET_HUGE);
    return mpi_errno;
  fn_fail:
    rreq->status.MPI_ERROR = mpi_errno;
    goto fn_exit;
}

#endif /* OFI_HUGE_DONE_H_INCLUDED */
