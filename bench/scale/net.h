/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The network of the simulated program, of given costs. VCI i is process i's.
 *   alone   an operation completes `latency` after it was issued
 *   pairs   a message goes from one VCI to the other one, where a receive of its tag takes it
 * All but net_init with the VCI held. Compiled like the program: its own accesses count. */
#ifndef NET_H_INCLUDED
#define NET_H_INCLUDED

struct MPIR_Comm;
struct MPIR_Request;

/* Costs in picoseconds. */
typedef struct net_costs {
    uint64_t issue;             /* one send or receive */
    uint64_t take;              /* one message or completion that a poll finds */
    uint64_t poll;              /* one that finds nothing */
    uint64_t latency;
} net_costs_t;

/* most: operations or messages of one VCI that are under way; tags: how many there are. */
void net_init(int pairs, const net_costs_t * costs, int most, int tags);

/* *req: NULL, or the request to use, as in MPICH's own functions. */
void net_isend(struct MPIR_Comm *comm, int tag, struct MPIR_Request **req);
void net_irecv(struct MPIR_Comm *comm, int tag, struct MPIR_Request **req);

#endif /* NET_H_INCLUDED */
