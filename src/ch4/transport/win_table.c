/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

MPIDI_win_slot_t MPIDI_win_table[MPIDI_WIN_TABLE_SLOTS];

void MPIDI_win_table_add(uint64_t id, void *win)
{
    MPIDI_win_slot_t *slot = MPIDI_win_table_slot(id);

    if (tsm_load(&slot->id, TSM_RELAXED) != 0)
        return;
    /* A thread that reads this window sees the 0 of before, or a later id, when it looks again. */
    tsm_store(&slot->win, win, TSM_RELEASE);
    tsm_store(&slot->id, id, TSM_RELEASE);
}

void MPIDI_win_table_remove(uint64_t id)
{
    MPIDI_win_slot_t *slot = MPIDI_win_table_slot(id);

    if (tsm_load(&slot->id, TSM_RELAXED) == id)
        tsm_store(&slot->id, 0, TSM_RELEASE);
}
