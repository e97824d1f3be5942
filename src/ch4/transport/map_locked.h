/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_MAP_LOCKED_H_INCLUDED
#define MPIDI_MAP_LOCKED_H_INCLUDED

/* MPICH's maps from ids to windows and the like: it adds with the mutex of the maps held, but looks up
 * and erases without it. Here both have it, under their names. Included by am_flush.h for ch4_impl.h,
 * after MPICH's functions. */

MPL_STATIC_INLINE_PREFIX void MPIDI_map_erase_locked(void *map, uint64_t id)
{
    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_UTIL_MUTEX);
    MPIDIU_map_erase(map, id);
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_UTIL_MUTEX);
}

MPL_STATIC_INLINE_PREFIX void *MPIDI_map_lookup_locked(void *map, uint64_t id)
{
    void *value;

    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_UTIL_MUTEX);
    value = MPIDIU_map_lookup(map, id);
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_UTIL_MUTEX);
    return value;
}

#define MPIDIU_map_erase MPIDI_map_erase_locked
#define MPIDIU_map_lookup MPIDI_map_lookup_locked

#endif /* MPIDI_MAP_LOCKED_H_INCLUDED */
