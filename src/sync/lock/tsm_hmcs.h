/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       HMCS<N>, a tree of MCS locks that follows the machine: N levels, one lock for each
 *             domain (say, socket or shared cache) of a level. Threads queue at their leaf; who
 *             holds a domain queues for it one level up; who holds the root has the lock. A holder
 *             passes the lock on inside its domain up to `threshold` times in a row.
 * Source:     Chabbi, Fagan, Mellor-Crummey, "High Performance Locks for Multi-level NUMA Systems",
 *             PPoPP 2015; for MPI, ICS'19 "Software Combining to Mitigate Multithreaded MPI
 *             Contention", section 4.2. A try that goes to the root directly is the fast path of
 *             Chabbi and Mellor-Crummey, "Contention-conscious, Locality-preserving Locks", PPoPP
 *             2016.
 * Invariants: (1) a domain is held by at most one thread, by MCS. (2) The plain fields of a domain
 *             are touched only by the thread that holds it. (3) `above` is 1 exactly while the
 *             holder of the domain, or the waiter to whom it is being passed, has all domains
 *             above; it is 0 whenever the domain is free. (4) The `node` of a domain is in its
 *             parent's queue only while the domain is held. (5) The lock is held by the thread that
 *             holds the root, directly or as inherited by (3).
 * Progress:   acquire is blocking and FIFO inside a leaf. An entry in the queue of a domain with k
 *             levels below it stands for at most (threshold + 1)^k critical sections, so who is
 *             queued does not starve. Try is bounded: one MCS try of the root. Release waits only
 *             as MCS does, for a successor that stands between its swap and its link, at each level
 *             that it gives up.
 *
 *   release                              acquire
 *   those of tsm_mcs.h, once for each level; nothing else here is atomic but one look at a link
 *   whose result is only a hint. above, passes and node travel from holder to holder of the domain
 *   along the MCS edges; what the lock protects, along the edge of the level where it changes
 *   hands.
 *
 * The published code keeps the number of passes in the status word on which the successor spins,
 * and "go up yourself" as one more value of it, with barriers placed by hand. These were shown
 * wrong for Arm ("Verifying and Optimizing the HMCS Lock for Arm Servers", NETYS 2021). Here the
 * number and the flag are plain fields under the lock of their domain, so that the only orders
 * needed are those of one MCS lock, which can be checked alone. The rule that makes it a
 * hierarchy is kept: a domain gives up its parent before itself, since the next holder of the
 * domain queues at the parent with the same node. The price is one more cache line that moves
 * inside the domain with each hand-over.
 *
 * Threads:    any number, pinned or not, any number on one leaf; they may come and go. The leaf is
 *             chosen anew with each acquire and is only a hint: a wrong one costs speed. The caller
 *             owns the node, which must be zero (TSM_HMCS_NODE_INITIALIZER) at first and stay
 *             untouched from acquire to the end of release. The domains are the caller's too.
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

/* Passes inside a domain that are worth their unfairness on machines with a few levels. */
#define TSM_HMCS_THRESHOLD 64

typedef struct tsm_hmcs_domain {
    tsm_mcs_t mcs;                      /* who comes writes here */
    char pad1[TSM_CACHELINE - sizeof(tsm_mcs_t)];
    tsm_mcs_node_t node;                /* with which the holder queues at the parent */
    struct tsm_hmcs_domain *parent;     /* NULL for the root */
    uint32_t above;                     /* the parent and all above it come with this domain */
    uint32_t passes;                    /* since the parent was acquired */
    char pad2[TSM_CACHELINE - sizeof(tsm_mcs_node_t) - sizeof(void *) - 2 * sizeof(uint32_t)];
} tsm_hmcs_domain_t;

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
} tsm_hmcs_node_t;

#define TSM_HMCS_NODE_INITIALIZER { { NULL, 0 }, NULL }

/* Number of domains that tsm_hmcs_init needs. widths: domains on each level, from the root, which
 * is one, down to the leaves; no level narrower than the one above. */
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
 * in any memory, the lock's while it is used. Children are spread evenly over their parents; for a
 * machine that is not even, write to `parent` before use. threshold: hand-overs in a row inside a
 * domain, 0 for none. One thread, before any use; makes a system call. */
static inline void tsm_hmcs_init(tsm_hmcs_t *lock, tsm_hmcs_domain_t domain[],
                                 const uint32_t widths[], uint32_t depth, uint32_t threshold)
{
    size_t count = tsm_hmcs_domains(widths, depth);
    tsm_hmcs_domain_t *above = NULL, *level = domain;
    long cpus = sysconf(_SC_NPROCESSORS_CONF);

    for (uint32_t i = 0; i < depth; i++) {
        for (uint32_t k = 0; k < widths[i]; k++) {
            tsm_mcs_init(&level[k].mcs);
            level[k].parent = above ? &above[(uint64_t) k * widths[i - 1] / widths[i]] : NULL;
            level[k].above = 0;
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

/* A leaf for the processor that we run on now. Any thread; cheap, never fails. */
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

/* Blocks until the lock is ours. leaf: below lock->leaves, from tsm_hmcs_leaf_here or otherwise.
 * Takes each level even if nobody is there; who mostly finds the lock free calls try first. */
static inline void tsm_hmcs_acquire(tsm_hmcs_t *lock, tsm_hmcs_node_t *node, uint32_t leaf)
{
    tsm_hmcs_domain_t *domain = &lock->leaf[leaf];
    tsm_mcs_node_t *mcs = &node->mcs;

    assert(leaf < lock->leaves && "tsm_hmcs_acquire: no such leaf");
    assert(node->at == NULL && "tsm_hmcs_acquire: the node is in use");
    node->at = domain;
    tsm_mcs_acquire(&domain->mcs, mcs);
    while (domain->parent != NULL && !domain->above) {
        /* true once we are through; nobody looks earlier, since we hold the domain */
        domain->above = 1;
        domain->passes = 0;
        mcs = &domain->node;
        domain = domain->parent;
        tsm_mcs_acquire(&domain->mcs, mcs);
    }
}

/* Returns 1 if the lock is now ours, 0 if it was held; the node is then as before. Goes to the root
 * directly: a root that is free is a lock that is free, and nothing is to be undone if not. Never
 * waits. */
static inline int tsm_hmcs_try(tsm_hmcs_t *lock, tsm_hmcs_node_t *node)
{
    assert(node->at == NULL && "tsm_hmcs_try: the node is in use");
    if (!tsm_mcs_try(&lock->root->mcs, &node->mcs))
        return 0;
    node->at = lock->root;
    return 1;
}

/* Does the holder of the domain pass it on with all that is above? Relaxed: a waiter that is
 * overlooked goes up itself. */
static inline int tsm_hmcs_pass_(tsm_hmcs_domain_t *domain, tsm_mcs_node_t *mcs, uint32_t threshold)
{
    if (domain->passes >= threshold || tsm_load(&mcs->next, TSM_RELAXED) == NULL)
        return 0;
    domain->passes++;
    return 1;
}

/* Give up the domain in which mcs is queued, after what is above it unless that is passed on. */
static inline void tsm_hmcs_leave_(tsm_hmcs_domain_t *domain, tsm_mcs_node_t *mcs,
                                   uint32_t threshold)
{
    if (domain->parent != NULL && !tsm_hmcs_pass_(domain, mcs, threshold)) {
        domain->above = 0;
        tsm_hmcs_leave_(domain->parent, &domain->node, threshold);
    }
    tsm_mcs_release(&domain->mcs, mcs);
}

/* By the holder, with the node it acquired with. Any processor. */
static inline void tsm_hmcs_release(tsm_hmcs_t *lock, tsm_hmcs_node_t *node)
{
    tsm_hmcs_domain_t *domain = node->at;

    assert(domain != NULL && "tsm_hmcs_release: the node holds no lock");
    node->at = NULL;
    tsm_hmcs_leave_(domain, &node->mcs, lock->threshold);
}

#endif /* TSM_HMCS_H_INCLUDED */
