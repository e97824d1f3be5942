/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef TOPO_LOCKED_H_INCLUDED
#define TOPO_LOCKED_H_INCLUDED

/* For topoutil.c: the key of topologies is made once, whichever threads need it first. */
#include "table_lock.h"

static MPL_initlock_t topo_lock = MPL_INITLOCK_INITIALIZER;

static int topology_put(MPIR_Comm * comm, MPIR_Topology * topo);

int MPIR_Topology_put(MPIR_Comm * comm, MPIR_Topology * topo)
TABLE_LOCKED(topo_lock, topology_put(comm, topo))

#define MPIR_Topology_put topology_put

#endif /* TOPO_LOCKED_H_INCLUDED */
