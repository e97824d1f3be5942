/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_WIN_TARGETS_H_INCLUDED
#define MPIDI_WIN_TARGETS_H_INCLUDED

/* For ch4_impl.h: the targets of a window, in a table that needs no lock (targets.h), and whether
 * operations are under way to them (am_counts.h), in place of MPICH's functions. */

MPL_STATIC_INLINE_PREFIX MPIDIG_win_target_t *MPIDIG_win_target_add(MPIR_Win * win, int rank)
{
    MPIDIG_win_target_t *target = MPL_malloc(sizeof(*target), MPL_MEM_RMA);

    MPIR_Assert(target);
    target->rank = rank;
    MPIDI_am_counts_init(&target->local_cmpl_cnts);
    MPIR_cc_set(&target->remote_cmpl_cnts, 0);
    MPIR_cc_set(&target->remote_acc_cmpl_cnts, 0);
    target->sync.lock.locked = 0;
    target->sync.access_epoch_type = MPIDIG_EPOTYPE_NONE;
    target->sync.assert_mode = 0;
    return MPIDI_targets_add(&MPIDIG_WIN(win, targets), win->comm_ptr->local_size, rank, target);
}

MPL_STATIC_INLINE_PREFIX MPIDIG_win_target_t *MPIDIG_win_target_find(MPIR_Win * win, int rank)
{
    return MPIDI_targets_find(&MPIDIG_WIN(win, targets), rank);
}

MPL_STATIC_INLINE_PREFIX MPIDIG_win_target_t *MPIDIG_win_target_get(MPIR_Win * win, int rank)
{
    MPIDIG_win_target_t *target = MPIDIG_win_target_find(win, rank);

    return target ? target : MPIDIG_win_target_add(win, rank);
}

MPL_STATIC_INLINE_PREFIX void MPIDIG_win_target_delete(MPIR_Win * win, MPIDIG_win_target_t * target)
{
    MPIDI_targets_remove(&MPIDIG_WIN(win, targets), target->rank);
}

MPL_STATIC_INLINE_PREFIX void MPIDIG_win_target_cleanall(MPIR_Win * win)
{
    MPIDI_targets_free_all(&MPIDIG_WIN(win, targets));
}

/* No targets are left, and nobody posts the window any more. */
MPL_STATIC_INLINE_PREFIX void MPIDIG_win_hash_clear(MPIR_Win * win)
{
    MPIDI_targets_destroy(&MPIDIG_WIN(win, targets));
    MPIDI_win_posts_free(&MPIDIG_WIN(win, sync).posts);
}

/* Whether nothing is under way to these targets; ranks: of the window, NULL for 0 to n - 1. */
MPL_STATIC_INLINE_PREFIX bool MPIDI_targets_local_completed(MPIR_Win * win, const int ranks[], int n)
{
    for (int i = 0; MPIDIG_WIN(win, targets) && i < n; i++) {
        MPIDIG_win_target_t *target = MPIDIG_win_target_find(win, ranks ? ranks[i] : i);
        if (target && MPIDI_am_counts_any(&target->local_cmpl_cnts))
            return false;
    }
    return true;
}

MPL_STATIC_INLINE_PREFIX bool MPIDIG_win_check_all_targets_local_completed(MPIR_Win * win)
{
    return MPIDI_targets_local_completed(win, NULL, win->comm_ptr->local_size);
}

MPL_STATIC_INLINE_PREFIX bool MPIDIG_win_check_group_local_completed(MPIR_Win * win, int *ranks,
                                                                     int n)
{
    return MPIDI_targets_local_completed(win, ranks, n);
}

#endif /* MPIDI_WIN_TARGETS_H_INCLUDED */
