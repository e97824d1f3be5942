/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Tables of addresses (dynproc.h), in place of MPICH's functions in ch4_proc.c. Table 0 is that of
 * MPI_COMM_WORLD; each other one is of processes that this one has connected to. With the mutex of
 * dynamic processes held, or in MPI_Init and MPI_Finalize, but for references and lookups. */

#include "mpidimpl.h"
#include "dynproc.h"

#define TABLES_FIRST 10
/* The array doubles from that, so there are never more. */
#define OLD_ARRAYS_MAX 32

static struct {
    int n;
    MPIDI_av_table_t **of[OLD_ARRAYS_MAX];
} old_arrays;

/* A larger array of tables. The old one stays for those that read it: an entry that a reader may look
 * at does not change, since its table has references. */
static void grow_av_tables(MPIDIU_avt_manager * mgr)
{
    const int max = mgr->max_n_avts > 0 ? 2 * mgr->max_n_avts : TABLES_FIRST;
    MPIDI_av_table_t **old = mgr->av_tables;
    MPIDI_av_table_t **bigger = MPL_malloc(max * sizeof(*bigger), MPL_MEM_ADDRESS);

    MPIR_Assert(bigger && old_arrays.n < OLD_ARRAYS_MAX);
    if (mgr->max_n_avts > 0) {
        memcpy(bigger, old, mgr->max_n_avts * sizeof(*old));
        old_arrays.of[old_arrays.n++] = old;
    }
    mgr->av_tables = bigger;
    mgr->max_n_avts = max;
}

/* The first free entry; its table is for the caller to set. */
static int next_avtid(void)
{
    MPIDIU_avt_manager *mgr = &MPIDI_global.avt_mgr;
    int avtid = 0;

    if (mgr->n_free > 0) {
        while (avtid < mgr->n_avts && mgr->av_tables[avtid])
            avtid++;
        MPIR_Assert(avtid < mgr->n_avts);
        mgr->n_free--;
        return avtid;
    }
    if (mgr->n_avts == mgr->max_n_avts)
        grow_av_tables(mgr);
    return mgr->n_avts++;
}

/* Without references. Its addresses are not set, and no process of it is local. */
int MPIDIU_new_avt(int size, int *avtid)
{
    MPIDI_av_table_t *table = MPL_calloc(1, sizeof(*table) + size * sizeof(MPIDI_av_entry_t),
                                         MPL_MEM_ADDRESS);

    MPIR_Assert(table);
    table->size = size;
    MPIR_Object_set_ref(table, 0);
    *avtid = next_avtid();
    MPIDI_global.avt_mgr.av_tables[*avtid] = table;
    return MPI_SUCCESS;
}

int MPIDIU_free_avt(int avtid)
{
    MPL_free(MPIDIU_get_av_table(avtid));
    MPIDIU_get_av_table(avtid) = NULL;
    MPIDI_global.avt_mgr.n_free++;
    return MPI_SUCCESS;
}

int MPIDIU_avt_add_ref(int avtid)
{
    MPIR_Object_add_ref(MPIDIU_get_av_table(avtid));
    return MPI_SUCCESS;
}

/* Only counts down: the table is freed by sweep. Not MPIR_Object_release_ref: that one assumes that
 * nobody adds a reference to the last one, but whoever connects to the same processes does. */
int MPIDIU_avt_release_ref(int avtid)
{
#if MPICH_THREAD_REFCOUNT == MPICH_REFCOUNT__LOCKFREE
    MPL_atomic_fetch_sub_int(&MPIDIU_get_av_table(avtid)->ref_count, 1);
#else
    MPIDIU_get_av_table(avtid)->ref_count--;
#endif
    return MPI_SUCCESS;
}

static int is_in_use(int avtid)
{
    MPIDI_av_table_t *table = MPIDIU_get_av_table(avtid);

    return table && MPIR_Object_get_ref(table) > 0;
}

/* Free the tables without references, all but that of MPI_COMM_WORLD. */
static void sweep(void)
{
    for (int i = 1; i < MPIDIU_get_n_avts(); i++) {
        if (MPIDIU_get_av_table(i) && !is_in_use(i))
            MPIDIU_free_avt(i);
    }
}

/* A handle of no kind, 0, because references to predefined objects are not counted. */
int MPIDIU_avt_init(void)
{
    const int size = MPIR_Process.size;
    const int avtid = next_avtid();
    MPIDI_av_table_t *table = MPL_malloc(sizeof(*table) + size * sizeof(MPIDI_av_entry_t),
                                         MPL_MEM_ADDRESS);

    MPIR_Assert(table && avtid == 0);
    table->size = size;
    table->handle = 0;
    MPIR_Object_set_ref(table, 1);
#ifdef MPIDI_BUILD_CH4_LOCALITY_INFO
    for (int i = 0; i < size; i++)
        table->table[i].is_local =
            MPIR_Process.node_map[i] == MPIR_Process.node_map[MPIR_Process.rank];
#endif
    MPIDI_global.avt_mgr.av_table0 = table;
    MPIDI_global.avt_mgr.av_tables[avtid] = table;
    return MPI_SUCCESS;
}

int MPIDIU_avt_destroy(void)
{
    for (int i = 0; i < MPIDIU_get_n_avts(); i++) {
        if (is_in_use(i))
            MPIDIU_avt_release_ref(i);
    }
    sweep();
    if (!is_in_use(0))
        MPIDIU_free_avt(0);
    while (old_arrays.n > 0)
        MPL_free(old_arrays.of[--old_arrays.n]);
    MPL_free(MPIDI_global.avt_mgr.av_tables);
#if defined(HAVE_CH4_NETMOD_OFI) && !defined(HAVE_CH4_NETMOD_UCX)
    MPIDI_OFI_am_source_forget();
#endif
    MPIDI_dynproc_end();
    return MPI_SUCCESS;
}

/* What goes to these processes begins anew, but where a communicator has a process of their table. */
static void begin_anew(int size, const uint64_t gpids[])
{
#if defined(HAVE_CH4_NETMOD_OFI) && !defined(HAVE_CH4_NETMOD_UCX)
    for (int i = 0; i < size; i++) {
        const int avtid = MPIDIU_GPID_GET_AVTID(gpids[i]);
        if (avtid > 0 && !is_in_use(avtid))
            MPIDI_OFI_am_source_renew(&MPIDIU_get_av(avtid, MPIDIU_GPID_GET_LPID(gpids[i])));
    }
#endif
}

/* Returns lpids with a reference each, or, with an error, all 0. Table 0 is always there: lpids that
 * nobody has filled in may be 0, so these have none. */
int MPIDIU_upids_to_gpids(int size, int *upid_sizes, char *upids, uint64_t * gpids)
{
    int mpi_errno = MPI_SUCCESS;

    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_DYNPROC_MUTEX);
    mpi_errno = MPIDI_NM_upids_to_gpids(size, upid_sizes, upids, gpids);
    MPIR_ERR_CHECK(mpi_errno);
    begin_anew(size, gpids);
    for (int i = 0; i < size; i++) {
        if (MPIDIU_GPID_GET_AVTID(gpids[i]) > 0)
            MPIDIU_avt_add_ref(MPIDIU_GPID_GET_AVTID(gpids[i]));
    }
    sweep();

  fn_exit:
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_DYNPROC_MUTEX);
    return mpi_errno;
  fn_fail:
    memset(gpids, 0, size * sizeof(uint64_t));
    goto fn_exit;
}

void MPID_Release_lpids(int size, const uint64_t lpids[])
{
    for (int i = 0; lpids && i < size; i++) {
        if (MPIDIU_GPID_GET_AVTID(lpids[i]) > 0)
            MPIDIU_avt_release_ref(MPIDIU_GPID_GET_AVTID(lpids[i]));
    }
}
