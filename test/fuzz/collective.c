/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Collectives: blocking, nonblocking (several under way at once) and persistent, with blocks of
 * different length at places out of order, MPI_IN_PLACE, operations of the program that do not commute,
 * elements with gaps, and members whose numbers have nothing to do with their nodes.
 *
 * An element is a function a * x + b, two words; functions applied one after the other do not commute.
 * Of an element of one word a is 1, so that what comes out is the sum. An element may have a third
 * word, which belongs to no one, and may begin before or after the address that stands for it. */
#include "fuzz.h"

#define MAX_CALLS 6
#define GAP 0x5a5a5a5au

enum { BLOCKING, NONBLOCKING, PERSISTENT, WAYS };
enum { BARRIER, BCAST, ALLREDUCE, REDUCE, SCAN, EXSCAN, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK,
    ALLGATHER, GATHER, SCATTER, ALLTOALL, ALLGATHERV, GATHERV, SCATTERV, ALLTOALLV, ALLTOALLW, KINDS
};

/* What a member gives and what it gets. */
enum { IN, OUT };

typedef struct {
    uint32_t a, b;
} map_t;

typedef struct {
    fz_lane_t *l;
    fz_comm_t *c;
    int kind, way, count, root, in_place, commutes;
    int words, shift;           /* of an element, 3 with a gap; where its first word is */
    uint32_t key;
    uint32_t *mem[2], *in, *out;
    int len[2][FZ_MAX_PROCS], at[2][FZ_MAX_PROCS];      /* of each member's block, in elements */
    int bytes_at[2][FZ_MAX_PROCS];
    MPI_Datatype type, types[FZ_MAX_PROCS];
    MPI_Op op;
    MPI_Request req;
} call_t;

/* a after b: what a function of the program gets as in and inout */
static map_t after(map_t first, map_t second)
{
    return (map_t) {first.a * second.a, second.a * first.b + second.b};
}

static void apply(uint32_t * in, uint32_t * inout, int n, int words)
{
    for (int i = 0; i < n; i++, in += words, inout += words) {
        map_t r = after((map_t) {in[0], in[1]}, (map_t) {inout[0], inout[1]});
        inout[0] = r.a;
        inout[1] = r.b;
    }
}

static void after_dense(void *in, void *inout, int *n, MPI_Datatype * type)
{
    (void) type;
    apply(in, inout, *n, 2);
}

static void after_gaps(void *in, void *inout, int *n, MPI_Datatype * type)
{
    (void) type;
    apply(in, inout, *n, 3);
}

static void after_late(void *in, void *inout, int *n, MPI_Datatype * type)
{
    (void) type;
    apply((uint32_t *) in + 1, (uint32_t *) inout + 1, *n, 3);
}

static void after_early(void *in, void *inout, int *n, MPI_Datatype * type)
{
    (void) type;
    apply((uint32_t *) in - 1, (uint32_t *) inout - 1, *n, 3);
}

static map_t value(const call_t * x, int member, int i)
{
    uint64_t r = fz_mix(x->key, (uint64_t) member, (uint64_t) i);

    /* translations commute */
    return (map_t) {x->commutes ? 1 : (uint32_t) r | 1, (uint32_t) (r >> 32)};
}

/* of members from..to-1 */
static map_t fold(const call_t * x, int from, int to, int i)
{
    map_t r = value(x, from, i);

    for (int m = from + 1; m < to; m++)
        r = after(r, value(x, m, i));
    return r;
}

/* --- what each call is given ---------------------------------------------- */

static int is_reduction(int kind)
{
    return kind >= ALLREDUCE && kind <= REDUCE_SCATTER_BLOCK;
}

static int is_reduce_scatter(int kind)
{
    return kind == REDUCE_SCATTER || kind == REDUCE_SCATTER_BLOCK;
}

/* Calls that pair the blocks of two members. */
static int is_alltoall(int kind)
{
    return kind == ALLTOALL || kind == ALLTOALLV || kind == ALLTOALLW;
}

static int is_scatter(int kind)
{
    return kind == SCATTER || kind == SCATTERV;
}

static int is_gather(int kind)
{
    return kind == GATHER || kind == GATHERV;
}

/* elements from s to d; in place both ways alike */
static int pair_length(const call_t * x, int s, int d)
{
    return x->count - (s + (x->in_place ? d : 2 * d)) % (x->count + 1);
}

/* Blocks of a random length, in a random order, with places between them that belong to no one; where
 * the call wants it, of one length and in the order of the members. */
static void draw_blocks(call_t * x)
{
    fz_lane_t *l = x->l;
    int n = x->c->n, me = x->c->me, turn = fz_draw(l, n), holes = fz_draw(l, 2), place[2] = { 0, 0 };
    int even = x->kind < ALLGATHERV && x->kind != REDUCE_SCATTER;

    for (int i = 0; i < n; i++) {
        int m = x->kind < ALLGATHERV ? i : (2 * n - 1 - i + turn) % n, r = fz_draw(l, 4);
        x->len[IN][m] = x->len[OUT][m] = even ? x->count : r == 0 ? 0 : x->count / r;
        if (!even && is_alltoall(x->kind)) {
            x->len[IN][m] = pair_length(x, me, m);
            x->len[OUT][m] = pair_length(x, m, me);
        }
        for (int k = IN; k <= OUT; k++) {
            x->at[k][m] = place[k];
            x->bytes_at[k][m] = place[k] * x->words * 4;
            place[k] += x->len[k][m] + (x->kind < ALLGATHERV ? 0 : holes);
        }
    }
}

static int places(const call_t * x, int k)
{
    int n = x->count;

    for (int m = 0; m < x->c->n; m++)
        n = x->at[k][m] + x->len[k][m] > n ? x->at[k][m] + x->len[k][m] : n;
    return n;
}

static void make_type(call_t * x)
{
    MPI_User_function *with_gaps[] = { after_early, after_gaps, after_late };
    MPI_Aint shift = x->shift * 4;
    MPI_Datatype pair;

    x->type = MPI_UINT32_T;
    x->op = MPI_SUM;
    for (int m = 0; x->words == 1 && m < x->c->n; m++)
        x->types[m] = x->type;
    if (x->words == 1)
        return;
    MPI_Type_create_hindexed_block(1, 2, &shift, MPI_UINT32_T, &pair);
    MPI_Type_create_resized(pair, 0, x->words * 4, &x->type);
    MPI_Type_commit(&x->type);
    MPI_Type_free(&pair);
    for (int m = 0; m < x->c->n; m++)
        x->types[m] = x->type;
    if (is_reduction(x->kind))
        MPI_Op_create(x->words == 2 ? after_dense : with_gaps[x->shift + 1], x->commutes, &x->op);
}

static void put(const call_t * x, uint32_t * to, int at, map_t v)
{
    uint32_t *word = to + at * x->words + x->shift;

    if (x->words > 1)
        *word++ = v.a;
    *word = v.b;
}

/* The blocks that member `me` brings, in the places where `to` has them. */
static void bring(const call_t * x, uint32_t * to)
{
    int me = x->c->me;
    const int *len = x->len[IN], *at = x->at[IN];

    if (is_reduction(x->kind) || x->kind == BCAST) {
        for (int i = 0, n = places(x, IN); i < n; i++)
            put(x, to, i, value(x, me, i));
    } else if (is_scatter(x->kind) || is_alltoall(x->kind)) {
        for (int m = 0; m < x->c->n; m++)
            for (int i = 0; i < len[m]; i++)
                put(x, to, at[m] + i, value(x, me, m * x->count + i));
    } else {
        for (int i = 0; i < len[me]; i++)
            put(x, to, (x->in_place ? at[me] : 0) + i, value(x, me, i));
    }
}

static void prepare(call_t * x)
{
    for (int k = IN; k <= OUT; k++) {
        size_t n = (size_t) (places(x, k) + 2) * (size_t) x->words;
        x->mem[k] = fz_alloc(n * 4);
        for (size_t i = 0; i < n; i++)
            x->mem[k][i] = GAP;
    }
    x->in = x->mem[IN] + x->words;
    x->out = x->mem[OUT] + x->words;
    if (x->kind == BCAST ? x->c->me == x->root : x->in_place)
        bring(x, x->out);
    else
        bring(x, x->in);
}

/* In place at the root only, where there is one; not where MPI has no such thing. */
static int may_be_in_place(const call_t * x)
{
    switch (x->kind) {
        case BARRIER: case BCAST: case SCATTER: case SCATTERV: return 0;
        case REDUCE: case GATHER: case GATHERV: return x->c->me == x->root;
        case REDUCE_SCATTER: return !fz.without.reduce_scatter_in_place;
        default: return 1;
    }
}

#define CALL(Name_, lower_, ...) \
    (x->way == BLOCKING ? MPI_##Name_(__VA_ARGS__) : \
     x->way == NONBLOCKING ? MPI_I##lower_(__VA_ARGS__, &x->req) : \
     MPI_##Name_##_init(__VA_ARGS__, MPI_INFO_NULL, &x->req))

static void issue_even(call_t * x)
{
    MPI_Comm comm = x->c->comm;
    MPI_Datatype t = x->type;
    const void *in = x->in_place ? MPI_IN_PLACE : x->in;
    uint32_t *out = x->out;
    int n = x->count, root = x->root;

    switch (x->kind) {
        case BARRIER: CALL(Barrier, barrier, comm); break;
        case BCAST: CALL(Bcast, bcast, out, n, t, root, comm); break;
        case ALLGATHER: CALL(Allgather, allgather, in, n, t, out, n, t, comm); break;
        case GATHER: CALL(Gather, gather, in, n, t, out, n, t, root, comm); break;
        case SCATTER: CALL(Scatter, scatter, in, n, t, out, n, t, root, comm); break;
        case ALLTOALL: CALL(Alltoall, alltoall, in, n, t, out, n, t, comm); break;
    }
}

static void issue_uneven(call_t * x)
{
    MPI_Comm comm = x->c->comm;
    MPI_Datatype t = x->type, *types = x->types;
    const void *in = x->in_place ? MPI_IN_PLACE : x->in;
    uint32_t *out = x->out;
    int n = x->len[IN][x->c->me], root = x->root;
    int *slen = x->len[IN], *sat = x->at[IN], *rlen = x->len[OUT], *rat = x->at[OUT];

    switch (x->kind) {
        case ALLGATHERV: CALL(Allgatherv, allgatherv, in, n, t, out, rlen, rat, t, comm); break;
        case GATHERV: CALL(Gatherv, gatherv, in, n, t, out, rlen, rat, t, root, comm); break;
        case SCATTERV: CALL(Scatterv, scatterv, in, slen, sat, t, out, n, t, root, comm); break;
        case ALLTOALLV:
            CALL(Alltoallv, alltoallv, in, slen, sat, t, out, rlen, rat, t, comm);
            break;
        case ALLTOALLW:
            CALL(Alltoallw, alltoallw, in, slen, x->bytes_at[IN], types, out, rlen, x->bytes_at[OUT],
                 types, comm);
            break;
    }
}

static void issue_reduction(call_t * x)
{
    MPI_Comm comm = x->c->comm;
    MPI_Datatype t = x->type;
    MPI_Op op = x->op;
    const void *in = x->in_place ? MPI_IN_PLACE : x->in;
    uint32_t *out = x->out;
    int n = x->count, root = x->root;

    switch (x->kind) {
        case ALLREDUCE: CALL(Allreduce, allreduce, in, out, n, t, op, comm); break;
        case REDUCE: CALL(Reduce, reduce, in, out, n, t, op, root, comm); break;
        case SCAN: CALL(Scan, scan, in, out, n, t, op, comm); break;
        case EXSCAN: CALL(Exscan, exscan, in, out, n, t, op, comm); break;
        case REDUCE_SCATTER:
            CALL(Reduce_scatter, reduce_scatter, in, out, x->len[OUT], t, op, comm);
            break;
        case REDUCE_SCATTER_BLOCK:
            CALL(Reduce_scatter_block, reduce_scatter_block, in, out, n, t, op, comm);
            break;
    }
}

static void issue(call_t * x)
{
    if (is_reduction(x->kind))
        issue_reduction(x);
    else if (x->kind < ALLGATHERV)
        issue_even(x);
    else
        issue_uneven(x);
}

/* --- what comes out -------------------------------------------------------- */

static void expect(const call_t * x, int at, map_t want)
{
    const uint32_t *word = x->out + at * x->words + x->shift;
    map_t got = { x->words > 1 ? word[0] : want.a, word[x->words > 1] };

    FZ_CHECK(x->l, got.a == want.a && got.b == want.b, "collective %d, way %d, root %d of %d, %d "
             "elements of %d words, in place %d, commutes %d: element %d is %#x,%#x, not %#x,%#x",
             x->kind, x->way, x->root, x->c->n, x->count, x->words, x->in_place, x->commutes, at,
             got.a, got.b, want.a, want.b);
}

static void check_reduction(const call_t * x)
{
    int me = x->c->me, n = x->c->n;

    for (int i = 0; i < x->count; i++) {
        switch (x->kind) {
            case ALLREDUCE: expect(x, i, fold(x, 0, n, i)); break;
            case REDUCE: if (me == x->root) expect(x, i, fold(x, 0, n, i)); break;
            case SCAN: expect(x, i, fold(x, 0, me + 1, i)); break;
            case EXSCAN: if (me > 0) expect(x, i, fold(x, 0, me, i)); break;
            default:
                if (i < x->len[OUT][me])
                    expect(x, i, fold(x, 0, n, x->at[OUT][me] + i));
        }
    }
}

static void check_moved(const call_t * x)
{
    int me = x->c->me;

    for (int i = 0; x->kind == BCAST && i < x->count; i++)
        expect(x, i, value(x, x->root, i));
    for (int i = 0; is_scatter(x->kind) && i < x->len[IN][me]; i++)
        expect(x, i, value(x, x->root, me * x->count + i));
    if (x->kind <= BCAST || is_scatter(x->kind) || (is_gather(x->kind) && me != x->root))
        return;
    for (int m = 0; m < x->c->n; m++) {
        for (int i = 0; i < x->len[OUT][m]; i++)
            expect(x, x->at[OUT][m] + i,
                   value(x, m, is_alltoall(x->kind) ? me * x->count + i : i));
    }
}

static void untouched(const call_t * x, int word)
{
    FZ_CHECK(x->l, x->out[word] == GAP, "collective %d, way %d, root %d of %d, %d elements of %d "
             "words, in place %d: word %d, which belongs to no element, is %#x", x->kind, x->way,
             x->root, x->c->n, x->count, x->words, x->in_place, word, x->out[word]);
}

static void check_gaps(const call_t * x)
{
    int n = places(x, OUT);

    untouched(x, n * x->words + (x->words == 3 && x->shift < 0));
    for (int i = 0; x->words == 3 && i < n; i++)
        untouched(x, i * 3 + (x->shift + 2) % 3);
}

static void forget(call_t * x)
{
    free(x->mem[0]);
    free(x->mem[1]);
    if (x->words == 1)
        return;
    MPI_Type_free(&x->type);
    if (is_reduction(x->kind))
        MPI_Op_free(&x->op);
}

/* --- the scene -------------------------------------------------------------- */

static void draw_call(fz_lane_t * l, fz_comm_t * c, call_t * x, int way)
{
    *x = (call_t) {.l = l,.c = c,.way = way,.req = MPI_REQUEST_NULL };
    x->kind = fz_draw(l, KINDS);
    x->words = 1 + fz_draw(l, 3);
    x->shift = fz_draw(l, 3) - 1;
    x->commutes = fz_draw(l, 2);
    if (fz.without.reduce_scatter_gaps && !x->commutes && is_reduce_scatter(x->kind))
        x->words = 2;
    if (x->words < 3)
        x->shift = 0;
    x->commutes |= x->words == 1;
    x->root = fz_draw(l, c->n);
    x->in_place = fz_draw(l, 2) && may_be_in_place(x);
    x->count = (int) (fz_draw_bytes(l) / 4) / x->words / c->n;
    x->key = (uint32_t) fz_next(&l->rng);
    draw_blocks(x);
    make_type(x);
    prepare(x);
}

/* A part of the members, in another order. */
static void permute(fz_lane_t * l, const fz_comm_t * from, fz_comm_t * c)
{
    int colour[FZ_MAX_PROCS] = { 0 }, order[FZ_MAX_PROCS] = { 0 }, me = from->me;
    int parts = 1 + fz_draw(l, 2);

    *c = *from;
    c->n = c->me = 0;
    for (int m = 0; m < from->n; m++) {
        colour[m] = fz_draw(l, parts);
        order[m] = fz_draw(l, 4);
    }
    for (int m = 0; m < from->n; m++) {
        if (colour[m] != colour[me])
            continue;
        c->n++;
        c->me += order[m] < order[me] || (order[m] == order[me] && m < me);
    }
    MPI_Comm_split(from->comm, colour[me], order[me], &c->comm);
}

static void check(const call_t * x)
{
    if (is_reduction(x->kind))
        check_reduction(x);
    else
        check_moved(x);
    check_gaps(x);
}

void fz_collective(fz_lane_t * l, fz_comm_t * from)
{
    call_t call[MAX_CALLS];
    MPI_Request req[MAX_CALLS];
    int n = 1 + fz_draw(l, MAX_CALLS), way = fz_draw(l, WAYS), permuted = fz_draw(l, 2);
    uint64_t key = fz_next(&l->rng);
    fz_comm_t c = *from;

    if (permuted)
        permute(l, from, &c);
    for (int i = 0; i < n; i++) {
        l->rng = fz_mix(key, 4, (uint64_t) i);  /* the parts draw different numbers of times */
        draw_call(l, &c, &call[i], way);
        issue(&call[i]);
        if (way == PERSISTENT)
            MPI_Start(&call[i].req);
        req[i] = call[i].req;
        fz_pause(l);
    }
    if (permuted && way == NONBLOCKING && fz_own_draw(l, 2))
        MPI_Comm_free(&c.comm);
    fz_complete_collectives(l, n, req, way == PERSISTENT);
    for (int i = 0; i < n; i++) {
        check(&call[i]);
        forget(&call[i]);
    }
    if (permuted && c.comm != MPI_COMM_NULL)
        MPI_Comm_free(&c.comm);
}
