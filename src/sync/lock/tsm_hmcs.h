/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * HMCS<N>, a tree of MCS locks that follows the machine: N levels, one lock for each domain (a
 * socket or shared cache, say) of a level. Threads queue at their leaf; the holder of a domain
 * queues for it one level up; the holder of the root has the lock. A holder passes the lock on
 * inside its domain up to `threshold` times in a row.
 *
 * Source:     Chabbi, Fagan, Mellor-Crummey, "High Performance Locks for Multi-level NUMA Systems",
 *             PPoPP 2015; for MPI, ICS'19 "Software Combining to Mitigate Multithreaded MPI
 *             Contention", section 4.2. A try that goes to the root directly is the fast path of
 *             Chabbi and Mellor-Crummey, "Contention-conscious, Locality-preserving Locks", PPoPP
 *             2016.
 * Threads:    any number, pinned or not, any number on one leaf; they may come and go. The leaf is
 *             chosen at each acquire and is only a hint: a wrong one costs speed. The caller owns
 *             the node, sets it to zero (TSM_HMCS_NODE_INITIALIZER) before its first use, and does
 *             not touch it from acquire to the end of release. The caller owns the domains too.
 *
 * Proof and pairs are at the end of this file.
 */

#ifndef TSM_HMCS_H_INCLUDED
#define TSM_HMCS_H_INCLUDED

#include <assert.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "../tsm_atomic.h"
#include "tsm_mcs.h"

/* A threshold for machines with a few levels: more is faster and less fair. */
#define TSM_HMCS_THRESHOLD 64

typedef struct tsm_hmcs_domain {
    tsm_mcs_t mcs;                      /* threads that arrive write here */
    char pad1[TSM_CACHELINE - sizeof(tsm_mcs_t)];
    tsm_mcs_node_t node;                /* the holder queues at the parent with it ... */
    uint32_t passes;                    /* ... and got this number with the parent */
    struct tsm_hmcs_domain *parent;     /* NULL for the root */
    char pad2[TSM_CACHELINE - sizeof(tsm_mcs_node_t) - 2 * sizeof(void *)];
} tsm_hmcs_domain_t;

_Static_assert(sizeof(tsm_hmcs_domain_t) == 2 * TSM_CACHELINE, "two lines for a domain");

typedef struct tsm_hmcs {
    tsm_hmcs_domain_t *root;            /* the first of all domains */
    tsm_hmcs_domain_t *leaf;            /* the first of those on the lowest level */
    uint32_t leaves;
    uint32_t depth;
    uint32_t threshold;
    uint32_t cpus;                      /* processor numbers below this map to leaves ... */
    const uint32_t *leaf_of_cpu;        /* ... by this table, or evenly if it is NULL */
} tsm_hmcs_t;

/* One thread's part of the lock. */
typedef struct tsm_hmcs_node {
    tsm_mcs_node_t mcs;
    tsm_hmcs_domain_t *at;              /* from acquire to release: where mcs is queued */
    uint32_t passes;                    /* since the parent of `at` was acquired; 0: we did that */
} tsm_hmcs_node_t;

#define TSM_HMCS_NODE_INITIALIZER { { NULL, 0 }, NULL, 0 }

/* Returns the number of domains that tsm_hmcs_init needs. widths: domains on each level, from the
 * root (1) down to the leaves; no level is narrower than the one above. */
static inline size_t tsm_hmcs_domains(const uint32_t widths[], uint32_t depth)
{
    size_t count = 0;

    assert(depth > 0 && "tsm_hmcs_domains: no level");
    assert(widths[0] == 1 && "tsm_hmcs_domains: more than one root");
    for (uint32_t i = 0; i < depth; i++) {
        assert(i == 0 || widths[i] >= widths[i - 1]);
        count += widths[i];
    }
    return count;
}

/* Make a free lock of `depth` levels; 1 makes a plain MCS lock. domain: tsm_hmcs_domains() of them
 * in any memory that stays while the lock is used. Children are spread evenly over their parents;
 * for an uneven machine, write to `parent` before use. threshold: hand-overs in a row inside a
 * domain, 0 for none, below TSM_MCS_NUMBER_MAX. One thread, before any use; one system call. */
static inline void tsm_hmcs_init(tsm_hmcs_t *lock, tsm_hmcs_domain_t domain[],
                                 const uint32_t widths[], uint32_t depth, uint32_t threshold)
{
    size_t count = tsm_hmcs_domains(widths, depth);
    tsm_hmcs_domain_t *above = NULL, *level = domain;
    long cpus = sysconf(_SC_NPROCESSORS_CONF);

    assert(threshold < TSM_MCS_NUMBER_MAX && "tsm_hmcs_init: the threshold is too large");
    for (uint32_t i = 0; i < depth; i++) {
        for (uint32_t k = 0; k < widths[i]; k++) {
            tsm_mcs_init(&level[k].mcs);
            level[k].parent = above ? &above[(uint64_t) k * widths[i - 1] / widths[i]] : NULL;
            level[k].passes = 0;
        }
        above = level;
        level += widths[i];
    }
    lock->root = domain;
    lock->leaves = widths[depth - 1];
    lock->leaf = domain + count - lock->leaves;
    lock->depth = depth;
    lock->threshold = threshold;
    lock->cpus = cpus > 0 ? (uint32_t) cpus : 1;
    lock->leaf_of_cpu = NULL;
}

/* Returns the leaf of the current processor. Any thread; cheap, never fails. */
static inline uint32_t tsm_hmcs_leaf_here(const tsm_hmcs_t *lock)
{
#ifdef __linux__
    int here = sched_getcpu();
    uint32_t cpu = here > 0 ? (uint32_t) here : 0;
#else
    uint32_t cpu = 0;
#endif

    if (cpu >= lock->cpus)
        return cpu % lock->leaves;
    if (lock->leaf_of_cpu != NULL)
        return lock->leaf_of_cpu[cpu];
    return (uint32_t) ((uint64_t) cpu * lock->leaves / lock->cpus);
}

/* Blocks until the lock is ours. leaf: below lock->leaves, for example tsm_hmcs_leaf_here. Takes
 * each level even if no thread waits there; a caller that mostly finds it free tries first. */
static inline void tsm_hmcs_acquire(tsm_hmcs_t *lock, tsm_hmcs_node_t *node, uint32_t leaf)
{
    tsm_hmcs_domain_t *domain = &lock->leaf[leaf];

    assert(leaf < lock->leaves && "tsm_hmcs_acquire: no such leaf");
    assert(node->at == NULL && "tsm_hmcs_acquire: the node is in use");
    uint32_t passes = tsm_mcs_acquire_number(&domain->mcs, &node->mcs);
    node->at = domain;
    node->passes = passes;
    while (passes == 0 && domain->parent != NULL) {
        passes = tsm_mcs_acquire_number(&domain->parent->mcs, &domain->node);
        domain->passes = passes;
        domain = domain->parent;
    }
}

/* Returns 1 if the lock is now ours, 0 if it was held; the node is then as before. Tries the root
 * directly: the lock is free if the root is, and a failure leaves nothing to undo. Never waits. */
static inline int tsm_hmcs_try(tsm_hmcs_t *lock, tsm_hmcs_node_t *node)
{
    assert(node->at == NULL && "tsm_hmcs_try: the node is in use");
    if (!tsm_mcs_try(&lock->root->mcs, &node->mcs))
        return 0;
    node->at = lock->root;
    node->passes = 0;
    return 1;
}

/* Release the domain in which mcs is queued: pass its parent on with it, or release the parent
 * first. A waiter that has not linked yet is missed and acquires the parent itself. */
static inline void tsm_hmcs_leave_(tsm_hmcs_domain_t *domain, tsm_mcs_node_t *mcs, uint32_t passes,
                                   uint32_t threshold)
{
    if (domain->parent != NULL) {
        if (passes < threshold && tsm_mcs_has_successor(mcs)) {
            tsm_mcs_release_number(&domain->mcs, mcs, passes + 1);
            return;
        }
        tsm_hmcs_leave_(domain->parent, &domain->node, domain->passes, threshold);
    }
    tsm_mcs_release(&domain->mcs, mcs);
}

/* By the holder, with the node it acquired with. Any processor. */
static inline void tsm_hmcs_release(tsm_hmcs_t *lock, tsm_hmcs_node_t *node)
{
    tsm_hmcs_domain_t *domain = node->at;

    assert(domain != NULL && "tsm_hmcs_release: the node holds no lock");
    node->at = NULL;
    tsm_hmcs_leave_(domain, &node->mcs, node->passes, lock->threshold);
}

/*
 * Invariants: (1) a domain is held by at most one thread, by MCS. (2) The number that comes with a
 *             domain is n > 0 exactly if the domain's parent, and all that is above, comes with it,
 *             after n hand-overs in a row; 0 means that the new holder acquires the parent itself.
 *             (3) `node` and `passes` of a domain are used only by the thread that holds the
 *             domain, apart from what MCS does with the node in the parent's queue. (4) `node` is
 *             in the parent's queue only while the domain is held. (5) The lock is held by the
 *             thread that holds the root, directly or as inherited by (2).
 * Progress:   acquire is blocking and FIFO inside a leaf. An entry in the queue of a domain with k
 *             levels below it stands for at most (threshold + 1)^k critical sections, so a queued
 *             thread does not starve. Try is bounded: one MCS try of the root. Release waits only
 *             as MCS does, for a successor between its swap and its link, at each level that it
 *             releases.
 *
 *   release                              acquire
 *   those of tsm_mcs.h, once for each level. The only other atomic access is the check for a
 *   successor, whose result is a hint. The MCS edges of a domain order its node and passes; the
 *   edge of the level where the lock changes hands orders what the lock protects.
 *
 * As in the published code, the number of passes travels in the status word on which the successor
 * waits, so that a hand-over inside a leaf touches the two threads' nodes and nothing else that
 * changes. The published code places its barriers by hand and was shown wrong for Arm ("Verifying
 * and Optimizing the HMCS Lock for Arm Servers", NETYS 2021). Here the word is that of one MCS
 * lock, whose orders can be checked alone. A holder releases the parent before the domain, since
 * the next holder of the domain queues at the parent with the same node.
 */

#endif /* TSM_HMCS_H_INCLUDED */
