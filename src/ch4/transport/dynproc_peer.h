/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_DYNPROC_PEER_H_INCLUDED
#define MPIDI_DYNPROC_PEER_H_INCLUDED

/* For ch4_spawn.c, in place of its function: a process that connects and one that accepts exchange
 * context ids and make the intercommunicator of the two (dynproc.h). */

struct dynproc_conn_hdr {
    MPIR_Context_id_t context_id;
    int reply_tag;
    int addrname_len;
    char addrname[MPIDI_DYNPROC_NAME_MAX];
};

/* Connecting: send the header to the port, wait for the reply. */
static int peer_connect(char *remote_addrname, int len, int tag, int timeout,
                        MPIR_Context_id_t recvcontext_id, uint64_t * remote_gpid,
                        MPIR_Context_id_t * context_id)
{
    int mpi_errno = MPI_SUCCESS;
    struct dynproc_conn_hdr hdr;
    char *addrname;
    int *addrname_size;

    mpi_errno = MPIDIU_upids_to_gpids(1, &len, remote_addrname, remote_gpid);
    MPIR_ERR_CHECK(mpi_errno);

    hdr.context_id = recvcontext_id;
    hdr.reply_tag = MPIDI_dynproc_reply_tag();
    mpi_errno = MPIDI_NM_get_local_upids(MPIR_Process.comm_self, &addrname_size, &addrname);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_Assert(addrname_size[0] <= MPIDI_DYNPROC_NAME_MAX);
    memcpy(hdr.addrname, addrname, addrname_size[0]);
    hdr.addrname_len = addrname_size[0];

    int hdr_sz = sizeof(hdr) - MPIDI_DYNPROC_NAME_MAX + hdr.addrname_len;
    mpi_errno = MPIDI_NM_dynamic_send(*remote_gpid, tag, &hdr, hdr_sz, timeout);
    MPL_free(addrname);
    MPL_free(addrname_size);
    MPIR_ERR_CHECK(mpi_errno);

    mpi_errno = MPIDI_dynproc_reply(*remote_gpid, hdr.reply_tag, hdr.addrname, hdr.addrname_len,
                                    timeout, context_id);
    MPIR_ERR_CHECK(mpi_errno);
  fn_fail:
    return mpi_errno;
}

/* Accepting: wait for a header that is not taken back, and reply. */
static int peer_accept(int tag, int timeout, MPIR_Context_id_t recvcontext_id, uint64_t * remote_gpid,
                       MPIR_Context_id_t * context_id)
{
    int mpi_errno = MPI_SUCCESS;
    struct dynproc_conn_hdr hdr;
    bool is_taken_back;

    do {
        mpi_errno = MPIDI_NM_dynamic_recv(tag, &hdr, sizeof(hdr), timeout);
        MPIR_ERR_CHECK(mpi_errno);
        *context_id = hdr.context_id;

        int addrname_len = hdr.addrname_len;
        mpi_errno = MPIDIU_upids_to_gpids(1, &addrname_len, hdr.addrname, remote_gpid);
        MPIR_ERR_CHECK(mpi_errno);

        mpi_errno = MPIDI_dynproc_answer(remote_gpid, hdr.reply_tag, hdr.addrname, addrname_len,
                                         timeout, recvcontext_id, &is_taken_back);
        MPIR_ERR_CHECK(mpi_errno);
    } while (is_taken_back);
  fn_fail:
    return mpi_errno;
}

static int peer_intercomm_create(char *remote_addrname, int len, int tag, int timeout,
                                 bool is_sender, MPIR_Comm ** newcomm)
{
    int mpi_errno = MPI_SUCCESS;
    MPIR_Context_id_t context_id, recvcontext_id;
    uint64_t remote_gpid = 0;

    mpi_errno = MPIR_Get_contextid_sparse(MPIR_Process.comm_self, &recvcontext_id, FALSE);
    MPIR_ERR_CHECK(mpi_errno);

    mpi_errno = is_sender ?
        peer_connect(remote_addrname, len, tag, timeout, recvcontext_id, &remote_gpid, &context_id) :
        peer_accept(tag, timeout, recvcontext_id, &remote_gpid, &context_id);
    MPIR_ERR_CHECK(mpi_errno);

    mpi_errno = MPIR_peer_intercomm_create(context_id, recvcontext_id, remote_gpid, is_sender,
                                           newcomm);
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    MPID_Release_lpids(1, &remote_gpid);
    return mpi_errno;
  fn_fail:
    if (recvcontext_id)
        MPIR_Free_contextid(recvcontext_id);
    goto fn_exit;
}

#endif /* MPIDI_DYNPROC_PEER_H_INCLUDED */
