/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_MAP_LOCKED_H_INCLUDED
#define MPIDI_MAP_LOCKED_H_INCLUDED

/* MPICH's maps from ids to windows and the like: some of its functions have the mutex of the maps,
 * some have not. Here all have it, under their names, but for windows that win_table.h finds without
 * it, and for MPIDIU_map_update: only the numbers of active messages are updated, in maps of one VCI,
 * whose lock the caller holds. Included by am_flush.h for ch4_impl.h, after MPICH's functions. */

#include "win_table.h"

MPL_STATIC_INLINE_PREFIX void MPIDI_map_set_locked(void *map, uint64_t id, void *value,
                                                   MPL_memory_class class)
{
    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_UTIL_MUTEX);
    MPIDIU_map_set_unsafe(map, id, value, class);
    if (map == MPIDI_global.win_map)
        MPIDI_win_table_add(id, value);
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_UTIL_MUTEX);
}

MPL_STATIC_INLINE_PREFIX void MPIDI_map_erase_locked(void *map, uint64_t id)
{
    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_UTIL_MUTEX);
    if (map == MPIDI_global.win_map)
        MPIDI_win_table_remove(id);
    MPIDIU_map_erase(map, id);
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_UTIL_MUTEX);
}

MPL_STATIC_INLINE_PREFIX void *MPIDI_map_lookup_locked(void *map, uint64_t id)
{
    void *value;

    if (map == MPIDI_global.win_map) {
        value = MPIDI_win_table_find(id);
        if (value)
            return value;
    }
    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_UTIL_MUTEX);
    value = MPIDIU_map_lookup(map, id);
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_UTIL_MUTEX);
    return value;
}

/* Unlike MPICH's it does not return the old value, which no caller uses. */
MPL_STATIC_INLINE_PREFIX void MPIDI_map_update_own(void *map, uint64_t id, void *value,
                                                   MPL_memory_class class)
{
    MPIDIU_map_entry_t *entry;

    HASH_FIND(hh, ((MPIDIU_map_t *) map)->head, &id, sizeof(id), entry);
    if (entry)
        entry->value = value;
    else
        MPIDIU_map_set_unsafe(map, id, value, class);
}

#define MPIDIU_map_set MPIDI_map_set_locked
#define MPIDIU_map_set_unsafe MPIDI_map_set_locked
#define MPIDIU_map_erase MPIDI_map_erase_locked
#define MPIDIU_map_lookup MPIDI_map_lookup_locked
#define MPIDIU_map_update MPIDI_map_update_own

#endif /* MPIDI_MAP_LOCKED_H_INCLUDED */
