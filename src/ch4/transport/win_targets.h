/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_WIN_TARGETS_H_INCLUDED
#define MPIDI_WIN_TARGETS_H_INCLUDED

/* For ch4_impl.h: the targets of a window, in a table that needs no lock (targets.h), in place of
 * MPICH's functions. */

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

/* No targets are left. */
MPL_STATIC_INLINE_PREFIX void MPIDIG_win_hash_clear(MPIR_Win * win)
{
    MPIDI_targets_destroy(&MPIDIG_WIN(win, targets));
}

#endif /* MPIDI_WIN_TARGETS_H_INCLUDED */
