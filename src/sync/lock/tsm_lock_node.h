/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * The queue nodes of tsm_lock.h and tsm_dsm_lock.h, so that their callers need none. Each thread has
 * a list of free nodes for each kind of node and allocates a node when the list is empty. A node
 * belongs to its thread until the thread ends. Included by tsm_lock.h, tsm_lock.c and
 * combine/tsm_dsm_lock.h only.
 *
 * Threads:    any number; they may come and go. The lists are per process, in tsm_lock.c, however
 *             many files include this header.
 *
 * Invariants and progress are at the end of this file.
 */

#ifndef TSM_LOCK_NODE_H_INCLUDED
#define TSM_LOCK_NODE_H_INCLUDED

#include <stddef.h>

#include "../tsm_atomic.h"

/* Kinds of nodes. */
#define TSM_LOCK_NODE_MCS     0
#define TSM_LOCK_NODE_CLH     1
#define TSM_LOCK_NODE_HMCS    2
#define TSM_LOCK_NODE_HYBLOCK 3
#define TSM_LOCK_NODE_DSM     4
#define TSM_LOCK_NODES        5

/* What every node begins with. */
typedef struct tsm_lock_node {
    struct tsm_lock_node *free;         /* the next in the free list */
    struct tsm_lock_node *all;          /* the next of this thread and kind */
} tsm_lock_node_t;

/* Hidden: each library has its own. Small enough for the static block of thread-local memory, where
 * an access is one instruction also from a library that is loaded late. */
#define TSM_LOCK_OF_THREAD __attribute__((visibility("hidden"), tls_model("initial-exec")))

extern _Thread_local TSM_LOCK_OF_THREAD tsm_lock_node_t *tsm_lock_free_[TSM_LOCK_NODES];

/* Returns a new node, in no list. Aborts without memory. */
__attribute__((visibility("hidden"), cold)) tsm_lock_node_t *tsm_lock_node_make_(int kind);

/* Returns a node for one lock; put it back after the release. */
static inline void *tsm_lock_node_get_(int kind)
{
    tsm_lock_node_t *node = tsm_lock_free_[kind];

    if (__builtin_expect(node == NULL, 0))
        return tsm_lock_node_make_(kind);
    tsm_lock_free_[kind] = node->free;
    return node;
}

/* By the thread that got it. */
static inline void tsm_lock_node_put_(int kind, void *got)
{
    tsm_lock_node_t *node = got;

    node->free = tsm_lock_free_[kind];
    tsm_lock_free_[kind] = node;
}

/*
 * Invariants: a node is in its thread's free list, or in use at one lock. Only its thread gets it
 *             and puts it back. A thread that ends gives back a kind whose nodes are all free; it
 *             leaves the nodes of a kind of which one is in use, since that lock still names it.
 * Progress:   get allocates when the thread has never used as many nodes at once, and ends the
 *             program with a message if there is no memory; else both are a few instructions.
 * Pairs:      none: nothing here is shared between threads.
 */

#endif /* TSM_LOCK_NODE_H_INCLUDED */
