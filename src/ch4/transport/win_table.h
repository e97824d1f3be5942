/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef WIN_TABLE_H_INCLUDED
#define WIN_TABLE_H_INCLUDED

/* Finds the window of an active message without a lock. Every such message names its window by an id,
 * and messages of different VCIs would otherwise meet at the mutex of MPICH's map (map_locked.h), and
 * at its line. A table of read-mostly slots stands before that map: a window takes the slot of its id
 * when it is created, if the slot is free, and gives it back when it is freed. Those that find their
 * slot taken are found in the map.
 *
 * MPIDI_win_table_find    the window, or NULL if the table does not have it: wait-free
 * MPIDI_win_table_add     a new window
 * MPIDI_win_table_remove  a window that is about to be freed
 *
 * The latter two with the mutex of the maps held. No message may name a window that is being freed, so
 * a reader never looks for the id that is being removed; but it may look at a slot that changes hands:
 * it takes the window only if the slot has its id before and after. Pairs: the release stores of
 * win_table.c with the acquire loads here. */

#include "tsm/tsm_atomic.h"

#define MPIDI_WIN_TABLE_SLOTS 256

typedef struct {
    TSM_ATOMIC(uint64_t) id;    /* 0: free; MPICH's ids begin with 1 */
    TSM_ATOMIC(void *) win;
} MPIDI_win_slot_t;

extern MPIDI_win_slot_t MPIDI_win_table[MPIDI_WIN_TABLE_SLOTS];

/* The lower half of an id is that of the communicator, the upper half counts its windows. Ids of
 * communicators differ from bit 4 on; below that are their kinds. */
MPL_STATIC_INLINE_PREFIX MPIDI_win_slot_t *MPIDI_win_table_slot(uint64_t id)
{
    return &MPIDI_win_table[((id >> 4) + (id >> 32)) % MPIDI_WIN_TABLE_SLOTS];
}

MPL_STATIC_INLINE_PREFIX void *MPIDI_win_table_find(uint64_t id)
{
    MPIDI_win_slot_t *slot = MPIDI_win_table_slot(id);
    void *win;

    if (tsm_load(&slot->id, TSM_ACQUIRE) != id)
        return NULL;
    win = tsm_load(&slot->win, TSM_ACQUIRE);
    return tsm_load(&slot->id, TSM_RELAXED) == id ? win : NULL;
}

void MPIDI_win_table_add(uint64_t id, void *win);
void MPIDI_win_table_remove(uint64_t id);

#endif /* WIN_TABLE_H_INCLUDED */
