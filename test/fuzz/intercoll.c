/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Collectives between the two groups of an intercommunicator: each group gets what the other brings,
 * or one group what the root in the other has. */
#include "fuzz.h"

enum { BARRIER, BCAST, REDUCE, GATHER, SCATTER, ROOTED, ALLREDUCE = ROOTED, ALLGATHER, ALLTOALL,
    REDUCE_SCATTER_BLOCK, ALLGATHERV, KINDS
};

typedef struct {
    fz_lane_t *l;
    fz_comm_t *c;
    int kind, nonblocking, count, first;
    int root;                   /* a member */
    int theirs, others;         /* first member of the other group and how many it has */
    uint32_t key;
    uint32_t *in, *out;
    int len[FZ_MAX_PROCS], at[FZ_MAX_PROCS];
    MPI_Request req;
} call_t;

static uint32_t value(const call_t * x, int member, int i)
{
    return x->key + (uint32_t) member * 7919u + (uint32_t) i * 31u;
}

static uint32_t sum(const call_t * x, int i)
{
    uint32_t s = 0;

    for (int m = 0; m < x->others; m++)
        s += value(x, x->theirs + m, i);
    return s;
}

static int root_is_here(const call_t * x)
{
    return x->first == (x->root < x->c->second);
}

static int root_of(const call_t * x)
{
    if (root_is_here(x))
        return x->root == x->c->me ? MPI_ROOT : MPI_PROC_NULL;
    return fz_rank(x->c, x->root);
}

static void prepare(call_t * x)
{
    fz_comm_t *c = x->c;
    int most;

    x->first = c->me < c->second;
    x->theirs = x->first ? c->second : 0;
    x->others = x->first ? c->n - c->second : c->second;
    most = (c->n + x->others * (c->n - x->others)) * (x->count + 1);
    x->in = malloc(sizeof(uint32_t) * (size_t) most);
    x->out = calloc((size_t) most, sizeof(uint32_t));
    FZ_CHECK(x->l, x->in && x->out, "no memory");
    for (int i = 0; i < most; i++)
        x->in[i] = value(x, c->me, i);
    for (int m = 0; m < x->others; m++) {
        x->len[m] = x->count;
        x->at[m] = (x->others - 1 - m) * (x->count + 1);
    }
}

#define CALL(Name_, lower_, ...) \
    (x->nonblocking ? MPI_I##lower_(__VA_ARGS__, &x->req) : MPI_##Name_(__VA_ARGS__))

static void issue(call_t * x)
{
    MPI_Comm comm = x->c->comm;
    MPI_Datatype t = MPI_UINT32_T;
    uint32_t *in = x->in, *out = x->out;
    int n = x->count, r = root_of(x), *len = x->len, *at = x->at;

    switch (x->kind) {
        case BARRIER: CALL(Barrier, barrier, comm); break;
        case BCAST: CALL(Bcast, bcast, r == MPI_ROOT ? in : out, n, t, r, comm); break;
        case REDUCE: CALL(Reduce, reduce, in, out, n, t, MPI_SUM, r, comm); break;
        case GATHER: CALL(Gather, gather, in, n, t, out, n, t, r, comm); break;
        case SCATTER: CALL(Scatter, scatter, in, n, t, out, n, t, r, comm); break;
        case ALLREDUCE: CALL(Allreduce, allreduce, in, out, n, t, MPI_SUM, comm); break;
        case ALLGATHER: CALL(Allgather, allgather, in, n, t, out, n, t, comm); break;
        case ALLGATHERV: CALL(Allgatherv, allgatherv, in, n, t, out, len, at, t, comm); break;
        case ALLTOALL: CALL(Alltoall, alltoall, in, n, t, out, n, t, comm); break;
        case REDUCE_SCATTER_BLOCK:     /* as many elements in both groups */
            CALL(Reduce_scatter_block, reduce_scatter_block, in, out, n * x->others, t, MPI_SUM, comm);
            break;
    }
}

static void expect(const call_t * x, int at, uint32_t want)
{
    FZ_CHECK(x->l, x->out[at] == want, "intercommunicator of %d and %d, member %d: collective %d, "
             "nonblocking %d, root %d, %d elements: element %d is %#x, not %#x", x->c->second,
             x->c->n - x->c->second, x->c->me, x->kind, x->nonblocking, x->root, x->count, at,
             x->out[at], want);
}

static void check_parts(const call_t * x)
{
    int rank = fz_rank(x->c, x->c->me);

    for (int m = 0; m < x->others; m++) {
        for (int i = 0; i < x->count; i++) {
            int from = x->theirs + m, at = x->kind == ALLGATHERV ? x->at[m] + i : m * x->count + i;
            expect(x, at, value(x, from, x->kind == ALLTOALL ? rank * x->count + i : i));
        }
    }
}

static void check(const call_t * x)
{
    int is_root = x->root == x->c->me, rank = fz_rank(x->c, x->c->me);

    for (int i = 0; i < x->count; i++) {
        switch (x->kind) {
            case BCAST: if (!root_is_here(x)) expect(x, i, value(x, x->root, i)); break;
            case SCATTER:
                if (!root_is_here(x))
                    expect(x, i, value(x, x->root, rank * x->count + i));
                break;
            case REDUCE: if (is_root) expect(x, i, sum(x, i)); break;
            case ALLREDUCE: expect(x, i, sum(x, i)); break;
        }
    }
    for (int i = 0; x->kind == REDUCE_SCATTER_BLOCK && i < x->count * x->others; i++)
        expect(x, i, sum(x, rank * x->count * x->others + i));
    if (x->kind == GATHER ? is_root : x->kind >= ALLGATHER && x->kind != REDUCE_SCATTER_BLOCK)
        check_parts(x);
}

static void one_call(fz_lane_t * l, fz_comm_t * c)
{
    call_t x = {.l = l,.c = c,.kind = fz_draw(l, KINDS),.nonblocking = fz_draw(l, 2) };

    if (x.kind == BCAST && fz.without.inter_ibcast)
        x.nonblocking = 0;
    x.root = fz_draw(l, c->n);
    x.count = (int) (fz_draw_bytes(l) / 4) / c->n;
    x.key = (uint32_t) fz_next(&l->rng);
    prepare(&x);
    issue(&x);
    fz_pause(l);
    if (x.nonblocking)
        fz_complete(l, 1, &x.req, fz_completed_nothing, NULL);
    check(&x);
    free(x.in);
    free(x.out);
}

void fz_intercoll(fz_lane_t * l, fz_comm_t * c)
{
    int calls = 1 + fz_draw(l, 6);

    for (int i = 0; i < calls; i++)
        one_call(l, c);
}
