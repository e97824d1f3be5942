/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

/* The depot of a pool is a stack of batches (R. K. Treiber, IBM RJ 5118, 1986). A batch is a chain of
 * free objects; its first object holds the number of objects and the link to the next batch. The top
 * is the handle of a first object and, above it, a count of the changes, so that a compare-and-swap
 * fails if the top was taken and put back meanwhile (ABA). Objects stay requests of their pool until
 * MPI_Finalize, so a late thread may read a stale link but never freed memory; its compare-and-swap
 * then fails.
 *
 *   release: CAS of top in put     acquire: load of top, and the CAS's failure, in take */

typedef struct {
    TSM_ATOMIC(uint64_t) top;   /* 0 in the low half: empty */
    char pad[TSM_CACHELINE - sizeof(uint64_t)];
} depot_t;

static depot_t depots[MPIDI_THREAD_REQUEST_POOLS];
static pthread_mutex_t pool_locks[MPIDI_THREAD_REQUEST_POOLS];
static TSM_ATOMIC(int) is_open;

static MPIR_Request *request_of(uint64_t top)
{
    MPIR_Request *req;

    MPIR_Request_get_ptr((int) (uint32_t) top, req);
    return req;
}

static uint64_t next_top(uint64_t top, uint32_t handle)
{
    return ((top >> 32) + 1) << 32 | handle;
}

static void put(int pool, MPIR_Request * first, int count)
{
    uint64_t top = tsm_load(&depots[pool].top, TSM_RELAXED);

    first->dev.threads.batch_count = count;
    do {
        tsm_store(&first->dev.threads.batch_next, (uint32_t) top, TSM_RELAXED);
    } while (!tsm_cas(&depots[pool].top, &top, next_top(top, (uint32_t) first->handle), TSM_RELEASE,
                      TSM_RELAXED));
}

static MPIR_Request *take(int pool)
{
    uint64_t top = tsm_load(&depots[pool].top, TSM_ACQUIRE);
    MPIR_Request *first;

    do {
        if ((uint32_t) top == 0)
            return NULL;
        first = request_of(top);
    } while (!tsm_cas(&depots[pool].top, &top,
                      next_top(top, tsm_load(&first->dev.threads.batch_next, TSM_RELAXED)), TSM_ACQUIRE,
                      TSM_ACQUIRE));
    return first;
}

/* Make new objects from MPICH's pool, which may have to allocate. */
static MPIR_Request *make(int pool, int count)
{
    MPIR_Request *first = NULL;
    int n = 0;

    pthread_mutex_lock(&pool_locks[pool]);
    for (; n < count; n++) {
        MPIR_Handle_common *obj = MPIR_Handle_obj_alloc_unsafe(&MPIR_Request_mem[pool],
                                                               REQUEST_NUM_BLOCKS,
                                                               REQUEST_NUM_INDICES);
        if (!obj)
            break;
        /* the handle names the pool while the object is free, so that a batch can be found by it */
        obj->handle |= pool << REQUEST_POOL_SHIFT;
        obj->next = first;
        first = (MPIR_Request *) obj;
    }
    pthread_mutex_unlock(&pool_locks[pool]);
    if (first)
        first->dev.threads.batch_count = n;
    return first;
}

void *MPIDI_request_cache_refill(int pool)
{
    MPIDI_request_cache_t *cache = &MPIDI_thread_self()->cache[pool];
    MPIR_Request *first = take(pool);

    if (!first)
        first = make(pool, tsm_load(&is_open, TSM_RELAXED) ? MPIDI_REQUEST_BATCH : 1);
    if (first) {
        cache->head = ((MPIR_Handle_common *) first)->next;
        cache->count = first->dev.threads.batch_count - 1;
    }
    return first;
}

/* Cut the first count objects off the list. */
static MPIR_Request *cut(MPIDI_request_cache_t * cache, int count)
{
    MPIR_Handle_common *first = cache->head, *last = first;

    for (int i = 1; i < count; i++)
        last = last->next;
    cache->head = last->next;
    cache->count -= count;
    last->next = NULL;
    return (MPIR_Request *) first;
}

void MPIDI_request_cache_spill(MPIDI_thread_t * self, int pool)
{
    put(pool, cut(&self->cache[pool], MPIDI_REQUEST_BATCH), MPIDI_REQUEST_BATCH);
}

void MPIDI_request_cache_flush(MPIDI_thread_t * thread)
{
    for (int pool = 0; pool < MPIDI_THREAD_REQUEST_POOLS; pool++) {
        int count = thread->cache[pool].count;
        if (count > 0)
            put(pool, cut(&thread->cache[pool], count), count);
    }
}

void MPIDI_request_cache_open(void)
{
    static int is_made;

    MPL_COMPILE_TIME_ASSERT(MPIDI_THREAD_REQUEST_POOLS == MPIR_REQUEST_NUM_POOLS);
    for (int pool = 0; !is_made && pool < MPIDI_THREAD_REQUEST_POOLS; pool++)
        pthread_mutex_init(&pool_locks[pool], NULL);
    is_made = 1;
    MPIDI_thread_at_exit(MPIDI_request_cache_flush);
    tsm_store(&is_open, 1, TSM_RELAXED);
}

/* Return all objects to MPICH's pools, which count those that are missing. */
void MPIDI_request_cache_close(void)
{
    MPIR_Request *first;

    tsm_store(&is_open, 0, TSM_RELAXED);
    MPIDI_thread_foreach(MPIDI_request_cache_flush);
    for (int pool = 0; pool < MPIDI_THREAD_REQUEST_POOLS; pool++) {
        while ((first = take(pool)) != NULL) {
            MPIR_Handle_common *obj = (MPIR_Handle_common *) first;
            while (obj) {
                MPIR_Handle_common *next = obj->next;
                MPIR_Handle_obj_free_unsafe(&MPIR_Request_mem[pool], obj, /* not info */ FALSE);
                obj = next;
            }
        }
    }
}

#endif
