/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * Makes HMCS locks that fit this machine. A tsm_hmcs_topology_t describes the machine; any number
 * of locks can be made from it. With TSM_HAVE_HWLOC defined to 1 (and -lhwloc) its levels are
 * the innermost ones of hwloc's tree; otherwise they are blocks of consecutive processor numbers.
 *
 * Source:     PPoPP 2015 "High Performance Locks for Multi-level NUMA Systems", section 3, for the
 *             levels worth having; the hwloc 2 manual.
 * Threads:    one at a time for each topology and each lock; any number read one topology.
 *
 * Invariants and progress are at the end of this file.
 */

#ifndef TSM_HMCS_TOPOLOGY_H_INCLUDED
#define TSM_HMCS_TOPOLOGY_H_INCLUDED

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tsm_hmcs.h"

#ifndef TSM_HAVE_HWLOC
#define TSM_HAVE_HWLOC 0
#endif

#if TSM_HAVE_HWLOC
#include <hwloc.h>
#endif

/* More levels than any machine has. */
#define TSM_HMCS_DEPTH_MAX 8

/* Without hwloc: processors in a leaf, and children of a domain. */
#define TSM_HMCS_LEAF_CPUS 8
#define TSM_HMCS_CHILDREN  4

typedef struct tsm_hmcs_topology {
    uint32_t depth;
    uint32_t widths[TSM_HMCS_DEPTH_MAX];        /* domains of each level from the root down */
    uint32_t *parent;           /* of each domain but the root, numbers from the root; or NULL */
    uint32_t cpus;
    uint32_t *leaf_of_cpu;      /* or NULL: evenly */
} tsm_hmcs_topology_t;

#if TSM_HAVE_HWLOC
/* The levels of hwloc that divide the one above and hold more than one processor each, from the
 * outermost. Returns how many; all of them even if `depths` has room for fewer. */
static inline uint32_t tsm_hmcs_levels_(hwloc_topology_t hwloc, int depths[], uint32_t room)
{
    uint32_t pus = (uint32_t) hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_PU);
    uint32_t last = 1, count = 0;

    for (int d = 1; d < hwloc_topology_get_depth(hwloc); d++) {
        uint32_t width = hwloc_get_nbobjs_by_depth(hwloc, d);
        if (width <= last || width >= pus)
            continue;
        if (count < room)
            depths[count] = d;
        last = width;
        count++;
    }
    return count;
}

/* Choose the innermost depth - 1 of those levels, below a root of our own. hwloc_depth: returns
 * where they are. */
static inline int tsm_hmcs_choose_(tsm_hmcs_topology_t *topology, hwloc_topology_t hwloc,
                                   uint32_t depth, int hwloc_depth[])
{
    uint32_t all = (uint32_t) hwloc_topology_get_depth(hwloc);
    int *depths = malloc(all * sizeof(*depths));

    if (depths == NULL)
        return ENOMEM;
    uint32_t count = tsm_hmcs_levels_(hwloc, depths, all);
    uint32_t skip = count > depth - 1 ? count - (depth - 1) : 0;

    topology->depth = 1 + count - skip;
    topology->widths[0] = 1;
    for (uint32_t i = 1; i < topology->depth; i++) {
        hwloc_depth[i] = depths[skip + i - 1];
        topology->widths[i] = hwloc_get_nbobjs_by_depth(hwloc, hwloc_depth[i]);
    }
    free(depths);
    return 0;
}

/* Machines may be uneven, so replace the parents that tsm_hmcs_init sets. */
static inline void tsm_hmcs_parents_(tsm_hmcs_topology_t *topology, hwloc_topology_t hwloc,
                                     const int hwloc_depth[])
{
    uint32_t *parent = topology->parent;

    parent[0] = 0;
    for (uint32_t i = 1, above = 0, level = 1; i < topology->depth; i++) {
        for (uint32_t k = 0; k < topology->widths[i]; k++) {
            hwloc_obj_t object = hwloc_get_obj_by_depth(hwloc, hwloc_depth[i], k), up = NULL;
            if (i > 1 && object != NULL)
                up = hwloc_get_ancestor_obj_by_depth(hwloc, hwloc_depth[i - 1], object);
            parent[level + k] = above + (up != NULL ? up->logical_index : 0);
        }
        above = level;
        level += topology->widths[i];
    }
}

/* Find the leaf of each processor. */
static inline void tsm_hmcs_leaves_(tsm_hmcs_topology_t *topology, hwloc_topology_t hwloc,
                                    int leaf_depth)
{
    hwloc_obj_t pu = NULL;

    while ((pu = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_PU, pu)) != NULL) {
        hwloc_obj_t leaf = hwloc_get_ancestor_obj_by_depth(hwloc, leaf_depth, pu);
        if (leaf != NULL && pu->os_index < topology->cpus)
            topology->leaf_of_cpu[pu->os_index] = leaf->logical_index;
    }
}

static inline int tsm_hmcs_from_hwloc_(tsm_hmcs_topology_t *topology, hwloc_topology_t hwloc,
                                       uint32_t depth)
{
    int last = hwloc_bitmap_last(hwloc_topology_get_complete_cpuset(hwloc));
    int hwloc_depth[TSM_HMCS_DEPTH_MAX];

    if (tsm_hmcs_choose_(topology, hwloc, depth, hwloc_depth) != 0)
        return ENOMEM;
    topology->cpus = last < 0 ? 1 : (uint32_t) last + 1;
    topology->parent = calloc(tsm_hmcs_domains(topology->widths, topology->depth),
                              sizeof(*topology->parent));
    topology->leaf_of_cpu = calloc(topology->cpus, sizeof(*topology->leaf_of_cpu));
    if (topology->parent == NULL || topology->leaf_of_cpu == NULL)
        return ENOMEM;
    tsm_hmcs_parents_(topology, hwloc, hwloc_depth);
    if (topology->depth > 1)
        tsm_hmcs_leaves_(topology, hwloc, hwloc_depth[topology->depth - 1]);
    return 0;
}

static inline int tsm_hmcs_describe_(tsm_hmcs_topology_t *topology, uint32_t depth)
{
    hwloc_topology_t hwloc;
    int rc = ENOMEM;

    if (hwloc_topology_init(&hwloc) != 0)
        return ENOMEM;
    if (hwloc_topology_load(hwloc) == 0)
        rc = tsm_hmcs_from_hwloc_(topology, hwloc, depth);
    hwloc_topology_destroy(hwloc);
    return rc;
}
#else
/* Blocks of processors; groups of blocks above them, as long as there is more than one. */
static inline void tsm_hmcs_blocks_(tsm_hmcs_topology_t *topology, uint32_t cpus, uint32_t depth)
{
    uint32_t up[TSM_HMCS_DEPTH_MAX], levels = 0;
    uint32_t width = (cpus + TSM_HMCS_LEAF_CPUS - 1) / TSM_HMCS_LEAF_CPUS;

    while (width > 1 && levels < depth - 1) {
        up[levels++] = width;
        width = (width + TSM_HMCS_CHILDREN - 1) / TSM_HMCS_CHILDREN;
    }
    topology->depth = levels + 1;
    topology->widths[0] = 1;
    for (uint32_t i = 1; i <= levels; i++)
        topology->widths[i] = up[levels - i];
    topology->cpus = cpus;
}

static inline int tsm_hmcs_describe_(tsm_hmcs_topology_t *topology, uint32_t depth)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);

    tsm_hmcs_blocks_(topology, cpus > 0 ? (uint32_t) cpus : 1, depth);
    return 0;
}
#endif

/* Destroy a topology, after all locks made from it. */
static inline void tsm_hmcs_topology_destroy(tsm_hmcs_topology_t *topology)
{
    free(topology->parent);
    free(topology->leaf_of_cpu);
    topology->parent = NULL;
    topology->leaf_of_cpu = NULL;
}

/* Describe this machine by at most `depth` levels, and fewer (see `depth`) if it has no use for
 * them: with one level a lock is a plain MCS lock. The levels left out are the outermost below the
 * root, since handing over pays most where threads are closest. Returns 0, or ENOMEM and leaves
 * nothing. */
static inline int tsm_hmcs_topology_init(tsm_hmcs_topology_t *topology, uint32_t depth)
{
    assert(depth > 0 && depth <= TSM_HMCS_DEPTH_MAX && "tsm_hmcs_topology_init: bad depth");
    memset(topology, 0, sizeof(*topology));
    int rc = tsm_hmcs_describe_(topology, depth);
    if (rc != 0)
        tsm_hmcs_topology_destroy(topology);
    return rc;
}

/* Make a free lock of that shape. threshold: as tsm_hmcs_init. The topology must stay as long as
 * the lock. Returns 0, or ENOMEM and leaves no lock. One thread, before any use. */
static inline int tsm_hmcs_init_topology(tsm_hmcs_t *lock, const tsm_hmcs_topology_t *topology,
                                         uint32_t threshold)
{
    size_t count = tsm_hmcs_domains(topology->widths, topology->depth);
    tsm_hmcs_domain_t *domain = aligned_alloc(TSM_CACHELINE, count * sizeof(*domain));

    if (domain == NULL)
        return ENOMEM;
    tsm_hmcs_init(lock, domain, topology->widths, topology->depth, threshold);
    for (size_t i = 1; topology->parent != NULL && i < count; i++)
        domain[i].parent = &domain[topology->parent[i]];
    lock->cpus = topology->cpus;
    lock->leaf_of_cpu = topology->leaf_of_cpu;
    return 0;
}

/* Destroy a free lock made by tsm_hmcs_init_topology. One thread, after all others are done. */
static inline void tsm_hmcs_destroy_topology(tsm_hmcs_t *lock)
{
    assert(tsm_load(&lock->root->mcs.tail, TSM_RELAXED) == NULL &&
           "tsm_hmcs_destroy_topology: the lock is held");
    free(lock->root);
    lock->root = NULL;
}

/*
 * Invariants: every leaf has a path to the root; every processor number maps to a leaf.
 * Progress:   for set-up and end only: makes system calls and allocates, and never aborts. Binds no
 *             thread and changes nothing else in the process.
 */

#endif /* TSM_HMCS_TOPOLOGY_H_INCLUDED */
