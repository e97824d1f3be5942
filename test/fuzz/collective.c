/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Collectives: blocking, nonblocking (several under way at once) and persistent. Member m brings
 * value(m, i) as its element i; what comes out follows from that. */
#include "fuzz.h"

#define MAX_CALLS 6

enum { BLOCKING, NONBLOCKING, PERSISTENT, WAYS };
enum { BARRIER, BCAST, ALLREDUCE, ALLGATHER, REDUCE, GATHER, SCATTER, ALLTOALL, SCAN, EXSCAN,
    REDUCE_SCATTER, ALLTOALLV, KINDS
};

typedef struct {
    fz_lane_t *l;
    fz_comm_t *c;
    int kind, way, count, root;
    uint32_t key;
    uint32_t *in, *out;
    int *counts[4];             /* of alltoallv: sent, where; received, where */
    MPI_Request req;
} call_t;

#define CALL(Name_, lower_, ...) \
    (x->way == BLOCKING ? MPI_##Name_(__VA_ARGS__) : \
     x->way == NONBLOCKING ? MPI_I##lower_(__VA_ARGS__, &x->req) : \
     MPI_##Name_##_init(__VA_ARGS__, MPI_INFO_NULL, &x->req))

static uint32_t value(const call_t * x, int member, int i)
{
    return x->key + (uint32_t) member * 7919u + (uint32_t) i * 31u;
}

/* over members from..to-1 */
static uint32_t sum(const call_t * x, int from, int to, int i)
{
    uint32_t s = 0;

    for (int m = from; m < to; m++)
        s += value(x, m, i);
    return s;
}

static int vcount(const call_t * x, int src, int dst)
{
    return x->count ? (x->count + src + 2 * dst) % x->count : 0;
}

static void make_counts(call_t * x)
{
    int n = x->c->n;

    for (int k = 0; k < 4; k++) {
        x->counts[k] = malloc(sizeof(int) * (size_t) n);
        FZ_CHECK(x->l, x->counts[k], "no memory");
    }
    for (int m = 0; m < n; m++) {
        x->counts[0][m] = vcount(x, x->c->me, m);
        x->counts[2][m] = vcount(x, m, x->c->me);
        x->counts[1][m] = x->counts[3][m] = m * x->count;
    }
}

static void issue(call_t * x)
{
    MPI_Comm comm = x->c->comm;
    MPI_Datatype t = MPI_UINT32_T;
    uint32_t *in = x->in, *out = x->out;
    int n = x->count, root = x->root;

    switch (x->kind) {
        case BARRIER: CALL(Barrier, barrier, comm); break;
        case BCAST: CALL(Bcast, bcast, out, n, t, root, comm); break;
        case ALLREDUCE: CALL(Allreduce, allreduce, in, out, n, t, MPI_SUM, comm); break;
        case ALLGATHER: CALL(Allgather, allgather, in, n, t, out, n, t, comm); break;
        case REDUCE: CALL(Reduce, reduce, in, out, n, t, MPI_SUM, root, comm); break;
        case GATHER: CALL(Gather, gather, in, n, t, out, n, t, root, comm); break;
        case SCATTER: CALL(Scatter, scatter, in, n, t, out, n, t, root, comm); break;
        case ALLTOALL: CALL(Alltoall, alltoall, in, n, t, out, n, t, comm); break;
        case SCAN: CALL(Scan, scan, in, out, n, t, MPI_SUM, comm); break;
        case EXSCAN: CALL(Exscan, exscan, in, out, n, t, MPI_SUM, comm); break;
        case REDUCE_SCATTER:
            CALL(Reduce_scatter_block, reduce_scatter_block, in, out, n, t, MPI_SUM, comm);
            break;
        case ALLTOALLV:
            CALL(Alltoallv, alltoallv, in, x->counts[0], x->counts[1], t, out, x->counts[2],
                 x->counts[3], t, comm);
            break;
    }
}

static void prepare(call_t * x)
{
    int all = x->c->n * x->count;

    x->in = malloc(sizeof(uint32_t) * (size_t) (all + 1));
    x->out = malloc(sizeof(uint32_t) * (size_t) (all + 1));
    FZ_CHECK(x->l, x->in && x->out, "no memory");
    for (int i = 0; i < all; i++) {
        x->in[i] = value(x, x->c->me, i);
        x->out[i] = x->kind == BCAST && x->c->me == x->root ? x->in[i] : 0;
    }
    x->req = MPI_REQUEST_NULL;
    if (x->kind == ALLTOALLV)
        make_counts(x);
}

static void expect(const call_t * x, int at, uint32_t want)
{
    FZ_CHECK(x->l, x->out[at] == want, "collective %d, way %d, root %d, %d elements: element %d is "
             "%#x, not %#x", x->kind, x->way, x->root, x->count, at, x->out[at], want);
}

/* Element i of the part of member m; everything arrives in n parts. */
static void check_parts(const call_t * x)
{
    int at_root = x->c->me == x->root;

    for (int m = 0; m < x->c->n; m++) {
        for (int i = 0; i < x->count; i++) {
            int at = m * x->count + i;
            if (x->kind == ALLGATHER || (x->kind == GATHER && at_root))
                expect(x, at, value(x, m, i));
            else if (x->kind == ALLTOALL ||
                     (x->kind == ALLTOALLV && i < vcount(x, m, x->c->me)))
                expect(x, at, value(x, m, x->c->me * x->count + i));
        }
    }
}

static void check(const call_t * x)
{
    int me = x->c->me, n = x->c->n;

    check_parts(x);
    for (int i = 0; i < x->count; i++) {
        switch (x->kind) {
            case BCAST: expect(x, i, value(x, x->root, i)); break;
            case ALLREDUCE: expect(x, i, sum(x, 0, n, i)); break;
            case REDUCE: if (me == x->root) expect(x, i, sum(x, 0, n, i)); break;
            case SCATTER: expect(x, i, value(x, x->root, me * x->count + i)); break;
            case SCAN: expect(x, i, sum(x, 0, me + 1, i)); break;
            case EXSCAN: if (me > 0) expect(x, i, sum(x, 0, me, i)); break;
            case REDUCE_SCATTER: expect(x, i, sum(x, 0, n, me * x->count + i)); break;
        }
    }
}

static void forget(call_t * x)
{
    free(x->in);
    free(x->out);
    for (int k = 0; k < 4; k++)
        free(x->counts[k]);
}

/* Both groups of an intercommunicator: each gets the contribution of the other. */
static void across(fz_lane_t * l, fz_comm_t * c)
{
    int count = 1 + fz_draw(l, 100), first = c->me < c->second;
    call_t x = {.l = l,.c = c,.kind = ALLREDUCE,.way = fz_draw(l, 2),.count = count };

    x.key = (uint32_t) fz_next(&l->rng);
    MPI_Barrier(c->comm);
    prepare(&x);
    issue(&x);
    if (x.way != BLOCKING)
        MPI_Wait(&x.req, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++)
        expect(&x, i, first ? sum(&x, c->second, c->n, i) : sum(&x, 0, c->second, i));
    forget(&x);
}

static void draw_call(fz_lane_t * l, fz_comm_t * c, call_t * x, int way)
{
    memset(x, 0, sizeof(*x));
    x->l = l;
    x->c = c;
    x->way = way;
    x->kind = fz_draw(l, KINDS);
    x->root = fz_draw(l, c->n);
    x->count = (int) (fz_draw_bytes(l) / 4) / c->n;
    x->key = (uint32_t) fz_next(&l->rng);
    prepare(x);
}

void fz_collective(fz_lane_t * l, fz_comm_t * c)
{
    call_t call[MAX_CALLS];
    MPI_Request req[MAX_CALLS];
    int n = 1 + fz_draw(l, MAX_CALLS), way = fz_draw(l, WAYS), persistent = way == PERSISTENT;

    if (c->second) {
        across(l, c);
        return;
    }
    for (int i = 0; i < n; i++) {
        draw_call(l, c, &call[i], way);
        issue(&call[i]);
        if (persistent)
            MPI_Start(&call[i].req);
        req[i] = call[i].req;
        fz_pause(l);
    }
    if (persistent && fz.without.persistent_coll_any)
        fz_complete_each(l, n, req);
    else
        fz_complete(l, n, req, fz_completed_nothing, NULL);
    for (int i = 0; i < n; i++) {
        check(&call[i]);
        if (persistent)
            MPI_Request_free(&req[i]);
        forget(&call[i]);
    }
}
