/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What the locks of tsm_lock.h share in one process: the nodes of threads, the CLH pool, and the
 * description of the machine for HMCS. Compiled once, whatever TSM_LOCK_KIND is; with
 * TSM_HAVE_HWLOC defined to 1 the description comes from hwloc. */

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tsm_hmcs_topology.h"
#include "tsm_lock_kind.h"
#include "tsm_lock_shared.h"

/* Levels of HMCS: the root, and at most two below it, such as shared caches and cores. */
#ifndef TSM_LOCK_HMCS_DEPTH
#define TSM_LOCK_HMCS_DEPTH 3
#endif

/* All nodes of a thread, for its end. */
typedef struct tsm_lock_thread {
    tsm_lock_node_t *all[TSM_LOCK_NODES];
} tsm_lock_thread_t;

_Thread_local TSM_LOCK_OF_THREAD tsm_lock_node_t *tsm_lock_free_[TSM_LOCK_NODES];
static _Thread_local tsm_lock_thread_t *thread_nodes;

/* Guards what follows; each is made once. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static int have_key;
static pthread_key_t key;
static int have_pool;
static tsm_clh_pool_t pool;
static void *pool_nodes;                /* as allocated, for checkers of leaks */
static int have_topology;
static tsm_hmcs_topology_t topology;
static uint32_t hmcs_levels = TSM_LOCK_HMCS_DEPTH;

/* ---- CLH ---- */

/* Unused nodes cost address space only. If the process may not have that much, try a smaller
 * pool. */
static int make_pool(void)
{
    int rc = ENOMEM;

    for (uint32_t n = TSM_CLH_CONTEXTS_MAX; rc == ENOMEM && n > 4000; n /= 16) {
        char *memory = calloc(TSM_CLH_NODES(n) + 1, sizeof(tsm_clh_node_t));
        if (memory == NULL)
            continue;
        pool_nodes = memory;
        memory += TSM_CACHELINE - (uintptr_t) memory % TSM_CACHELINE;
        rc = tsm_clh_pool_init_zeroed(&pool, (tsm_clh_node_t *) (void *) memory, n);
        if (rc != 0)
            free(pool_nodes);
    }
    return rc;
}

tsm_clh_pool_t *tsm_lock_clh_pool_(int *rc)
{
    pthread_mutex_lock(&making);
    *rc = have_pool ? 0 : make_pool();
    have_pool = *rc == 0;
    pthread_mutex_unlock(&making);
    return &pool;
}

void tsm_lock_clh_renew_(tsm_lock_clh_node_t *node)
{
    tsm_clh_context_t fresh;

    if (tsm_clh_context_init(&fresh, node->own.pool) != 0)
        return;                         /* the other half of its tickets is left */
    tsm_clh_context_end(&node->own);
    node->own = fresh;
}

/* ---- HMCS ---- */

void tsm_lock_hmcs_levels(uint32_t most)
{
    hmcs_levels = most;
}

int tsm_lock_hmcs_init_(tsm_hmcs_t *lock)
{
    int rc;

    pthread_mutex_lock(&making);
    rc = have_topology ? 0 : tsm_hmcs_topology_init(&topology, hmcs_levels);
    have_topology = rc == 0;
    pthread_mutex_unlock(&making);
    return rc ? rc : tsm_hmcs_init_topology(lock, &topology, TSM_HMCS_THRESHOLD);
}

void tsm_lock_hmcs_destroy_(tsm_hmcs_t *lock)
{
    tsm_hmcs_destroy_topology(lock);
}

/* ---- nodes ---- */

static size_t node_size(int kind)
{
    static const size_t size[TSM_LOCK_NODES] = {
        [TSM_LOCK_NODE_MCS] = sizeof(tsm_lock_mcs_node_t),
        [TSM_LOCK_NODE_CLH] = sizeof(tsm_lock_clh_node_t),
        [TSM_LOCK_NODE_HMCS] = sizeof(tsm_lock_hmcs_node_t),
        [TSM_LOCK_NODE_HYBLOCK] = sizeof(tsm_lock_hyblock_node_t),
        [TSM_LOCK_NODE_DSM] = sizeof(tsm_lock_dsm_node_t),
    };

    return size[kind];
}

/* 0 or an errno value. */
static int node_begin(int kind, tsm_lock_node_t *node)
{
    static const tsm_hmcs_node_t zero = TSM_HMCS_NODE_INITIALIZER;

    if (kind == TSM_LOCK_NODE_CLH)
        return tsm_clh_context_init(&((tsm_lock_clh_node_t *) node)->own, &pool);
    if (kind == TSM_LOCK_NODE_HMCS)
        ((tsm_lock_hmcs_node_t *) node)->own = zero;
    else if (kind == TSM_LOCK_NODE_HYBLOCK)
        tsm_hyblock_node_init(&((tsm_lock_hyblock_node_t *) node)->own);
    else if (kind == TSM_LOCK_NODE_DSM)
        tsm_dsm_synch_node_init(&((tsm_lock_dsm_node_t *) node)->own);
    return 0;
}

static void node_end(int kind, tsm_lock_node_t *node)
{
    if (kind == TSM_LOCK_NODE_CLH)
        tsm_clh_context_end(&((tsm_lock_clh_node_t *) node)->own);
    free(node);
}

static int all_free(const tsm_lock_thread_t *thread, int kind)
{
    long nodes = 0;

    for (const tsm_lock_node_t *n = thread->all[kind]; n != NULL; n = n->all)
        nodes++;
    for (const tsm_lock_node_t *n = tsm_lock_free_[kind]; n != NULL; n = n->free)
        nodes--;
    return nodes == 0;
}

/* Runs when a thread ends. A later destructor may use a lock; that gives the thread nodes and the
 * key a value again, so this runs again. */
static void end_of_thread(void *arg)
{
    tsm_lock_thread_t *thread = arg;

    for (int kind = 0; kind < TSM_LOCK_NODES; kind++) {
        tsm_lock_node_t *node = all_free(thread, kind) ? thread->all[kind] : NULL;
        tsm_lock_free_[kind] = NULL;
        while (node != NULL) {
            tsm_lock_node_t *next = node->all;
            node_end(kind, node);
            node = next;
        }
    }
    thread_nodes = NULL;
    free(thread);
}

/* If the process has no key left (it has more than a thousand), the nodes leak. */
static void watch_end_of_thread(tsm_lock_thread_t *thread)
{
    pthread_mutex_lock(&making);
    if (!have_key)
        have_key = pthread_key_create(&key, end_of_thread) == 0;
    if (have_key)
        pthread_setspecific(key, thread);
    pthread_mutex_unlock(&making);
}

/* The library may be unloaded before its threads end: no destructor may call into it then. Does not
 * wait: a thread that has the mutex is inside the library, which nobody may unload then; or this is a
 * child of fork that calls exit, and the thread does not exist here. */
__attribute__((destructor)) static void end_of_library(void)
{
    if (pthread_mutex_trylock(&making) != 0)
        return;
    if (have_key)
        pthread_key_delete(key);
    have_key = 0;
    pthread_mutex_unlock(&making);
}

__attribute__((noreturn)) static void out_of_nodes(int error)
{
    fprintf(stderr, "tsm_lock: no node for a lock (error %d)\n", error);
    abort();
}

tsm_lock_node_t *tsm_lock_node_make_(int kind)
{
    tsm_lock_node_t *node = aligned_alloc(TSM_CACHELINE, node_size(kind));

    if (thread_nodes == NULL) {
        thread_nodes = calloc(1, sizeof(*thread_nodes));
        if (thread_nodes != NULL)
            watch_end_of_thread(thread_nodes);
    }
    if (node == NULL || thread_nodes == NULL)
        out_of_nodes(ENOMEM);
    int rc = node_begin(kind, node);
    if (rc != 0)
        out_of_nodes(rc);
    node->all = thread_nodes->all[kind];
    thread_nodes->all[kind] = node;
    return node;
}
