/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_STATS_PLACES_H_INCLUDED
#define MPIDI_STATS_PLACES_H_INCLUDED

/* The core and the NUMA node of each processor, from Linux. Where Linux does not say, each processor is
 * a core of its own, and all are in node 0. */

/* Read them. Returns 0 without memory. By one thread, before the rest; again after it ends. */
int MPIDI_places_read(void);
void MPIDI_places_forget(void);

/* How many numbers there may be; 0 before MPIDI_places_read. */
int MPIDI_places_cores(void);
int MPIDI_places_nodes(void);

/* Of a processor: the lowest processor of its core, and its NUMA node. In range for any cpu. Any
 * thread. */
int MPIDI_places_core(int cpu);
int MPIDI_places_node(int cpu);

#endif /* MPIDI_STATS_PLACES_H_INCLUDED */
