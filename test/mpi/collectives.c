/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Collectives on one communicator per thread, at the same time as point-to-point traffic on the
 * world communicator; every result is checked. */
#include "mt.h"

#define N 33

static MPI_Comm comm[MT_MAX_THREADS];

static void collectives(MPI_Comm c, long i)
{
    int in[N], out[N], root = (int) (i % mt.size), bc[N];
    int *a = mt_alloc(sizeof(int) * (size_t) mt.size);
    int *b = mt_alloc(sizeof(int) * (size_t) mt.size);
    MPI_Request r;
    for (int k = 0; k < N; k++) {
        in[k] = mt.rank + k + (int) i;
        bc[k] = mt.rank == root ? (int) i * k : -1;
    }
    MPI_Ibcast(bc, N, MPI_INT, root, c, &r);
    MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, c);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int k = 0; k < N; k++) {
        MT_CHECK(out[k] == mt.size * (k + (int) i) + mt.size * (mt.size - 1) / 2, "sum is %d",
                 out[k]);
        MT_CHECK(bc[k] == (int) i * k, "broadcast gave %d", bc[k]);
    }
    for (int p = 0; p < mt.size; p++)
        a[p] = mt.rank * 1000 + p + (int) i;
    MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, c);
    for (int p = 0; p < mt.size; p++)
        MT_CHECK(b[p] == p * 1000 + mt.rank + (int) i, "all-to-all gave %d", b[p]);
    MPI_Barrier(c);
    free(a);
    free(b);
}

static void exchange(int id, long i)
{
    int out = (int) i, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, mt.peer, id, &in, 1, MPI_INT, mt.peer, id, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MT_CHECK(in == out, "exchange gave %d", in);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (long i = 0; i < mt.iters; i++) {
        if (t->id % 2 == 0 || i % 4 == 0)
            collectives(comm[t->id], i);
        if (t->id % 2)
            for (int k = 0; k < 4; k++)
                exchange(t->id, 4 * i + k);
    }
    return NULL;
}

/* Three edges from rank 1 to rank 0, with 1, 2 and 3 elements, and one back with 2. MPICH 4.0.2 reads
 * as many counts of sends as there are edges in, and of receives as there are edges out. */
static void uneven_graph(void)
{
    static const int three[3] = { 1, 2, 3 }, one[3] = { 2, 0, 0 };
    static const int at_1[3] = { 1, 1, 1 }, at_0[3] = { 0, 0, 0 };
    const int me = mt.rank, ins = me == 0 ? 3 : me == 1, outs = me == 0 ? 1 : me == 1 ? 3 : 0;
    const int *const sends = me ? three : one, *const receives = me ? one : three;
    const MPI_Aint at[3] = { 0, sizeof(int), 3 * sizeof(int) };
    const MPI_Datatype types[3] = { MPI_INT, MPI_INT, MPI_INT };
    MPI_Comm graph;
    MPI_Request req = MPI_REQUEST_NULL;

    const int *const peers = me ? at_0 : at_1;
    MT_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, peers, MPI_UNWEIGHTED, outs, peers,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    for (int k = 0; k < 3; k++) {
        int out[6], in[6] = { -1, -1, -1, -1, -1, -1 };
        for (int i = 0; i < 6; i++)
            out[i] = 10 * me + i;
        if (k == 0)
            MT_OK(MPI_Neighbor_alltoallw(out, sends, at, types, in, receives, at, types, graph));
        else if (k == 1)
            MT_OK(MPI_Ineighbor_alltoallw(out, sends, at, types, in, receives, at, types, graph, &req));
        else
            MT_OK(MPI_Neighbor_alltoallw_init(out, sends, at, types, in, receives, at, types, graph,
                                              MPI_INFO_NULL, &req));
        if (k == 2)
            MT_OK(MPI_Start(&req));
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        for (int i = 0; i < (me ? 2 * ins : 6); i++)
            MT_CHECK(in[i] == 10 * !me + i, "in[%d] is %d in call %d", i, in[i], k);
        if (k == 2)
            MT_OK(MPI_Request_free(&req));
    }
    MT_OK(MPI_Comm_free(&graph));
}

#define MOST_EDGES 6

/* Block i is to come from process from[i], which sent it as the other one of its pair of blocks if
 * `is_crossed`, else as block i. */
static void same_neighbours(MPI_Comm c, int edges, const int from[], int is_crossed)
{
    static const int ones[MOST_EDGES] = { 1, 1, 1, 1, 1, 1 }, places[MOST_EDGES] = { 0, 1, 2, 3, 4, 5 };
    MPI_Aint at[MOST_EDGES];
    MPI_Datatype types[MOST_EDGES];
    int out[MOST_EDGES];

    for (int i = 0; i < edges; i++) {
        at[i] = i * (MPI_Aint) sizeof(int);
        types[i] = MPI_INT;
        out[i] = MOST_EDGES * mt.rank + i;
    }
    for (int k = 0; k < 3; k++) {
        int in[MOST_EDGES] = { -1, -1, -1, -1, -1, -1 };
        if (k == 0)
            MT_OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c));
        else if (k == 1)
            MT_OK(MPI_Neighbor_alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, c));
        else
            MT_OK(MPI_Neighbor_alltoallw(out, ones, at, types, in, ones, at, types, c));
        for (int i = 0; i < edges; i++)
            MT_CHECK(in[i] == MOST_EDGES * from[i] + (i ^ is_crossed), "call %d: block %d is %d", k, i,
                     in[i]);
    }
}

/* With two processes v and w fail on the torus in MPICH 4.0.2, and alltoall on both. */
static void same_neighbour_twice(void)
{
    const int me = mt.rank, left = (me + mt.size - 1) % mt.size, right = (me + 1) % mt.size;
    const int dims[3] = { mt.size, 1, 1 }, periods[3] = { 1, 1, 1 };
    const int around[MOST_EDGES] = { left, right, me, me, me, me };
    const int to[2] = { right, right }, from[2] = { left, left };
    MPI_Comm c;

    MT_OK(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &c));
    same_neighbours(c, MOST_EDGES, around, 1);
    MT_OK(MPI_Comm_free(&c));
    MT_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED,
                                         MPI_INFO_NULL, 0, &c));
    same_neighbours(c, 2, from, 0);
    MT_OK(MPI_Comm_free(&c));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 200);
    same_neighbour_twice();
    if (mt.size > 1)
        uneven_graph();
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_free(&comm[i]);
    return mt_finish();
}
