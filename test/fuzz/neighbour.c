/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Neighbourhood collectives in random graphs, with several edges between the same two members, edges
 * to oneself, and members without any. All edges between two members carry the same, because MPI does
 * not say which of their receives gets which. */
#include "fuzz.h"

#define MAX_CALLS 4
#define MAX_EDGES (3 * FZ_MAX_PROCS)

enum { BLOCKING, NONBLOCKING, PERSISTENT, WAYS };
enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS };

typedef struct {
    MPI_Comm comm;
    int ins, outs;
    int source[MAX_EDGES], target[MAX_EDGES];
} graph_t;

typedef struct {
    fz_lane_t *l;
    const graph_t *g;
    int kind, way, count;
    uint32_t key;
    uint32_t *in, *out;
    int sends[MAX_EDGES], send_at[MAX_EDGES], recvs[MAX_EDGES], recv_at[MAX_EDGES];
    MPI_Aint send_bytes[MAX_EDGES], recv_bytes[MAX_EDGES];
    MPI_Datatype types[MAX_EDGES];
    MPI_Request req;
} call_t;

static void make_graph(fz_lane_t * l, graph_t * g)
{
    int n = l->own.n, me = l->own.me;

    g->ins = g->outs = 0;
    for (int s = 0; s < n; s++) {
        for (int d = 0; d < n; d++) {
            int edges = fz_draw(l, 6) % 4;
            for (int k = 0; s == me && k < edges; k++)
                g->target[g->outs++] = d;
            for (int k = 0; d == me && k < edges; k++)
                g->source[g->ins++] = s;
        }
    }
    MPI_Dist_graph_create_adjacent(l->own.comm, g->ins, g->source, MPI_UNWEIGHTED, g->outs, g->target,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g->comm);
}

static uint32_t value(const call_t * x, int s, int d, int i)
{
    return (uint32_t) fz_mix(x->key, (uint64_t) (s * FZ_MAX_PROCS + d), (uint64_t) i);
}

/* elements of an edge from s to d */
static int length(const call_t * x, int s, int d)
{
    if (x->kind == ALLGATHER || x->kind == ALLTOALL || x->count == 0)
        return x->count;
    return (x->count + s + (x->kind == ALLGATHERV ? 0 : 2 * d)) % x->count;
}

static int is_gather(const call_t * x)
{
    return x->kind == ALLGATHER || x->kind == ALLGATHERV;
}

static void prepare(call_t * x)
{
    const graph_t *g = x->g;
    int me = x->l->own.me;
    size_t n = (size_t) (g->ins + g->outs + 1) * (size_t) (x->count + 1);

    x->in = malloc(n * 4);
    x->out = calloc(n, 4);
    FZ_CHECK(x->l, x->in && x->out, "no memory");
    for (int e = 0; e < MAX_EDGES; e++)
        x->types[e] = MPI_UINT32_T;
    for (int e = 0; e < g->outs; e++) {
        x->sends[e] = length(x, me, g->target[e]);
        x->send_at[e] = e * x->count;
        x->send_bytes[e] = x->send_at[e] * 4;
        for (int i = 0; i < x->count && !is_gather(x); i++)
            x->in[x->send_at[e] + i] = value(x, me, g->target[e], i);
    }
    for (int i = 0; i < x->count && is_gather(x); i++)
        x->in[i] = value(x, me, 0, i);
    for (int e = 0; e < g->ins; e++) {
        x->recvs[e] = length(x, g->source[e], me);
        x->recv_at[e] = e * x->count;
        if (x->kind >= ALLTOALLV || x->kind == ALLGATHERV)      /* from the end */
            x->recv_at[e] = (g->ins - 1 - e) * (x->count + 1);
        x->recv_bytes[e] = x->recv_at[e] * 4;
    }
}

#define CALL(lower_, ...) \
    (x->way == BLOCKING ? MPI_Neighbor_##lower_(__VA_ARGS__) : \
     x->way == NONBLOCKING ? MPI_Ineighbor_##lower_(__VA_ARGS__, &x->req) : \
     MPI_Neighbor_##lower_##_init(__VA_ARGS__, MPI_INFO_NULL, &x->req))

static void issue(call_t * x)
{
    MPI_Comm comm = x->g->comm;
    MPI_Datatype t = MPI_UINT32_T;
    int n = x->count, mine = length(x, x->l->own.me, 0);

    switch (x->kind) {
        case ALLGATHER: CALL(allgather, x->in, n, t, x->out, n, t, comm); break;
        case ALLGATHERV:
            CALL(allgatherv, x->in, mine, t, x->out, x->recvs, x->recv_at, t, comm);
            break;
        case ALLTOALL: CALL(alltoall, x->in, n, t, x->out, n, t, comm); break;
        case ALLTOALLV:
            CALL(alltoallv, x->in, x->sends, x->send_at, t, x->out, x->recvs, x->recv_at, t, comm);
            break;
        case ALLTOALLW:
            CALL(alltoallw, x->in, x->sends, x->send_bytes, x->types, x->out, x->recvs,
                 x->recv_bytes, x->types, comm);
            break;
    }
}

static void check(const call_t * x)
{
    const graph_t *g = x->g;
    int me = x->l->own.me;

    for (int e = 0; e < g->ins; e++) {
        for (int i = 0; i < x->recvs[e]; i++) {
            uint32_t got = x->out[x->recv_at[e] + i], want =
                value(x, g->source[e], is_gather(x) ? 0 : me, i);
            FZ_CHECK(x->l, got == want, "neighbourhood collective %d, way %d: edge %d of %d, from %d: "
                     "element %d of %d is %#x, not %#x", x->kind, x->way, e, g->ins, g->source[e], i,
                     x->recvs[e], got, want);
        }
    }
}

void fz_neighbour(fz_lane_t * l)
{
    call_t call[MAX_CALLS];
    MPI_Request req[MAX_CALLS];
    int n = 1 + fz_draw(l, MAX_CALLS), way = fz_draw(l, WAYS);
    graph_t g;

    make_graph(l, &g);
    for (int i = 0; i < n; i++) {
        call[i] = (call_t) {.l = l,.g = &g,.kind = fz_draw(l, KINDS),.way = way };
        if (call[i].kind == ALLTOALLW && fz.without.neighbour_w)
            call[i].kind = ALLTOALLV;
        call[i].count = (int) (fz_draw_bytes(l) / 4) / (3 * l->own.n);
        call[i].key = (uint32_t) fz_next(&l->rng);
        call[i].req = MPI_REQUEST_NULL;
        prepare(&call[i]);
        issue(&call[i]);
        if (way == PERSISTENT)
            MPI_Start(&call[i].req);
        req[i] = call[i].req;
        fz_pause(l);
    }
    fz_complete_collectives(l, n, req, way == PERSISTENT);
    for (int i = 0; i < n; i++) {
        check(&call[i]);
        free(call[i].in);
        free(call[i].out);
    }
    MPI_Comm_free(&g.comm);
}
