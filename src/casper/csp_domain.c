/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifdef HAVE_CONFIG_H
#include "mpichconf.h"
#endif
#include "csp_domain.h"

#ifdef HAVE_HWLOC

int csp_domain_is_known(csp_domain_kind_t kind)
{
    return kind == CSP_MACHINE || kind == CSP_SOCKET || kind == CSP_NUMA;
}

/* Memory of several kinds can have the same processors; the first one counts. */
int csp_domain_of_set(hwloc_topology_t topology, hwloc_const_cpuset_t set, csp_domain_kind_t kind)
{
    const hwloc_obj_type_t type = kind == CSP_NUMA ? HWLOC_OBJ_NUMANODE : HWLOC_OBJ_PACKAGE;
    hwloc_obj_t obj = NULL;

    if (kind == CSP_MACHINE || hwloc_bitmap_iszero(set))
        return -1;
    while ((obj = hwloc_get_next_obj_by_type(topology, type, obj)) != NULL) {
        if (hwloc_bitmap_isincluded(set, obj->cpuset))
            return (int) obj->logical_index;
    }
    return -1;
}

static int look_up(hwloc_topology_t topology, csp_domain_kind_t kind)
{
    hwloc_cpuset_t set = hwloc_bitmap_alloc();
    int domain = -1;

    if (set && hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0)
        domain = csp_domain_of_set(topology, set, kind);
    hwloc_bitmap_free(set);
    return domain;
}

int csp_domain_of_self(csp_domain_kind_t kind)
{
    hwloc_topology_t topology;
    int domain = -1;

    if (kind == CSP_MACHINE || hwloc_topology_init(&topology) != 0)
        return -1;
    if (hwloc_topology_load(topology) == 0)
        domain = look_up(topology, kind);
    hwloc_topology_destroy(topology);
    return domain;
}

#else

int csp_domain_is_known(csp_domain_kind_t kind)
{
    return kind == CSP_MACHINE;
}

int csp_domain_of_self(csp_domain_kind_t kind)
{
    (void) kind;
    return -1;
}

#endif
