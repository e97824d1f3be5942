/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Gives back the names that am_win_calls.h has taken. */
#undef MPIDI_NM_rma_win_cmpl_hook
#undef MPIDI_NM_rma_target_cmpl_hook
#undef MPIDI_SHM_rma_win_cmpl_hook
#undef MPIDI_SHM_rma_target_cmpl_hook
