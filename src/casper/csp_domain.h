/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_DOMAIN_H_INCLUDED
#define CSP_DOMAIN_H_INCLUDED

/* The part of the machine on which a process runs, by hwloc. Knows nothing of MPI. */

typedef enum csp_domain_kind {
    CSP_MACHINE,                /* all of the node is one domain */
    CSP_SOCKET,
    CSP_NUMA
} csp_domain_kind_t;

/* 1 if the kind can be told apart here: without hwloc only the machine can. */
int csp_domain_is_known(csp_domain_kind_t kind);

/* The domain to which this process is bound, as hwloc numbers them; -1 if it is bound to more than one,
 * or to none. */
int csp_domain_of_self(csp_domain_kind_t kind);

#ifdef HAVE_HWLOC
#include "hwloc.h"

/* The domain that has all these processors, or -1. */
int csp_domain_of_set(hwloc_topology_t topology, hwloc_const_cpuset_t set, csp_domain_kind_t kind);
#endif

#endif /* CSP_DOMAIN_H_INCLUDED */
