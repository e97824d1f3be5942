/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * H-Synch combining for machines whose processors form clusters (NUMA nodes, sockets). Each cluster
 * has a CC-Synch queue, and the clusters' combiners take one central lock.
 *
 * Source:     Fatourou and Kallimanis, "Revisiting the Combining Synchronization Technique",
 *             PPoPP 2012 (H-Synch). The paper's central lock is a CLH lock; here it is the MCS
 *             lock, whose node can be on the combiner's stack, so that no node moves between
 *             clusters.
 * Threads:    any number, in any distribution over the clusters. The cluster index is a hint about
 *             where the thread runs: a wrong one costs speed only. The caller provides the memory of
 *             the clusters, and nodes as in tsm_cc_synch.h. The operation must not use the same
 *             object again.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_H_SYNCH_H_INCLUDED
#define TSM_H_SYNCH_H_INCLUDED

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../lock/tsm_mcs.h"
#include "tsm_cc_synch.h"

typedef struct tsm_h_synch {
    tsm_mcs_t central;
    char pad[TSM_CACHELINE - sizeof(tsm_mcs_t)];
    tsm_cc_synch_t *clusters;
    uint32_t count;
} tsm_h_synch_t;

/* One thread's access to one object. */
typedef struct tsm_h_synch_handle {
    tsm_cc_synch_handle_t cc;
    uint32_t cluster;
} tsm_h_synch_handle_t;

/* Make a free object of `count` clusters, at least 1. clusters, nodes: `count` of each, nodes by
 * their addresses; they stay until tsm_h_synch_destroy. One thread, before any use. */
static inline void tsm_h_synch_init(tsm_h_synch_t *h, tsm_cc_synch_t *clusters,
                                    tsm_cc_synch_node_t *const *nodes, uint32_t count,
                                    uint32_t max_combine)
{
    assert(count > 0);
    tsm_mcs_init(&h->central);
    h->clusters = clusters;
    h->count = count;
    for (uint32_t i = 0; i < count; i++)
        tsm_cc_synch_init(&clusters[i], nodes[i], max_combine);
}

/* Destroy an object without operations under way. Returns in `nodes` one node for each cluster. One
 * thread, synchronized with all the others. */
static inline void tsm_h_synch_destroy(tsm_h_synch_t *h, tsm_cc_synch_node_t **nodes)
{
    for (uint32_t i = 0; i < h->count; i++)
        nodes[i] = tsm_cc_synch_destroy(&h->clusters[i]);
}

/* Begin to use h from this cluster, with this node. By the thread that will use the handle. */
static inline void tsm_h_synch_attach(const tsm_h_synch_t *h, tsm_h_synch_handle_t *handle,
                                      uint32_t cluster, tsm_cc_synch_node_t *node)
{
    assert(cluster < h->count && "tsm_h_synch_attach: no such cluster");
    (void) h;
    handle->cluster = cluster;
    tsm_cc_synch_attach(&handle->cc, node);
}

/* End the use of the handle. Returns a node, not always the one it was attached with. */
static inline tsm_cc_synch_node_t *tsm_h_synch_detach(tsm_h_synch_handle_t *handle)
{
    return tsm_cc_synch_detach(&handle->cc);
}

/* Take the central lock, combine, release it, and make the next thread the combiner. */
static inline void tsm_h_synch_turn_(tsm_h_synch_t *h, tsm_cc_synch_node_t *node, uint32_t budget)
{
    tsm_mcs_node_t central;
    tsm_cc_synch_node_t *next;

    tsm_mcs_acquire(&h->central, &central);
    next = tsm_cc_synch_combine_(node, budget);
    tsm_mcs_release(&h->central, &central);
    tsm_cc_synch_pass_(next);
}

/* Execute op(arg) in this thread or another one of the cluster, alone on the object; returns when it
 * is done. Blocks. Not from inside an operation on the same object. */
static inline void tsm_h_synch_apply(tsm_h_synch_t *h, tsm_h_synch_handle_t *handle,
                                     tsm_cc_synch_op_t op, void *arg)
{
    tsm_cc_synch_t *cc = &h->clusters[handle->cluster];
    tsm_cc_synch_node_t *node = tsm_cc_synch_detach(&handle->cc);

    assert(op != NULL);
    node = tsm_cc_synch_announce_(cc, node, op, arg);
    if (tsm_cc_synch_is_combiner_(node))
        tsm_h_synch_turn_(h, node, cc->max_combine);
    handle->cc.spare = node;
}

/*
 * Invariants: those of tsm_cc_synch.h for each cluster, and: operations are executed by the
 *             holder of the central lock only; only a cluster's combiner asks for it, so at most
 *             one thread of each cluster is in its queue.
 * Progress:   blocking. FIFO in each cluster; clusters take turns, each at most max_combine
 *             operations. A combiner releases the central lock before it passes the duty on in its
 *             cluster, so that a waiting cluster goes first.
 *
 *   release                              acquire
 *   tsm_mcs_release of the central lock  tsm_mcs_acquire of it (all that was protected so far)
 *   those of tsm_cc_synch.h, in each cluster
 */

#endif /* TSM_H_SYNCH_H_INCLUDED */
