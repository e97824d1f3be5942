/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_RMA_LOCKED_H_INCLUDED
#define OFI_RMA_LOCKED_H_INCLUDED

/* For ofi_rma.h, up to ofi_rma_locked_end.h. Its functions call libfabric, flush and allocate with the
 * VCI locked once, and leave it only on success: here what fails leaves it, and a flush that fails, or
 * the wait for active messages, is an error as well. A region of a dynamic window is looked up with
 * the VCI locked, since other threads attach and detach. The macro of a name does not apply within its
 * own text. */

#include "ofi_calls.h"

/* Each operation begins with this: MPICH's check, and the wait for a flush (ofi_flush.h). */
#pragma push_macro("MPIDIG_RMA_OP_CHECK_SYNC")
#undef MPIDIG_RMA_OP_CHECK_SYNC
#ifdef HAVE_ERROR_CHECKING
#define MPIDIG_RMA_OP_CHECK_SYNC(target_rank_, win_) \
    do { \
        MPIDIG_EPOCH_CHECK_SYNC(win_, mpi_errno, goto fn_fail); \
        MPIDIG_EPOCH_OP_REFENCE(win_); \
        MPIDIG_EPOCH_CHECK_TARGET_SYNC(win_, target_rank_, mpi_errno, goto fn_fail); \
        MPIDI_OFI_hold_back(win_, MPIDI_OFI_WIN(win_).vni); \
    } while (0)
#else
#define MPIDIG_RMA_OP_CHECK_SYNC(target_rank_, win_) \
    do { \
        if (0) \
            goto fn_fail; \
        MPIDI_OFI_hold_back(win_, MPIDI_OFI_WIN(win_).vni); \
    } while (0)
#endif

#undef MPIDI_OFI_LEAVE_FAILED
#define MPIDI_OFI_LEAVE_FAILED(vni_) MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(vni_).lock)

#undef MPIDI_OFI_CALL_RETRY
#define MPIDI_OFI_CALL_RETRY(call_, vni_, STR, eagain_) \
    do { \
        ssize_t ret_ = call_;   /* never -FI_EAGAIN */ \
        if (unlikely(ret_ != 0)) { \
            MPIDI_OFI_LEAVE_FAILED(vni_); \
            MPIDI_OFI_ERR(1, mpi_errno, MPI_ERR_OTHER, "**ofid_"#STR, "**ofid_"#STR" %s %d %s %s", \
                          __SHORT_FILE__, __LINE__, __func__, fi_strerror(-ret_)); \
        } \
    } while (0)

#define MPIDI_OFI_win_do_progress(win_, vni_) \
    do { \
        mpi_errno = MPIDI_OFI_win_do_progress(win_, vni_); \
        if (unlikely(mpi_errno != MPI_SUCCESS)) { \
            MPIDI_OFI_LEAVE_FAILED(vni_); \
            MPIR_ERR_POP(mpi_errno); \
        } \
    } while (0)

/* Without the VCI. */
#define MPIDIG_wait_am_acc(win_, rank_) MPIDI_CHECKED(MPIDIG_wait_am_acc(win_, rank_))

/* *found: the region, copied to *copy, or NULL. */
MPL_STATIC_INLINE_PREFIX void MPIDI_OFI_find_region(MPIR_Win * win, MPL_gavl_tree_t tree,
                                                    const void *addr, uintptr_t len,
                                                    MPIDI_OFI_target_mr_t * copy, void **found)
{
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(MPIDI_OFI_WIN(win).vni).lock);
    MPL_gavl_tree_search(tree, addr, len, found);
    if (*found) {
        *copy = *(MPIDI_OFI_target_mr_t *) * found;
        *found = copy;
    }
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(MPIDI_OFI_WIN(win).vni).lock);
}

/* A declaration and a call: the copy lasts as long as the caller's block. */
#define MPL_gavl_tree_search(tree_, addr_, len_, found_) \
    MPIDI_OFI_target_mr_t region_; \
    MPIDI_OFI_find_region(win, tree_, addr_, len_, &region_, found_)

#endif /* OFI_RMA_LOCKED_H_INCLUDED */
