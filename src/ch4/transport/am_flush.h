/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef AM_FLUSH_H_INCLUDED
#define AM_FLUSH_H_INCLUDED

/* Flush against threads that go on issuing one-sided operations as active messages: the flush ends
 * when nothing is under way, or when all that began before it has ended (am_counts.h). Each function
 * is one look, repeated with progress in between; once it returns 1 it stays so for that flush.
 *
 *   MPIDI_am_flushed_target  the operations to one target; NULL if none was ever issued to it
 *   MPIDI_am_flushed_win     to all targets, one after the other
 *   MPIDI_am_flushed_acc     the accumulates to one target; VCI not locked
 *   MPIDIG_wait_am_acc       waits for that and for those of a fence; in place of MPICH's
 *   MPIDI_test_vci           a poll of one VCI, as that of MPI_Test: it waits for no lock
 *
 * The first two with the VCI of the window locked.
 *
 * The counts of generations are of local completion, and serve remote completion as well: a request
 * ends with the last of its events, and the answer of the target is one of them in every protocol
 * (mpidig_rma_callbacks.c). The end of an epoch (unlock, unlock_all, complete, fence, free) waits
 * until nothing is under way: no other thread may issue operations there. */

#include "am_counts.h"
#include "map_locked.h"

typedef enum {
    MPIDI_AM_LOCAL,
    MPIDI_AM_REMOTE
} MPIDI_am_completion_t;

MPL_STATIC_INLINE_PREFIX int MPIDI_am_remote_any(MPIDIG_win_target_t * target)
{
    return MPIR_cc_get(target->remote_cmpl_cnts) != 0 ||
        MPIR_cc_get(target->remote_acc_cmpl_cnts) != 0;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_am_flushed_target(MPIDIG_win_target_t * target,
                                                     MPIDI_am_completion_t completion,
                                                     MPIDI_am_flush_t * flush)
{
    flush->awaited = NULL;
    if (flush->ended || !target)
        return 1;
    flush->ended = (completion == MPIDI_AM_REMOTE && !MPIDI_am_remote_any(target)) ||
        MPIDI_am_counts_flushed(&target->local_cmpl_cnts, flush);
    return flush->ended;
}

/* An unlock of another thread may have freed a target since the last look, and a lock made it anew:
 * all that the flush waited for had ended then, and it waits at most for one generation too many. */
MPL_STATIC_INLINE_PREFIX int MPIDI_am_flushed_win(MPIR_Win * win, MPIDI_am_completion_t completion,
                                                  MPIDI_am_flush_t * flush)
{
    if (!MPIDIG_WIN(win, targets))
        return 1;
    for (; flush->rank < win->comm_ptr->local_size; flush->rank++) {
        if (!MPIDI_am_flushed_target(MPIDIG_win_target_find(win, flush->rank), completion, flush))
            return 0;
        flush->begun = flush->ended = 0;
    }
    return 1;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_am_flushed_acc(MPIR_Win * win, MPIDIG_win_target_t * target,
                                                  MPIDI_am_flush_t * flush)
{
    int flushed;

    if (!target || MPIR_cc_get(target->remote_acc_cmpl_cnts) == 0)
        return 1;
    MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI(MPIDI_WIN(win, am_vci)).lock);
    flushed = MPIDI_am_counts_flushed(&target->local_cmpl_cnts, flush);
    MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI(MPIDI_WIN(win, am_vci)).lock);
    return flushed;
}

MPL_STATIC_INLINE_PREFIX int MPIDI_test_vci(int vci)
{
    MPID_Progress_state state;

    /* all that a test looks at */
    state.flag = MPIDI_PROGRESS_ALL;
    state.vci[0] = vci;
    state.vci_count = 1;
    return MPID_Progress_test(&state);
}

/* For a native accumulate that must not overtake those sent as active messages. */
MPL_STATIC_INLINE_PREFIX int MPIDIG_wait_am_acc(MPIR_Win * win, int target_rank)
{
    int mpi_errno = MPI_SUCCESS;
    MPIDI_am_flush_t flush = { 0 };
    MPIDIG_win_target_t *target = MPIDIG_win_target_find(win, target_rank);

    while (!MPIDI_am_flushed_acc(win, target, &flush) ||
           MPIR_cc_get(MPIDIG_WIN(win, remote_acc_cmpl_cnts)) != 0) {
        MPIDI_CHECKED(MPIDI_test_vci(MPIDI_WIN(win, am_vci)));
        MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    }
  fn_fail:
    return mpi_errno;
}

#endif /* AM_FLUSH_H_INCLUDED */
