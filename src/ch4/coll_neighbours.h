/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef COLL_NEIGHBOURS_H_INCLUDED
#define COLL_NEIGHBOURS_H_INCLUDED

/* For MPI_Neighbor_alltoall and its kin, whose messages have one tag: if a process is a neighbour
 * twice, their order decides which block they arrive in. In a Cartesian topology that is so in a
 * periodic dimension of 1 or 2 processes: what goes in negative direction is then the block from the
 * positive one (MPI-4.0 section 8.6), so the two receives of a dimension change places. In a graph the
 * n-th edge to a process belongs to the n-th edge that this has from here. */

/* A loop over the receives; l_ is the number of the edge. */
#define COLL_FOR_RECEIVES(l_, indegree_, comm_) \
    for (int n_ = 0, crossed_ = coll_is_cartesian(comm_); \
         n_ < (indegree_) && ((l_) = n_ ^ crossed_, 1); n_++)

static inline int coll_is_cartesian(MPIR_Comm * comm)
{
    const MPIR_Topology *topology = MPIR_Topology_get(comm);

    return topology && topology->kind == MPI_CART;
}

#endif /* COLL_NEIGHBOURS_H_INCLUDED */
