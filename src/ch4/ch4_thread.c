/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPICH_THREAD_GRANULARITY == MPICH_THREAD_GRANULARITY__VCI

#include <sched.h>
#include "tsm/tsm_topology.h"

/* Requests go through per-thread caches, because creating and freeing one under the lock of a VCI
 * costs every MPI_Wait a second acquisition (pmodels/mpich issue 4646). A cache is a plain list of
 * one thread. Objects travel between threads in batches through the pool, under one lock that is
 * taken once a batch: a thread that only frees (the receiver of unexpected messages, say) gives a
 * batch back when it has two. */

#define CACHE_BATCH 32

/* Polls without result before a waiting thread gives up its processor. With a processor for each
 * thread, yielding costs latency and gains nothing; with more threads than processors the thread
 * we wait for may need ours. */
#define IDLE_SPINS_FREE 4000
#define IDLE_SPINS_OVERSUBSCRIBED 8
#define SKIP_LIMIT 64

/* Nonblocking calls without result before the caller's processor is offered to others. */
#define TESTS_BEFORE_YIELD 32

__thread MPIDI_tsm_thread_t *MPIDI_tsm_self_ptr __attribute__((tls_model("initial-exec")));
__thread int MPIDI_tsm_held __attribute__((tls_model("initial-exec")));

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static MPIDI_tsm_thread_t *threads;     /* under threads_lock */
static int num_threads;         /* relaxed atomic: a hint for the waiting policy */
static int is_open;             /* under threads_lock: caches may be filled */
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

static void *pool_alloc(int pool)
{
    return MPIR_Handle_obj_alloc_unsafe(&MPIR_Request_mem[pool], REQUEST_NUM_BLOCKS,
                                        REQUEST_NUM_INDICES);
}

static void pool_free(int pool, void *obj)
{
    MPIR_Handle_obj_free_unsafe(&MPIR_Request_mem[pool], obj, /* not info */ FALSE);
}

/* Give at most max objects back to the pool. threads_lock is held. */
static void cache_give_back(MPIDI_tsm_thread_t * self, int pool, int max)
{
    MPIDI_tsm_cache_t *cache = &self->cache[pool];

    while (cache->head && max-- > 0) {
        MPIR_Handle_common *obj = cache->head;
        cache->head = obj->next;
        cache->count--;
        pool_free(pool, obj);
    }
}

static void cache_flush(MPIDI_tsm_thread_t * self)
{
    for (int pool = 0; pool < MPIDI_TSM_REQUEST_POOLS; pool++)
        cache_give_back(self, pool, self->cache[pool].count);
}

static void thread_exit(void *arg)
{
    MPIDI_tsm_thread_t *self = arg;

    pthread_mutex_lock(&threads_lock);
    cache_flush(self);
    DL_DELETE(threads, self);
    __atomic_fetch_sub(&num_threads, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&threads_lock);
    MPIDI_tsm_self_ptr = NULL;
    free(self);
}

static void make_exit_key(void)
{
    int err = pthread_key_create(&exit_key, thread_exit);
    MPIR_Assert(err == 0);
}

/* First call of a thread. Its state is freed by thread_exit; MPL's tracing allocator is not used
 * because a thread may exit after MPI_Finalize. */
MPIDI_tsm_thread_t *MPIDI_tsm_self_create(void)
{
    MPIDI_tsm_thread_t *self = calloc(1, sizeof(*self));

    MPL_COMPILE_TIME_ASSERT(MPIDI_TSM_REQUEST_POOLS == MPIR_REQUEST_NUM_POOLS);
    if (!self)
        return NULL;
    pthread_once(&exit_key_once, make_exit_key);
    if (pthread_setspecific(exit_key, self)) {
        free(self);
        return NULL;
    }
    pthread_mutex_lock(&threads_lock);
    DL_APPEND(threads, self);
    __atomic_fetch_add(&num_threads, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&threads_lock);
    MPIDI_tsm_self_ptr = self;
    return self;
}

/* One object of the pool, or NULL if the pool is exhausted; fills the thread's cache on the way. */
void *MPIDI_tsm_cache_refill(int pool)
{
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self();

    pthread_mutex_lock(&threads_lock);
    void *obj = pool_alloc(pool);
    for (int i = 1; obj && self && is_open && i < CACHE_BATCH; i++) {
        MPIR_Handle_common *extra = pool_alloc(pool);
        if (!extra)
            break;
        extra->next = self->cache[pool].head;
        self->cache[pool].head = extra;
        self->cache[pool].count++;
    }
    pthread_mutex_unlock(&threads_lock);
    return obj;
}

/* Free an object of a thread that has no caches, for want of memory. */
void MPIDI_tsm_cache_bypass(void *obj, int pool)
{
    pthread_mutex_lock(&threads_lock);
    pool_free(pool, obj);
    pthread_mutex_unlock(&threads_lock);
}

/* The thread's cache of the pool has grown: give a batch back, or everything after MPI_Finalize. */
void MPIDI_tsm_cache_spill(MPIDI_tsm_thread_t * self, int pool)
{
    pthread_mutex_lock(&threads_lock);
    if (!is_open)
        cache_give_back(self, pool, self->cache[pool].count);
    else if (self->cache[pool].count >= 2 * CACHE_BATCH)
        cache_give_back(self, pool, CACHE_BATCH);
    pthread_mutex_unlock(&threads_lock);
}

/* In MPID_Init: caches may be filled from now on. */
void MPIDI_tsm_thread_open(void)
{
    pthread_mutex_lock(&threads_lock);
    is_open = 1;
    pthread_mutex_unlock(&threads_lock);
}

/* At the end of MPID_Finalize, when no other thread is in MPI: the pools will be torn down, so no
 * thread may keep an object of theirs for a later MPI_Session_init. */
void MPIDI_tsm_thread_close(void)
{
    MPIDI_tsm_thread_t *self;

    pthread_mutex_lock(&threads_lock);
    is_open = 0;
    DL_FOREACH(threads, self) {
        cache_flush(self);
    }
    pthread_mutex_unlock(&threads_lock);
}

/* More threads that call MPI than processors, as far as this process can tell: the other processes
 * of the node are taken to be like this one, and a process that may not use all processors is
 * taken to have its own. */
int MPIDI_tsm_oversubscribed(void)
{
    static int online;          /* cached; every thread would store the same value */
    int cpus = tsm_cpus_allowed();
    int n = __atomic_load_n(&num_threads, __ATOMIC_RELAXED);
    int all = __atomic_load_n(&online, __ATOMIC_RELAXED);

    if (all == 0) {
        all = (int) sysconf(_SC_NPROCESSORS_ONLN);
        __atomic_store_n(&online, all, __ATOMIC_RELAXED);
    }
    if (cpus >= all && MPIR_Process.local_size > 1)
        n *= MPIR_Process.local_size;
    return n > cpus;
}

/* The thread has polled in vain for so long that it should leave its processor to others. */
int MPIDI_tsm_should_yield(const MPIDI_tsm_thread_t * self)
{
    return self->idle >= IDLE_SPINS_FREE || MPIDI_tsm_oversubscribed();
}

static void spin_or_yield(MPIDI_tsm_thread_t * self, int yield)
{
    if (yield) {
        global_vci_poll_count |= MPIDI_TSM_SWEEP_BITS;
        sched_yield();
    } else {
        for (unsigned i = 0; i < (1u << MPL_MIN(self->idle, 4)); i++)
            tsm_cpu_pause();
    }
    if (self)
        self->idle++;
}

/* A waiting thread found nothing to do: spin a little longer each time, then yield (ICS'19 section
 * 3.5, exponential back-off). */
void MPIDI_tsm_pause(void)
{
    MPIDI_tsm_thread_t *self = MPIDI_tsm_self();

    spin_or_yield(self, !self || (self->idle >= IDLE_SPINS_OVERSUBSCRIBED &&
                                  MPIDI_tsm_should_yield(self)));
}

/* The same for the server of a VCI (ch4_usc.h). Those it has woken need its processor once. After
 * that it yields less and less often, because all others who wait for the VCI sleep: what the
 * processor would go to is a thread outside MPI, and if that one spins in a barrier, say, for a
 * whole time slice. */
void MPIDI_tsm_pause_server(MPIDI_tsm_thread_t * self)
{
    int is_power_of_2 = (self->idle & (self->idle - 1)) == 0;

    spin_or_yield(self, self->idle >= IDLE_SPINS_OVERSUBSCRIBED && is_power_of_2 &&
                  MPIDI_tsm_should_yield(self));
}

/* The caller's polls have taken in messages whose receives are not posted yet. The threads that will
 * post them may be waiting for this processor; unless they get it, the caller goes on for the rest of
 * its time slice and takes in thousands, each with a request and a buffer of its own. Those that the
 * caller's own receives have found since do not count, and it is asked before the next poll, when
 * the caller has had the chance to post them: a stream that is for itself alone is no reason. */
void MPIDI_tsm_let_receivers_run(MPIDI_tsm_thread_t * self)
{
    self->unexpected = 0;
    if (!MPIDI_tsm_held && MPIDI_tsm_oversubscribed())
        sched_yield();
}

/* A nonblocking call found the lock busy: the next ones leave it alone, twice as many each time. */
void MPIDI_tsm_skip_more(MPIDI_tsm_thread_t * self, int vci)
{
    self->watch[vci].skip_max = MPL_MIN(2 * self->watch[vci].skip_max + 1, SKIP_LIMIT);
    self->watch[vci].skip = self->watch[vci].skip_max;
    MPIDI_tsm_test_yield(self);
}

/* A nonblocking call made no progress. A program that tests in a loop must not keep the thread that
 * could complete its operation from running. */
void MPIDI_tsm_test_yield(MPIDI_tsm_thread_t * self)
{
    if (++self->idle % TESTS_BEFORE_YIELD == 0 && !MPIDI_tsm_held && MPIDI_tsm_oversubscribed())
        sched_yield();
}

#endif
