/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The depot of free requests, with src/ch4/request_cache.c itself: threads take batches of objects,
 * make new ones in blocks that they map, use each object alone, and give batches back, so that a thread
 * may meet a top that was taken and put back meanwhile. A thread that ends gives back all it has, and
 * at the end all objects that were made are there. */

#include "client.h"
#include "client_requests.h"
#include "threads/request_cache.c"

#define THREADS 3
#define TURNS 2

static MPIDI_thread_t record[THREADS + 1];

/* main is number 0 */
#ifdef TSM_MODEL
#define me ((int) pthread_self())
#else
static __thread int me;
#endif

MPIDI_thread_t *MPIDI_thread_self(void)
{
    return &record[me];
}

/* MPIDI_request_cache_get */
static MPIR_Request *get(void)
{
    MPIDI_request_cache_t *cache = MPIDI_thread_self()->cache;
    MPIR_Handle_common *obj = cache->head;

    if (!obj)
        return MPIDI_request_cache_refill(0);
    cache->head = obj->next;
    cache->count--;
    return (MPIR_Request *) obj;
}

/* MPIDI_request_cache_put, which spills later */
static void give(MPIR_Request *req)
{
    MPIDI_request_cache_t *cache = MPIDI_thread_self()->cache;

    ((MPIR_Handle_common *) req)->next = cache->head;
    cache->head = req;
    if (++cache->count >= MPIDI_REQUEST_BATCH)
        MPIDI_request_cache_spill(MPIDI_thread_self(), 0);
}

static void use(MPIR_Request *req, int was, int is)
{
    assert(req->user == was);
    req->user = is;
}

static void *works(void *arg)
{
    const int mine = (int) (intptr_t) arg + 1;

#ifndef TSM_MODEL
    me = mine;
#endif
    for (int turn = 0; turn < TURNS; turn++) {
        MPIR_Request *a = get(), *b = turn ? get() : NULL;

        use(a, 0, mine);
        if (b) {
            use(b, 0, mine);
            use(b, mine, 0);
            give(b);
        }
        use(a, mine, 0);
        give(a);
    }
    flush(MPIDI_thread_self());
    return NULL;
}

int main(void)
{
    unsigned left;

    MPIDI_request_cache_open();
    client_team(client_pick(THREADS, 2), (void *(*const[])(void *)) { works, works, works });
    left = tsm_load(&depots[0].made, TSM_RELAXED);
    assert(left <= MOST_OBJECTS);
    for (MPIR_Request * first; (first = take(0)) != NULL;)
        left -= (unsigned) first->dev.threads.batch_count;
    assert(left == 0);
    MPIDI_request_cache_close();
    return 0;
}
