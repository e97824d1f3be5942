/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Dist_graph_create: each process names edges between any two processes, in each round another
 * number of them, and the neighbours and weights of each process are compared with those that follow
 * from all edges.  Over several nodes messages come from the node and from the network at a time; each
 * allocation within the call takes a while, so that the thread of asynchronous progress takes one in
 * between a probe and its receive. */
#include "mt.h"

#define EDGES 40                /* a process names fewer */

typedef struct {
    int from, to, weight;
} edge_t;

static volatile int is_slow;    /* whether malloc pauses, which is called between probe and receive */

#ifndef __SANITIZE_THREAD__     /* it has an allocation of its own */
extern void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
    if (is_slow)
        usleep(50);
    return __libc_malloc(size);
}
#endif

/* The edges that a process names in a round, sorted by their first process. Returns their number. */
static int edges_of(int rank, long round, edge_t edge[EDGES])
{
    uint64_t rng = mt_hash(mt.seed * 1000003u + (uint64_t) (round * mt.size + rank));
    int n = (int) (mt_rand(&rng) % EDGES);

    for (int i = 0; i < n; i++) {
        edge[i].from = i * mt.size / n;
        edge[i].to = (int) (mt_rand(&rng) % (uint64_t) mt.size);
        edge[i].weight = (int) (mt_rand(&rng) % 1000);
    }
    return n;
}

static MPI_Comm create(long round)
{
    int degree[EDGES], from[EDGES], to[EDGES], weight[EDGES];
    edge_t edge[EDGES];
    int n = edges_of(mt.rank, round, edge);
    MPI_Comm graph;

    for (int i = 0; i < n; i++) {
        degree[i] = 1;
        from[i] = edge[i].from;
        to[i] = edge[i].to;
        weight[i] = edge[i].weight;
    }
    is_slow = mt.rank % 2 == 0;         /* the others send meanwhile */
    MT_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, from, degree, to, weight, MPI_INFO_NULL, 0, &graph));
    is_slow = 0;
    return graph;
}

static int compare(const void *a, const void *b)
{
    return *(const int *) a - *(const int *) b;
}

/* The neighbours that a process found, with their weights, in any order. */
static void check(int n, const int neighbour[], const int weight[], int want[], int n_want, long round)
{
    int found[n + 1];

    MT_CHECK(n == n_want, "round %ld: %d neighbours instead of %d", round, n, n_want);
    for (int i = 0; i < n; i++)
        found[i] = neighbour[i] * 1000 + weight[i];
    qsort(found, (size_t) n, sizeof(int), compare);
    qsort(want, (size_t) n, sizeof(int), compare);
    MT_CHECK(!memcmp(found, want, (size_t) n * sizeof(int)), "round %ld: other neighbours", round);
}

static void one_round(long round)
{
    int most = mt.size * EDGES, ins, outs, weighted, n_in = 0, n_out = 0;
    int in[most], in_weight[most], out[most], out_weight[most], want_in[most], want_out[most];
    MPI_Comm graph = create(round);
    edge_t edge[EDGES];

    for (int rank = 0; rank < mt.size; rank++) {
        int n = edges_of(rank, round, edge);
        for (int i = 0; i < n; i++) {
            if (edge[i].to == mt.rank)
                want_in[n_in++] = edge[i].from * 1000 + edge[i].weight;
            if (edge[i].from == mt.rank)
                want_out[n_out++] = edge[i].to * 1000 + edge[i].weight;
        }
    }
    MT_OK(MPI_Dist_graph_neighbors_count(graph, &ins, &outs, &weighted));
    MT_CHECK(ins <= most && outs <= most, "round %ld: %d and %d neighbours", round, ins, outs);
    MT_OK(MPI_Dist_graph_neighbors(graph, ins, in, in_weight, outs, out, out_weight));
    check(ins, in, in_weight, want_in, n_in, round);
    check(outs, out, out_weight, want_out, n_out, round);
    MT_OK(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 200);
    for (long round = 0; round < mt.iters; round++)
        one_round(round);
    return mt_finish();
}
