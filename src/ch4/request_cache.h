/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_REQUEST_CACHE_H_INCLUDED
#define MPIDI_REQUEST_CACHE_H_INCLUDED

/* Request objects without a lock. Creating and freeing a request under the lock of a VCI costs every
 * MPI_Wait a second acquisition (pmodels/mpich issue 4646), so each thread has a list of free objects
 * for each pool. Objects pass between threads in batches through a lock-free depot; new ones are made
 * without a lock, too. Included by mpir_request.h. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#define MPIR_REQUEST_IS_CACHED 1
#include "thread.h"

/* In a block, as many as handles have bits for: a VCI then has room for a million requests. */
#undef REQUEST_NUM_INDICES
#define REQUEST_NUM_INDICES REQUEST_OBJECT_MAX

/* Objects in a batch; a thread's list holds less than twice as many. */
#define MPIDI_REQUEST_BATCH 64

/* Slow paths. refill: returns the first object of a new batch and makes the rest the caller's list;
 * without memory, or with all objects of the pool in use, it prints why and ends the program. spill:
 * gives back one of two batches. Both are lock-free: they wait for no thread. */
void *MPIDI_request_cache_refill(int pool);
void MPIDI_request_cache_spill(MPIDI_thread_t * self, int pool);

/* When MPI starts, before the first request. When it ends: a debugging build counts the requests that
 * are left. By one thread, while no other is in MPI. */
void MPIDI_request_cache_open(void);
void MPIDI_request_cache_close(void);

/* Returns an object of the pool. Any thread; needs no VCI. */
static inline MPIR_Request *MPIDI_request_cache_get(int pool)
{
    MPIDI_thread_t *self = MPIDI_thread_local.self;

    if (likely(self && self->cache[pool].head)) {
        MPIR_Handle_common *obj = self->cache[pool].head;
        self->cache[pool].head = obj->next;
        self->cache[pool].count--;
        return (MPIR_Request *) obj;
    }
    return MPIDI_request_cache_refill(pool);
}

/* For MPIR_Request_create_from_pool, up to complete.h, with its variable. */
#define MPIR_Handle_obj_alloc_unsafe(objects_, blocks_, indices_) MPIDI_request_cache_get(pool)

/* Give the object of a freed request back to the pool, by self, the calling thread. Lock-free. */
static inline void MPIDI_request_cache_put(MPIR_Request * req, MPIDI_thread_t * self, int pool)
{
    ((MPIR_Handle_common *) req)->next = self->cache[pool].head;
    self->cache[pool].head = req;
    if (unlikely(++self->cache[pool].count >= 2 * MPIDI_REQUEST_BATCH))
        MPIDI_request_cache_spill(self, pool);
}

/* Returns 1 if no reference is left. Below MPI_THREAD_MULTIPLE, without a locked instruction. */
static inline int MPIDI_request_is_left(MPIR_Request * req)
{
    int inuse;

#ifndef MPICH_DEBUG_HANDLES
    if (unlikely(!MPIR_ThreadInfo.isThreaded)) {
        inuse = MPL_atomic_relaxed_load_int(&req->ref_count) - 1;
        MPL_atomic_relaxed_store_int(&req->ref_count, inuse);
        return inuse == 0;
    }
#endif
    MPIR_Object_release_ref_always(req, &inuse);        /* no builtin request comes here */
    return inuse == 0;
}

/* Drop one reference; the last one frees the request. Any thread, no lock. The device must not use
 * the request afterwards: another thread may free it at any time (the race of pmodels/mpich pull
 * request 6637). Returns 1; 0 where MPICH must do it. */
static inline int MPIDI_request_cache_release(MPIR_Request * req)
{
    int pool = MPIR_REQUEST_POOL(req);

    MPID_Request_free_hook(req);
    if (MPIDI_request_is_left(req)) {
        if (req->comm != NULL)
            MPIR_Comm_release(req->comm);
        if (req->kind == MPIR_REQUEST_KIND__GREQUEST)
            MPL_free(req->u.ureq.greq_fns);
        MPID_Request_destroy_hook(req);
        MPIDI_thread_t *self = MPIDI_thread_self();
        MPIDI_STATS(MPIDI_stats_freed(self, &req->counted));
        MPIDI_request_cache_put(req, self, pool);
    }
    return 1;
}

#else
#define MPIR_REQUEST_IS_CACHED 0
#define MPIDI_request_cache_release(req_) 0
#define MPIDI_request_cache_open() do { } while (0)
#define MPIDI_request_cache_close() do { } while (0)
#endif

#endif /* MPIDI_REQUEST_CACHE_H_INCLUDED */
