/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * What:       makes a tsm_hmcs_t that fits this machine. With TSM_HAVE_HWLOC defined to 1 (and
 *             -lhwloc) the levels are those of hwloc; otherwise they are blocks of consecutive
 *             processor numbers, from what the C library knows.
 * Source:     PPoPP 2015 "High Performance Locks for Multi-level NUMA Systems", section 3, for the
 *             levels worth having; the hwloc 2 manual.
 * Invariants: every leaf has a path to the root; every processor number maps to a leaf.
 * Progress:   for set-up and end only: makes system calls and allocates, and never ends the
 *             program. Nothing is bound, and nothing else of the process changes.
 * Pairs:      none: one thread, before and after all use of the lock.
 * Threads:    one at a time for each lock.
 */

#ifndef TSM_HMCS_TOPOLOGY_H_INCLUDED
#define TSM_HMCS_TOPOLOGY_H_INCLUDED

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

/* The shape of a lock: widths of its levels from the root down, and where they come from. */
typedef struct tsm_hmcs_shape {
    uint32_t depth;
    uint32_t widths[TSM_HMCS_DEPTH_MAX];
    int hwloc_depth[TSM_HMCS_DEPTH_MAX];
} tsm_hmcs_shape_t;

/* The lock with domains of its own and room for a table of processors; 0 or ENOMEM. */
static inline int tsm_hmcs_allocate_(tsm_hmcs_t *lock, const tsm_hmcs_shape_t *shape,
                                     uint32_t threshold, uint32_t table, uint32_t **leaf_of_cpu)
{
    size_t count = tsm_hmcs_domains(shape->widths, shape->depth);
    tsm_hmcs_domain_t *domain = malloc(count * sizeof(*domain));

    *leaf_of_cpu = table > 0 ? calloc(table, sizeof(**leaf_of_cpu)) : NULL;
    if (domain == NULL || (table > 0 && *leaf_of_cpu == NULL)) {
        free(domain);
        free(*leaf_of_cpu);
        return ENOMEM;
    }
    tsm_hmcs_init(lock, domain, shape->widths, shape->depth, threshold);
    return 0;
}

#if TSM_HAVE_HWLOC
/* The outermost levels that divide the one above and hold more than one processor each. */
static inline void tsm_hmcs_shape_(hwloc_topology_t topology, uint32_t depth,
                                   tsm_hmcs_shape_t *shape)
{
    int levels = hwloc_topology_get_depth(topology);
    uint32_t pus = (uint32_t) hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);

    *shape = (tsm_hmcs_shape_t) { .depth = 1, .widths = { 1 } };
    for (int d = 1; d < levels && shape->depth < depth; d++) {
        uint32_t width = hwloc_get_nbobjs_by_depth(topology, d);
        if (width <= shape->widths[shape->depth - 1] || width >= pus)
            continue;
        shape->widths[shape->depth] = width;
        shape->hwloc_depth[shape->depth++] = d;
    }
}

/* Where the machine is not even, the parents are not the ones that tsm_hmcs_init set. */
static inline void tsm_hmcs_parents_(hwloc_topology_t topology, const tsm_hmcs_shape_t *shape,
                                     tsm_hmcs_domain_t *level)
{
    for (uint32_t i = 1; i < shape->depth; i++) {
        tsm_hmcs_domain_t *above = level;
        level += shape->widths[i - 1];
        for (uint32_t k = 0; k < shape->widths[i]; k++) {
            hwloc_obj_t object = hwloc_get_obj_by_depth(topology, shape->hwloc_depth[i], k);
            hwloc_obj_t parent =
                hwloc_get_ancestor_obj_by_depth(topology, shape->hwloc_depth[i - 1], object);
            if (parent != NULL)
                level[k].parent = &above[parent->logical_index];
        }
    }
}

/* Fill the table: for each processor its object on the leaf level. */
static inline void tsm_hmcs_table_(hwloc_topology_t topology, int leaf_depth, uint32_t cpus,
                                   uint32_t *leaf_of_cpu)
{
    hwloc_obj_t pu = NULL;

    while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL) {
        hwloc_obj_t leaf = hwloc_get_ancestor_obj_by_depth(topology, leaf_depth, pu);
        if (leaf != NULL && pu->os_index < cpus)
            leaf_of_cpu[pu->os_index] = leaf->logical_index;
    }
}

/* The lock from a loaded topology; 0 or ENOMEM. */
static inline int tsm_hmcs_from_hwloc_(hwloc_topology_t topology, tsm_hmcs_t *lock,
                                       uint32_t depth, uint32_t threshold)
{
    hwloc_const_bitmap_t all = hwloc_topology_get_complete_cpuset(topology);
    uint32_t cpus = (uint32_t) (hwloc_bitmap_last(all) + 1);
    uint32_t *leaf_of_cpu;
    tsm_hmcs_shape_t shape;

    tsm_hmcs_shape_(topology, depth, &shape);
    if (tsm_hmcs_allocate_(lock, &shape, threshold, cpus, &leaf_of_cpu) != 0)
        return ENOMEM;
    tsm_hmcs_parents_(topology, &shape, lock->root);
    tsm_hmcs_table_(topology, shape.hwloc_depth[shape.depth - 1], cpus, leaf_of_cpu);
    lock->cpus = cpus;
    lock->leaf_of_cpu = leaf_of_cpu;
    return 0;
}

static inline int tsm_hmcs_build_(tsm_hmcs_t *lock, uint32_t depth, uint32_t threshold)
{
    hwloc_topology_t topology;
    int rc = ENOMEM;

    if (hwloc_topology_init(&topology) != 0)
        return ENOMEM;
    if (hwloc_topology_load(topology) == 0)
        rc = tsm_hmcs_from_hwloc_(topology, lock, depth, threshold);
    hwloc_topology_destroy(topology);
    return rc;
}
#else
/* Blocks of processors; groups of blocks above them, as long as there is more than one. */
static inline void tsm_hmcs_shape_(uint32_t cpus, uint32_t depth, tsm_hmcs_shape_t *shape)
{
    uint32_t up[TSM_HMCS_DEPTH_MAX];
    uint32_t width = (cpus + TSM_HMCS_LEAF_CPUS - 1) / TSM_HMCS_LEAF_CPUS, levels = 0;

    for (; width > 1 && levels < depth - 1; width = (width + TSM_HMCS_CHILDREN - 1) /
         TSM_HMCS_CHILDREN)
        up[levels++] = width;
    *shape = (tsm_hmcs_shape_t) { .depth = levels + 1, .widths = { 1 } };
    for (uint32_t i = 1; i <= levels; i++)
        shape->widths[i] = up[levels - i];
}

static inline int tsm_hmcs_build_(tsm_hmcs_t *lock, uint32_t depth, uint32_t threshold)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    uint32_t *none;
    tsm_hmcs_shape_t shape;

    tsm_hmcs_shape_(cpus > 0 ? (uint32_t) cpus : 1, depth, &shape);
    return tsm_hmcs_allocate_(lock, &shape, threshold, 0, &none);
}
#endif

/* Make a free lock of at most `depth` levels, and fewer (see lock->depth) if the machine has no use
 * for them; on a machine with one domain it is a plain MCS lock. threshold: as tsm_hmcs_init.
 * Returns 0, or ENOMEM and leaves no lock. One thread, before any use; allocates. */
static inline int tsm_hmcs_init_topology(tsm_hmcs_t *lock, uint32_t depth, uint32_t threshold)
{
    assert(depth > 0 && depth <= TSM_HMCS_DEPTH_MAX && "tsm_hmcs_init_topology: bad depth");
    return tsm_hmcs_build_(lock, depth, threshold);
}

/* End of a lock made by tsm_hmcs_init_topology; it must be free. One thread, after all others are
 * done. */
static inline void tsm_hmcs_destroy_topology(tsm_hmcs_t *lock)
{
    assert(tsm_load(&lock->root->mcs.tail, TSM_RELAXED) == NULL &&
           "tsm_hmcs_destroy_topology: the lock is held");
    free((void *) lock->leaf_of_cpu);
    free(lock->root);
    lock->root = NULL;
}

#endif /* TSM_HMCS_TOPOLOGY_H_INCLUDED */
