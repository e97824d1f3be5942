/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_FLUSH_H_INCLUDED
#define OFI_FLUSH_H_INCLUDED

/* Flush while other threads go on issuing one-sided operations. libfabric counts completions, so a
 * flush can only wait until everything issued has completed, and it may never see that while other
 * threads issue more. Therefore a thread that begins an operation during a flush holds it back until
 * the count has been complete once, and then issues it even if other flushes have begun.
 *
 *   MPIDI_OFI_win_do_progress  flush; lets other threads in while it waits: in place of MPICH's
 *   MPIDI_OFI_hold_back        before an operation; does nothing in one that another thread has posted
 *   MPIDI_OFI_max_inject_write  bytes of a put that a flush waits for although it is injected
 *   MPIDI_OFI_flush_give_back  something else waits for pack buffers, an active message: windows keep
 *                              those of what has completed until they are flushed, which may be never
 *   MPIDI_OFI_flush_packed     the window has an operation that needs pack buffers
 *   MPIDI_OFI_flush_forget     the window is freed
 *   MPIDI_OFI_flush_drop       what waits for pack buffers has failed, and is not issued again
 *   MPIDI_OFI_flush_new_win    the window has its counter: errors from before are not of its operations
 *   MPIDI_OFI_flush_new_counter  the next session has another counter
 *
 * All but hold_back with the VCI locked. The VCI counts the flushes, for the models that post
 * operations (issue/rma_wrappers.h).
 *
 * A flush waits for what was issued before it and for at most one operation of each other thread:
 * one that had passed hold_back, or was held back by an earlier flush. So the threads of the process
 * starve neither a flush nor an operation. The reads of incoming long messages can: libfabric counts
 * them too, and nothing holds them back, so a flush ends only when they pause. A thread that holds an
 * operation back drives progress as a flush does, with the VCI unlocked between polls, so the flush
 * can complete. It also checks the counter itself, so a preempted flush delays no other thread.
 * Included by ofi_calls.h. */

int MPIDI_OFI_win_do_progress(MPIR_Win * win, int vni);
void MPIDI_OFI_flush_give_back(int vni);
void MPIDI_OFI_flush_packed(MPIR_Win * win);
void MPIDI_OFI_flush_forget(MPIR_Win * win);
void MPIDI_OFI_flush_drop(MPIR_Win * win, MPIDI_OFI_win_request_t * req, struct iovec *target_iov);
void MPIDI_OFI_flush_new_win(MPIR_Win * win);
void MPIDI_OFI_flush_new_counter(int ctx_idx);
void MPIDI_OFI_hold_back_wait(MPIR_Win * win, int vni);

/* Bytes that a put may inject. ofi_rxm, and tcp without it, count an injected write when it has left: a
 * flush would end early. */
MPL_STATIC_INLINE_PREFIX size_t MPIDI_OFI_max_inject_write(const struct fi_info *prov)
{
    const char *name = prov->fabric_attr->prov_name;

    return strstr(name, "ofi_rxm") || strstr(name, "tcp") ? 0 : prov->tx_attr->inject_size;
}

/* Relaxed: a flush that is not visible yet also waits for this operation. */
MPL_STATIC_INLINE_PREFIX void MPIDI_OFI_hold_back(MPIR_Win * win, int vni)
{
    if (unlikely(MPL_atomic_relaxed_load_ptr(&MPIDI_OFI_global.per_vni[vni].flush.waits)))
        MPIDI_OFI_hold_back_wait(win, vni);
}

#endif /* OFI_FLUSH_H_INCLUDED */
