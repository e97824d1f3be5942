/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Requests of every kind in one list, which is completed as a whole: messages to the next member and
 * to no one, combined sends and receives, matched receives, collectives, new communicators, and
 * generalized requests that another thread completes. */
#include "fuzz.h"

#define MAX_ITEMS 10

enum { MESSAGE, TO_NULL, SENDRECV, REPLACE, MATCHED, ALLREDUCE, BARRIER, IDUP, GENERALIZED, KINDS };

typedef struct {
    int kind, src, dst, tag;
    int queried, freed;         /* calls of a generalized request's functions */
    size_t bytes;
    uint64_t key;
    fz_buf_t *in, *out;
    uint32_t sum[2];
    MPI_Comm comm;
    MPI_Request greq;
} item_t;

typedef struct {
    fz_lane_t *l;
    fz_comm_t *c;
    int n, reqs;
    item_t item[MAX_ITEMS];
    MPI_Request req[2 * MAX_ITEMS];
    item_t *receives[2 * MAX_ITEMS];    /* whose data comes with the request; NULL: nothing to check */
} mixed_t;

/* --- generalized requests --------------------------------------------------- */

static int query(void *state, MPI_Status * st)
{
    item_t *t = state;

    __atomic_fetch_add(&t->queried, 1, __ATOMIC_RELAXED);
    MPI_Status_set_elements(st, MPI_BYTE, (int) (t->bytes % 1000));
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = t->src;
    st->MPI_TAG = t->tag;
    return MPI_SUCCESS;
}

static int freed(void *state)
{
    __atomic_fetch_add(&((item_t *) state)->freed, 1, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void) state, (void) complete;
    return MPI_SUCCESS;
}

static void complete_generalized(fz_lane_t * l, mixed_t * x)
{
    for (int i = 0; i < x->n; i++) {
        if (x->item[i].kind != GENERALIZED)
            continue;
        fz_pause(l);
        MPI_Grequest_complete(x->item[i].greq);
    }
}

/* --- the requests ------------------------------------------------------------ */

static void add(mixed_t * x, MPI_Request req, item_t * receives)
{
    x->receives[x->reqs] = receives;
    x->req[x->reqs++] = req;
}

static void message(mixed_t * x, item_t * t)
{
    MPI_Request req[2];
    MPI_Comm comm = x->c->comm;
    fz_buf_t *in = t->in, *out = t->out;

    MPI_Irecv(in->addr, in->count, in->type, t->src, t->tag, comm, &req[0]);
    add(x, req[0], t);
    MPI_Isend(out->addr, out->count, out->type, t->dst, t->tag, comm, &req[1]);
    add(x, req[1], NULL);
}

/* All members have sent already. */
static void matched(mixed_t * x, item_t * t)
{
    MPI_Request req[2];
    MPI_Message m;
    MPI_Comm comm = x->c->comm;
    fz_buf_t *in = t->in, *out = t->out;

    MPI_Isend(out->addr, out->count, out->type, t->dst, t->tag, comm, &req[0]);
    add(x, req[0], NULL);
    MPI_Mprobe(t->src, t->tag, comm, &m, MPI_STATUS_IGNORE);
    MPI_Imrecv(in->addr, in->count, in->type, &m, &req[1]);
    add(x, req[1], t);
}

static void combined(mixed_t * x, item_t * t)
{
    MPI_Request req;
    fz_buf_t *in = t->in, *out = t->out;

    if (t->kind == SENDRECV) {
        MPI_Isendrecv(out->addr, out->count, out->type, t->dst, t->tag, in->addr, in->count, in->type,
                      t->src, t->tag, x->c->comm, &req);
    } else {
        fz_buf_fill(in, fz_mix(t->key, (uint64_t) x->c->me, 0));
        MPI_Isendrecv_replace(in->addr, in->count, in->type, t->dst, t->tag, t->src, t->tag,
                              x->c->comm, &req);
    }
    add(x, req, t);
}

static void to_null(mixed_t * x, item_t * t)
{
    MPI_Request req[2];

    t->src = MPI_PROC_NULL;
    MPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, t->tag, x->c->comm, &req[0]);
    add(x, req[0], t);
    MPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, t->tag, x->c->comm, &req[1]);
    add(x, req[1], NULL);
}

static void start(mixed_t * x, item_t * t)
{
    MPI_Comm own = x->l->own.comm;
    MPI_Request req;

    switch (t->kind) {
        case MESSAGE: message(x, t); return;
        case TO_NULL: to_null(x, t); return;
        case MATCHED: matched(x, t); return;
        case SENDRECV: case REPLACE: combined(x, t); return;
        case ALLREDUCE:
            MPI_Iallreduce(&t->sum[0], &t->sum[1], 1, MPI_UINT32_T, MPI_SUM, own, &req);
            break;
        case BARRIER: MPI_Ibarrier(own, &req); break;
        case IDUP: MPI_Comm_idup(own, &t->comm, &req); break;
        default:
            MPI_Grequest_start(query, freed, cancel, t, &req);
            t->greq = req;
    }
    add(x, req, t);
}

/* --- what comes ---------------------------------------------------------------- */

static void check_status(const mixed_t * x, const item_t * t, const MPI_Status * st, size_t bytes)
{
    int n, cancelled, tag = t->kind == TO_NULL ? MPI_ANY_TAG : t->tag;

    if (t->kind == TO_NULL && fz.without.null_status)
        return;
    MPI_Get_count(st, MPI_BYTE, &n);
    MPI_Test_cancelled(st, &cancelled);
    FZ_CHECK(x->l, st->MPI_SOURCE == t->src && st->MPI_TAG == tag && n >= 0 && (size_t) n == bytes &&
             !cancelled, "item %d of %d, kind %d: source %d, tag %d, %d bytes, cancelled %d, not %d, "
             "%d, %zu", (int) (t - x->item), x->n, t->kind, st->MPI_SOURCE, st->MPI_TAG, n, cancelled,
             t->src, tag, bytes);
}

static void done(void *arg, int i, const MPI_Status * st)
{
    const mixed_t *x = arg;
    const item_t *t = x->receives[i];
    uint32_t sum = 0;

    if (t == NULL)
        return;
    switch (t->kind) {
        case MESSAGE: case SENDRECV: case REPLACE: case MATCHED:
            check_status(x, t, st, t->bytes);
            fz_buf_check(x->l, t->in, t->bytes, fz_mix(t->key, (uint64_t) t->src, 0), "message");
            break;
        case TO_NULL: check_status(x, t, st, 0); break;
        case GENERALIZED: check_status(x, t, st, t->bytes % 1000); break;
        case ALLREDUCE:
            for (int m = 0; m < x->l->own.n; m++)
                sum += (uint32_t) fz_mix(t->key, (uint64_t) m, 0);
            FZ_CHECK(x->l, t->sum[1] == sum, "sum %#x, not %#x", t->sum[1], sum);
    }
}

static void end(mixed_t * x, item_t * t)
{
    int n;

    if (t->kind == IDUP) {
        MPI_Comm_size(t->comm, &n);
        FZ_CHECK(x->l, n == x->l->own.n, "a new communicator has %d members", n);
        MPI_Comm_free(&t->comm);
    }
    /* MPI_Request_get_status calls query_fn, too */
    FZ_CHECK(x->l, t->kind != GENERALIZED || (t->queried >= 1 && t->freed == 1),
             "a generalized request: query_fn called %d times, free_fn %d times", t->queried, t->freed);
    fz_buf_free(t->in);
    fz_buf_free(t->out);
}

static void draw_item(mixed_t * x, item_t * t)
{
    fz_lane_t *l = x->l;
    int shift = fz_draw(l, x->c->n);

    t->kind = fz_draw(l, KINDS);
    t->dst = fz_dst(x->c, shift);
    t->src = fz_src(x->c, shift);
    t->tag = fz_tag(l, fz_draw(l, 3));
    t->bytes = fz_draw_bytes(l);
    t->key = fz_next(&l->rng);
    t->in = fz_buf_new(l, t->bytes, 0);
    t->out = fz_buf_new(l, t->bytes, 0);
    fz_buf_fill(t->out, fz_mix(t->key, (uint64_t) x->c->me, 0));
    t->sum[0] = (uint32_t) fz_mix(t->key, (uint64_t) fz.rank, 0);
}

static void act(fz_lane_t * l, int i, void *arg)
{
    mixed_t *x = arg;

    if (i > 0)
        complete_generalized(l, x);
    else
        fz_complete(l, x->reqs, x->req, done, x);
}

void fz_mixed(fz_lane_t * l, fz_comm_t * c)
{
    mixed_t x = {.l = l,.c = c,.n = 1 + fz_draw(l, MAX_ITEMS) };

    for (int i = 0; i < x.n; i++) {
        draw_item(&x, &x.item[i]);
        start(&x, &x.item[i]);
        fz_pause(l);
    }
    fz_threads(l, 2, act, &x);
    for (int i = 0; i < x.n; i++)
        end(&x, &x.item[i]);
}
