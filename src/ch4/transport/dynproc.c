/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "dynproc.h"

/* Tables of addresses */

/* The array doubles from 10 entries, so there are never more. */
#define OLD_ARRAYS_MAX 32

static struct {
    int n;
    MPIDI_av_table_t **of[OLD_ARRAYS_MAX];
} old_arrays;

/* Not MPIR_Object_release_ref: that one assumes that nobody adds a reference to the last one, but
 * whoever connects to the same processes does. */
void MPIDI_dynproc_release(int avtid)
{
#if MPICH_THREAD_REFCOUNT == MPICH_REFCOUNT__LOCKFREE
    MPL_atomic_fetch_sub_int(&MPIDIU_get_av_table(avtid)->ref_count, 1);
#else
    MPIDIU_get_av_table(avtid)->ref_count--;
#endif
}

int MPIDI_dynproc_in_use(int avtid)
{
    MPIDI_av_table_t *table = MPIDIU_get_av_table(avtid);

    return table && MPIR_Object_get_ref(table) > 0;
}

/* All but the table of MPI_COMM_WORLD. */
static void sweep(void)
{
    for (int i = 1; i < MPIDIU_get_n_avts(); i++) {
        if (MPIDIU_get_av_table(i) && !MPIDI_dynproc_in_use(i))
            MPIDIU_free_avt(i);
    }
}

/* The table of MPI_COMM_WORLD, 0, is always there: lpids that nobody has filled in may be 0. */
void MPIDI_dynproc_hold(int size, const uint64_t lpids[])
{
    for (int i = 0; i < size; i++) {
        if (MPIDIU_GPID_GET_AVTID(lpids[i]) > 0)
            MPIDIU_avt_add_ref(MPIDIU_GPID_GET_AVTID(lpids[i]));
    }
    sweep();
}

void MPID_Release_lpids(int size, const uint64_t lpids[])
{
    for (int i = 0; lpids && i < size; i++) {
        if (MPIDIU_GPID_GET_AVTID(lpids[i]) > 0)
            MPIDI_dynproc_release(MPIDIU_GPID_GET_AVTID(lpids[i]));
    }
}

/* An entry that a reader may look at does not change: its table has references. */
void MPIDI_dynproc_grow(size_t table_size)
{
    MPIDI_av_table_t **old = MPIDI_global.avt_mgr.av_tables;
    MPIDI_av_table_t **bigger = MPL_malloc(table_size, MPL_MEM_ADDRESS);

    MPIR_Assert(bigger && old_arrays.n < OLD_ARRAYS_MAX);
    memcpy(bigger, old, MPIDIU_get_n_avts() * sizeof(*old));
    old_arrays.of[old_arrays.n++] = old;
    MPIDI_global.avt_mgr.av_tables = bigger;
}

void MPIDI_dynproc_tables_end(void)
{
    sweep();
    if (!MPIDI_dynproc_in_use(0))
        MPIDIU_free_avt(0);
    while (old_arrays.n > 0)
        MPL_free(old_arrays.of[--old_arrays.n]);
    MPL_free(MPIDI_global.avt_mgr.av_tables);
}
