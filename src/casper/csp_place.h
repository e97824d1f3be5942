/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_PLACE_H_INCLUDED
#define CSP_PLACE_H_INCLUDED

/* Which processes of a node become ghosts, and whose. Each process is in a domain, a part of the node
 * as a NUMA node or a socket. The ghosts are dealt to the domains by their processes; in a domain the
 * last ones become ghosts, and the others are dealt to them in blocks. Users of a domain without
 * ghosts go to those that have the fewest. Knows nothing of MPI. */

#define CSP_IS_GHOST (-1)

/* domain[n]: of each process, any numbers. 0 < ghosts < n. Fills in owner[n]: CSP_IS_GHOST, or the
 * ghost of a user: 0 for the first ghost among the n, and so on. Returns 0 without memory. */
int csp_place(const int *domain, int n, int ghosts, int *owner);

#endif /* CSP_PLACE_H_INCLUDED */
