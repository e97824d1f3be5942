/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIR_REQUEST_CACHE_H_INCLUDED
#define MPIR_REQUEST_CACHE_H_INCLUDED

/* Request objects without a lock: see ch4_thread.c for the caches. Included by mpir_request.h. */

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI
#define MPIR_REQUEST_IS_CACHED 1
#include "ch4_thread.h"

#define MPIR_REQUEST_CACHE_LIMIT 64     /* twice the batch in ch4_thread.c */

/* An object of the pool, its handle complete but for the pool bits; NULL if there is none left.
 * Any thread, no VCI lock needed; a lock is taken once a batch. */
static inline MPIR_Request *MPIR_Request_cache_alloc(int pool)
{
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self_ptr;

    if (likely(self && self->cache[pool].head)) {
        MPIR_Handle_common *obj = self->cache[pool].head;
        self->cache[pool].head = obj->next;
        self->cache[pool].count--;
        return (MPIR_Request *) obj;
    }
    return MPIDI_tsm_cache_refill(pool);
}

static inline void MPIR_Request_cache_put(MPIR_Request * req, int pool)
{
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self();

    if (unlikely(!self)) {
        MPIDI_tsm_cache_bypass(req, pool);
        return;
    }
    ((MPIR_Handle_common *) req)->next = self->cache[pool].head;
    self->cache[pool].head = req;
    if (unlikely(++self->cache[pool].count >= MPIR_REQUEST_CACHE_LIMIT))
        MPIDI_tsm_cache_spill(self, pool);
}

/* Drop one reference; the last one frees. Any thread, no lock. All that the device needs of the
 * request is done before the reference is given up: afterwards another thread may free it at any
 * time (the race of pmodels/mpich pull request 6637). */
static inline void MPIR_Request_cache_release(MPIR_Request * req)
{
    int inuse;
    int pool = MPIR_REQUEST_POOL(req);

    MPID_Request_free_hook(req);
    MPIR_Object_release_ref(req, &inuse);
    if (inuse == 0) {
        if (req->comm != NULL)
            MPIR_Comm_release(req->comm);
        if (req->kind == MPIR_REQUEST_KIND__GREQUEST)
            MPL_free(req->u.ureq.greq_fns);
        MPID_Request_destroy_hook(req);
        MPIR_Request_cache_put(req, pool);
    }
}

#else
#define MPIR_REQUEST_IS_CACHED 0
#define MPIR_Request_cache_release(req_) do { } while (0)
#endif

#endif /* MPIR_REQUEST_CACHE_H_INCLUDED */
