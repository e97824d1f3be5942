/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_CALLS_H_INCLUDED
#define OFI_CALLS_H_INCLUDED

/* At the end of ofi_impl.h, for all that follows in MPICH's files of this netmod: a call of libfabric
 * below is a call of the function that defers what libfabric refuses with FI_EAGAIN. The macro finds
 * the context or the window by the endpoint, which a caller must therefore name as the member it is:
 * MPIDI_OFI_global.ctx[i].tx or .rx with messages and fi_read, MPIDI_OFI_WIN(win).ep with the others;
 * the communicator of a send is the caller's comm.
 * Our own files call libfabric: a macro does not apply to its name in parentheses.
 *
 *   MPIDI_OFI_CALL_RETRY      in place of MPICH's: what may still be refused is repeated
 *   MPIDI_OFI_idata_get_error_bits  in place of MPICH's, in MPIDI_OFI_recv_event, with its rreq and wc
 *   MPIDI_OFI_REQUEST_CREATE  in place of MPICH's: a model may have given the request
 *   MPIDI_OFI_INIT_CHUNK_CONTEXT  in place of MPICH's; this and the one before go to fn_fail without
 *                             memory, and do MPIDI_OFI_LEAVE_FAILED first: nothing, but in
 *                             ofi_rma_locked.h
 *   MPIDIG_get_recv_iov_count  in do_long_am_recv, with its in_data_sz: many, if there is no room: then
 *                             MPICH reads the data in parts, and drops them, as the receive has failed.
 *                             Of no pieces it would make none complete */

#include "ofi_am_source.h"
#include "ofi_flush.h"
#include "ofi_deferred.h"
#include "ofi_deferred_recv.h"
#include "ofi_deferred_call.h"

#define MPIDI_OFI_CTX_BY_(member_, ep_) \
    ((int) ((MPL_container_of(&(ep_), MPIDI_OFI_context_t, member_)) - MPIDI_OFI_global.ctx))
#define MPIDI_OFI_WIN_BY_(ep_) \
    (MPL_container_of(MPL_container_of(&(ep_), MPIDI_OFI_win_t, ep), MPIR_Win, dev.netmod.ofi))

#define fi_tsenddata(tx_, ...) MPIDI_OFI_ctx_tsenddata(MPIDI_OFI_CTX_BY_(tx, tx_), comm, __VA_ARGS__)
#define fi_tsendmsg(tx_, ...) MPIDI_OFI_ctx_tsendmsg(MPIDI_OFI_CTX_BY_(tx, tx_), comm, __VA_ARGS__)
#define fi_tinjectdata(tx_, ...) MPIDI_OFI_ctx_tinjectdata(MPIDI_OFI_CTX_BY_(tx, tx_), __VA_ARGS__)
#define fi_send(tx_, ...) MPIDI_OFI_ctx_send(MPIDI_OFI_CTX_BY_(tx, tx_), __VA_ARGS__)
#define fi_inject(tx_, ...) MPIDI_OFI_ctx_inject(MPIDI_OFI_CTX_BY_(tx, tx_), __VA_ARGS__)
#define fi_read(tx_, ...) MPIDI_OFI_ctx_read(MPIDI_OFI_CTX_BY_(tx, tx_), __VA_ARGS__)

#define fi_trecv(rx_, ...) MPIDI_OFI_ctx_trecv(MPIDI_OFI_CTX_BY_(rx, rx_), __VA_ARGS__)
#define fi_trecvmsg(rx_, ...) MPIDI_OFI_ctx_trecvmsg(MPIDI_OFI_CTX_BY_(rx, rx_), __VA_ARGS__)
#define fi_cancel(rx_, context_) MPIDI_OFI_recv_cancel(rx_, context_)
#define MPIDI_OFI_idata_get_error_bits(data_) MPIDI_OFI_recv_error(rreq, wc)

#define fi_writemsg(ep_, ...) MPIDI_OFI_win_writemsg(MPIDI_OFI_WIN_BY_(ep_), __VA_ARGS__)
#define fi_readmsg(ep_, ...) MPIDI_OFI_win_readmsg(MPIDI_OFI_WIN_BY_(ep_), __VA_ARGS__)
#define fi_inject_write(ep_, ...) MPIDI_OFI_win_inject_write(MPIDI_OFI_WIN_BY_(ep_), __VA_ARGS__)
#define fi_atomicmsg(ep_, ...) MPIDI_OFI_win_atomicmsg(MPIDI_OFI_WIN_BY_(ep_), __VA_ARGS__)
#define fi_fetch_atomicmsg(ep_, ...) MPIDI_OFI_win_fetch_atomicmsg(MPIDI_OFI_WIN_BY_(ep_), __VA_ARGS__)
#define fi_compare_atomicmsg(ep_, ...) \
    MPIDI_OFI_win_compare_atomicmsg(MPIDI_OFI_WIN_BY_(ep_), __VA_ARGS__)

#define MPIDI_OFI_CALL_REPEATED(call_, vni_, STR, eagain_) \
    do { \
        ssize_t ret_; \
        for (int left_ = MPIR_CVAR_CH4_OFI_MAX_EAGAIN_RETRY; unlikely((ret_ = call_) != 0); left_--) { \
            MPIDI_OFI_ERR(ret_ != -FI_EAGAIN, mpi_errno, MPI_ERR_OTHER, "**ofid_"#STR, \
                          "**ofid_"#STR" %s %d %s %s", __SHORT_FILE__, __LINE__, __func__, \
                          fi_strerror(-ret_)); \
            MPIR_ERR_CHKANDJUMP(left_ == 0 && eagain_, mpi_errno, MPIX_ERR_EAGAIN, "**eagain"); \
            mpi_errno = MPIDI_progress_make_room(vni_); \
            MPIR_ERR_CHECK(mpi_errno); \
        } \
    } while (0)
#undef MPIDI_OFI_CALL_RETRY
#define MPIDI_OFI_CALL_RETRY MPIDI_OFI_CALL_REPEATED

#define MPIDI_OFI_LEAVE_NOTHING(vni_) do { } while (0)
#define MPIDI_OFI_LEAVE_FAILED MPIDI_OFI_LEAVE_NOTHING

#define MPIDI_OFI_CHECK_MEMORY(memory_, vni_, class_, text_) \
    do { \
        if (unlikely(!(memory_))) { \
            MPIDI_OFI_LEAVE_FAILED(vni_); \
            MPIR_ERR_SETANDJUMP(mpi_errno, class_, text_); \
        } \
    } while (0)

#undef MPIDI_OFI_REQUEST_CREATE
#define MPIDI_OFI_REQUEST_CREATE(req_, kind_, vni_) \
    do { \
        MPIDI_CH4_REQUEST_OF(req_, kind_, vni_); \
        MPIDI_OFI_CHECK_MEMORY(req_, vni_, MPIX_ERR_NOREQ, "**nomemreq"); \
    } while (0)

/* An operation of the caller's msg, counted by the window, is an event more of *sigreq_. */
#undef MPIDI_OFI_INIT_CHUNK_CONTEXT
#define MPIDI_OFI_INIT_CHUNK_CONTEXT(win_, sigreq_) \
    do { \
        if (sigreq_) { \
            MPIDI_OFI_chunk_request *part_ = MPL_malloc(sizeof(*part_), MPL_MEM_BUFFER); \
            MPIDI_OFI_CHECK_MEMORY(part_, MPIDI_OFI_WIN(win_).vni, MPI_ERR_NO_MEM, "**nomem"); \
            MPIR_cc_inc((*(sigreq_))->cc_ptr); \
            part_->event_id = MPIDI_OFI_EVENT_CHUNK_DONE; \
            part_->parent = *(sigreq_); \
            msg.context = &part_->context; \
        } \
        MPIDI_OFI_win_cntr_incr(win_); \
    } while (0)

MPL_STATIC_INLINE_PREFIX int MPIDI_OFI_recv_iov_count(MPIR_Request * rreq, MPI_Aint in_data_sz)
{
    MPI_Aint room = in_data_sz;

    if (unlikely(rreq->status.MPI_ERROR != MPI_SUCCESS))        /* of a receive, which has a type */
        MPIDI_Datatype_check_size(MPIDIG_REQUEST(rreq, datatype), MPIDIG_REQUEST(rreq, count), room);
    return unlikely(room == 0) ? INT_MAX : MPIDIG_get_recv_iov_count(rreq);
}

#define MPIDIG_get_recv_iov_count(rreq_) MPIDI_OFI_recv_iov_count(rreq_, in_data_sz)

#endif /* OFI_CALLS_H_INCLUDED */
