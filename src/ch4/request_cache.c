/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include <sys/mman.h>

/* The depot of a pool is a stack of batches (R. K. Treiber, IBM RJ 5118, 1986). A batch is a chain of
 * free objects; its first object holds the number of objects and the link to the next batch. The top
 * is the handle of a first object and, above it, a count of the changes, so that a compare-and-swap
 * fails if the top was taken and put back meanwhile (ABA). Objects stay requests of their pool until
 * the process ends, so a late thread may read a stale link but never freed memory; its
 * compare-and-swap then fails.
 *
 * Objects lie in blocks, which MPICH finds through the table of the pool. A thread that needs new
 * objects takes the next ones by adding to their count; if their block is not there, it maps one, and
 * the first such thread enters its own into the table. So no thread waits for another, wherever that
 * one is stopped; a lock, as in MPICH's allocator, or malloc, which has locks of its own, would make
 * MPI_Isend wait.
 *
 *   release: CAS of top in put       acquire: load of top, and the CAS's failure, in take
 *   release: CAS of a block          acquire: load of the block, and the CAS's failure, in block_of */

#define MOST_OBJECTS (REQUEST_NUM_BLOCKS * REQUEST_NUM_INDICES)

typedef struct {
    TSM_ATOMIC(uint64_t) top;   /* 0 in the low half: empty */
    TSM_ATOMIC(unsigned) made;  /* objects that have been taken from the blocks */
    char pad[TSM_CACHELINE - sizeof(uint64_t) - sizeof(unsigned)];
} depot_t;

static depot_t depots[MPIDI_THREAD_REQUEST_POOLS];
static TSM_ATOMIC(void *) blocks[MPIDI_THREAD_REQUEST_POOLS][REQUEST_NUM_BLOCKS];

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

/* The first n blocks of the pool are there, or may be, for a thread that walks through them. */
static void raise_size(MPIR_Object_alloc_t * mem, int n)
{
    int size = __atomic_load_n(&mem->indirect_size, __ATOMIC_RELAXED);

    while (size < n && !__atomic_compare_exchange_n(&mem->indirect_size, &size, n, 0,
                                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* Returns block n of the pool, NULL without memory. */
static MPIR_Request *block_of(int pool, int n)
{
    const size_t size = REQUEST_NUM_INDICES * sizeof(MPIR_Request);
    void *block = tsm_load(&blocks[pool][n], TSM_ACQUIRE);
    void *mine;

    if (block)
        return block;
    mine = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mine == MAP_FAILED)
        return NULL;
    if (!tsm_cas(&blocks[pool][n], &block, mine, TSM_ACQ_REL, TSM_ACQUIRE)) {
        munmap(mine, size);
        return block;
    }
    raise_size(&MPIR_Request_mem[pool], n + 1);
    return mine;
}

/* A batch of new objects; NULL if the pool is exhausted. The handle names the pool while the object is
 * free, too, so that a batch can be found by it. */
static MPIR_Request *make(int pool)
{
    unsigned from = tsm_load(&depots[pool].made, TSM_RELAXED);
    MPIR_Request *block, *first = NULL;

    if (from < MOST_OBJECTS)
        from = tsm_fetch_add(&depots[pool].made, MPIDI_REQUEST_BATCH, TSM_RELAXED);
    if (from >= MOST_OBJECTS || !(block = block_of(pool, (int) (from / REQUEST_NUM_INDICES))))
        return NULL;
    for (unsigned i = from + MPIDI_REQUEST_BATCH; i-- > from;) {
        MPIR_Handle_common *obj = (MPIR_Handle_common *) & block[i % REQUEST_NUM_INDICES];
        obj->handle = (int) ((unsigned) HANDLE_KIND_INDIRECT << HANDLE_KIND_SHIFT |
                             MPIR_REQUEST << HANDLE_MPI_KIND_SHIFT | pool << REQUEST_POOL_SHIFT |
                             i / REQUEST_NUM_INDICES << REQUEST_BLOCK_SHIFT |
                             i % REQUEST_NUM_INDICES);
        obj->next = first;
        first = (MPIR_Request *) obj;
    }
    first->dev.threads.batch_count = MPIDI_REQUEST_BATCH;
    return first;
}

/* Most callers, like MPICH's, could not go on without a request. */
static void end_program(int pool)
{
    char line[128];

    if (tsm_load(&depots[pool].made, TSM_RELAXED) >= MOST_OBJECTS)
        MPL_snprintf(line, sizeof(line), "no more requests: VCI %d has all of %d in use", pool,
                     MOST_OBJECTS);
    else
        MPL_snprintf(line, sizeof(line), "no memory for more requests of VCI %d", pool);
    MPID_Abort(NULL, MPI_SUCCESS, 1, line);
}

void *MPIDI_request_cache_refill(int pool)
{
    MPIDI_request_cache_t *cache = &MPIDI_thread_self()->cache[pool];
    MPIR_Request *first = take(pool);

    if (!first)
        first = make(pool);
    if (!first)
        end_program(pool);
    cache->head = ((MPIR_Handle_common *) first)->next;
    cache->count = first->dev.threads.batch_count - 1;
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

/* Give back all objects of a thread. By the thread, or while it is in no call of MPI. */
static void flush(MPIDI_thread_t * thread)
{
    for (int pool = 0; pool < MPIDI_THREAD_REQUEST_POOLS; pool++) {
        int count = thread->cache[pool].count;
        if (count > 0)
            put(pool, cut(&thread->cache[pool], count), count);
    }
}

void MPIDI_request_cache_open(void)
{
    MPL_COMPILE_TIME_ASSERT(MPIDI_THREAD_REQUEST_POOLS == MPIR_REQUEST_NUM_POOLS);
    MPL_COMPILE_TIME_ASSERT(REQUEST_NUM_INDICES % MPIDI_REQUEST_BATCH == 0);
    MPL_COMPILE_TIME_ASSERT(sizeof(blocks[0][0]) == sizeof(void *));
    for (int pool = 0; pool < MPIDI_THREAD_REQUEST_POOLS; pool++) {
        MPIR_Request_mem[pool].indirect = (void **) blocks[pool];
        /* after an MPI_Init that failed */
        for (int n = 0; n < REQUEST_NUM_BLOCKS && tsm_load(&blocks[pool][n], TSM_RELAXED); n++)
            raise_size(&MPIR_Request_mem[pool], n + 1);
    }
    MPIDI_thread_at_exit(flush);
}

void MPIDI_request_cache_close(void)
{
    MPIDI_thread_foreach(flush);
#ifdef MPICH_DEBUG_HANDLEALLOC
    for (int pool = 0; pool < MPIDI_THREAD_REQUEST_POOLS; pool++) {
        unsigned used = tsm_load(&depots[pool].made, TSM_RELAXED);
        for (MPIR_Request * first; (first = take(pool)) != NULL;)
            used -= (unsigned) first->dev.threads.batch_count;
        if (used)
            MPL_error_printf("%u requests of pool %d are still allocated\n", used, pool);
    }
#endif
}

#endif
