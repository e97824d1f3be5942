/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDPOST_H_INCLUDED
#define MPIDPOST_H_INCLUDED

/* What the device does when MPICH makes and ends a request, and its asynchronous progress thread: in
 * place of MPICH's mpidpost.h. */

#include "binding_calls.h"
#include "errhandler_held.h"
#include "lock_scope.h"
#include "object_name.h"
#include "mpir_datatype.h"
#include "mpidch4.h"
#include "threads/coll_neighbours.h"
#include "threads/rma_counts.h"
#include "threads/singleton.h"

/* Active messages need what comes with the first communicator of all processes: in a session without
 * one there are no windows and no partitioned communication. */
MPL_STATIC_INLINE_PREFIX int MPIDI_no_world(void)
{
    return MPIR_Process.comm_world ? MPI_SUCCESS :
        MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
                             MPI_ERR_UNSUPPORTED_OPERATION, "**other", 0);
}

/* For the bindings; ch4_win.c defines these (binding_calls_not.h). */
#define MPIDI_WITH_WORLD(call_) (MPIR_Process.comm_world ? (call_) : MPIDI_no_world())
#define MPID_Win_create(...) MPIDI_WITH_WORLD(MPID_Win_create(__VA_ARGS__))
#define MPID_Win_create_dynamic(...) MPIDI_WITH_WORLD(MPID_Win_create_dynamic(__VA_ARGS__))
#define MPID_Win_allocate(...) MPIDI_WITH_WORLD(MPID_Win_allocate(__VA_ARGS__))
#define MPID_Win_allocate_shared(...) MPIDI_WITH_WORLD(MPID_Win_allocate_shared(__VA_ARGS__))

/* For mpir_pmi.c: without mpirun nobody can start processes, and MPI_Comm_spawn fails. */
#define PMI_Spawn_multiple(...) \
    (MPIDI_is_singleton() ? PMI_FAIL : PMI_Spawn_multiple(__VA_ARGS__))

MPL_STATIC_INLINE_PREFIX void MPID_Request_create_hook(MPIR_Request * req)
{
    MPIDIG_REQUEST(req, req) = NULL;
#ifdef ENABLE_CASPER
    req->casper = NULL;     /* no ghost has it (doc/casper.md) */
#endif
#if MPIR_REQUEST_IS_CACHED
    req->match.head = NULL;
    tsm_usc_slot_init(&req->waiter);
#else
    MPIDI_STATS(req->counted = 0);      /* MPICH's debugging fills free objects */
#endif
#ifndef MPIDI_CH4_DIRECT_NETMOD
    MPIDI_REQUEST_ANYSOURCE_PARTNER(req) = NULL;
#endif
}

/* The count says that a thread in MPICH's own wait may look at its requests again; ours looks after
 * each turn. */
MPL_STATIC_INLINE_PREFIX void MPID_Request_free_hook(MPIR_Request * req)
{
#if !MPIR_REQUEST_IS_CACHED
    MPL_atomic_int_t *count = &MPIDI_VCI(MPIDI_Request_get_vci(req)).progress_count;
    MPL_atomic_relaxed_store_int(count, MPL_atomic_relaxed_load_int(count) + 1);
#endif
    /* a persistent receive from any source has the partner of its last start */
    if (req->kind == MPIR_REQUEST_KIND__PREQUEST_RECV && MPIDI_REQUEST_ANYSOURCE_PARTNER(req))
        MPIR_Request_free(MPIDI_REQUEST_ANYSOURCE_PARTNER(req));
}

/* request_cache.h counts as well. */
MPL_STATIC_INLINE_PREFIX void MPID_Request_destroy_hook(MPIR_Request * req ATTRIBUTE((unused)))
{
#if !MPIR_REQUEST_IS_CACHED
    MPIDI_STATS(MPIDI_stats_freed(MPIDI_thread_self(), &req->counted));
#endif
}

/* As the info key thread_level of a session has it. */
MPL_STATIC_INLINE_PREFIX const char *MPIDI_thread_level_name(int level)
{
    return level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" :
        level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" :
        level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED" : "MPI_THREAD_MULTIPLE";
}

/* A server thread makes progress already. */
MPL_STATIC_INLINE_PREFIX int MPID_Init_async_thread(void)
{
    return MPIDI_server_is_used() ? MPI_SUCCESS : MPIR_Init_async_thread();
}

MPL_STATIC_INLINE_PREFIX int MPID_Finalize_async_thread(void)
{
    return MPIDI_server_is_used() ? MPI_SUCCESS : MPIR_Finalize_async_thread();
}

#endif /* MPIDPOST_H_INCLUDED */
