/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef OFI_RMA_LOCKED_END_H_INCLUDED
#define OFI_RMA_LOCKED_END_H_INCLUDED

/* At the end of ofi_rma.h: the names of ofi_rma_locked.h are as before. */

#pragma pop_macro("MPIDIG_RMA_OP_CHECK_SYNC")
#undef MPL_gavl_tree_search
#undef MPIDI_OFI_win_do_progress
#undef MPIDIG_wait_am_acc
#undef MPIDI_OFI_LEAVE_FAILED
#define MPIDI_OFI_LEAVE_FAILED MPIDI_OFI_LEAVE_NOTHING
#undef MPIDI_OFI_CALL_RETRY
#define MPIDI_OFI_CALL_RETRY MPIDI_OFI_CALL_REPEATED

#endif /* OFI_RMA_LOCKED_END_H_INCLUDED */
