/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Several threads of each process in one epoch of a window that lasts for the scene: operations with
 * and without a request, with datatypes that have gaps on either side, flushes by other threads in
 * between. Each thread of an origin has a part of the target's window to itself and knows what its
 * operations, one after the other, make of it; all add to the same counters.
 *
 * Window, in words: counters, then a part for each origin and thread. */
#include "fuzz.h"

#define MOST 4                  /* operations of a thread */
#define GAP 0x5a5a5a5a5a5a5a5au

enum { PUT, GET, ACCUMULATE, FETCH, COUNT, KINDS };
enum { ALLOCATED, CREATED, DYNAMIC, FLAVOURS };

typedef struct {
    fz_lane_t *l;
    MPI_Win win;
    int flavour, threads, target;
    int words;                  /* of a part */
    size_t bytes;               /* of the window */
    uint64_t *mem;
    fz_mem_t from;
    MPI_Aint base[FZ_MAX_PROCS];        /* addresses in a dynamic window */
    uint64_t counted;
} scene_t;

/* of a helper */
typedef struct {
    fz_lane_t *l;
    scene_t *x;
    int thread;
    uint64_t *want;             /* what is in its part */
    uint64_t *buf, *result;     /* for twice as many words */
    int unflushed;              /* accumulates after which a put must not come yet */
    MPI_Op op;                  /* of them, if not MPI_NO_OP */
} part_t;

/* n words, `step` apart */
typedef struct {
    int n, step, count;
    MPI_Datatype type;
} layout_t;

static int part_at(const scene_t * x, int origin, int thread)
{
    return FZ_COUNTERS + (origin * FZ_MAX_HELPERS + thread) * x->words;
}

static MPI_Aint place(const scene_t * x, int word)
{
    return x->flavour == DYNAMIC ? x->base[x->target] + (MPI_Aint) word * 8 : word;
}

/* --- the window ---------------------------------------------------------------- */

static void make_window(scene_t * x)
{
    MPI_Comm comm = x->l->own.comm;
    MPI_Aint bytes = (MPI_Aint) x->bytes, address;

    x->from.p = NULL;
    if (x->flavour != ALLOCATED) {
        x->from = fz_mem_new(x->l, x->bytes);
        x->mem = x->from.p;
    }
    switch (x->flavour) {
        case ALLOCATED:
            MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, comm, &x->mem, &x->win);
            break;
        case CREATED: MPI_Win_create(x->mem, bytes, 8, MPI_INFO_NULL, comm, &x->win); break;
        default:
            MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &x->win);
            MPI_Win_attach(x->win, x->mem, bytes);
            MPI_Get_address(x->mem, &address);
            MPI_Allgather(&address, 1, MPI_AINT, x->base, 1, MPI_AINT, comm);
    }
    MPI_Win_lock_all(0, x->win);
    for (size_t i = 0; i < x->bytes / 8; i++)
        x->mem[i] = i < FZ_COUNTERS ? 0 : GAP;
    MPI_Win_sync(x->win);
    MPI_Barrier(comm);
}

static void free_window(scene_t * x)
{
    if (x->flavour == DYNAMIC)
        MPI_Win_detach(x->win, x->mem);
    MPI_Win_free(&x->win);
    if (x->from.p)
        fz_mem_free(&x->from);
}

/* --- datatypes ------------------------------------------------------------------- */

static layout_t new_layout(fz_lane_t * l, int n, int step)
{
    layout_t a = {.n = n,.step = step,.count = n,.type = MPI_UINT64_T };

    if (step == 1)
        return a;
    if (fz_own_draw(l, 2)) {
        MPI_Type_create_resized(MPI_UINT64_T, 0, step * 8, &a.type);
    } else {
        a.count = 1;
        MPI_Type_vector(n, 1, step, MPI_UINT64_T, &a.type);
    }
    MPI_Type_commit(&a.type);
    return a;
}

static void free_layout(layout_t * a)
{
    if (a->step > 1)
        MPI_Type_free(&a->type);
}

/* --- operations -------------------------------------------------------------------- */

static void flush(part_t * p)
{
    fz_flush(p->l, p->x->target, p->x->win);
    p->unflushed = 0;
}

static void flush_local(part_t * p)
{
    fz_flush_local(p->l, p->x->target, p->x->win);
}

static void wait_for(part_t * p, MPI_Request * req)
{
    fz_complete(p->l, 1, req, fz_completed_nothing, NULL);
}

static void fill(part_t * p, const layout_t * a)
{
    for (int i = 0; i < a->n; i++)
        p->buf[i * a->step] = fz_next(&p->l->jitter);
}

/* Puts and accumulates at one place are not ordered. */
static void put(part_t * p, MPI_Aint at, const layout_t * a, const layout_t * b, uint64_t * want)
{
    MPI_Win win = p->x->win;
    int target = p->x->target;
    MPI_Request req;

    if (p->unflushed)
        flush(p);
    for (int i = 0; i < a->n; i++)
        want[i * b->step] = p->buf[i * a->step];
    if (fz_own_draw(p->l, 2)) {
        MPI_Rput(p->buf, a->count, a->type, target, at, b->count, b->type, win, &req);
        wait_for(p, &req);
    } else {
        MPI_Put(p->buf, a->count, a->type, target, at, b->count, b->type, win);
        if (fz_own_draw(p->l, 2))
            flush_local(p);
    }
    flush(p);
}

static void same(part_t * p, const layout_t * a, const layout_t * b, const uint64_t * want,
                 const char *what)
{
    for (int i = 0; i < a->n; i++)
        FZ_CHECK(p->l, p->result[i * a->step] == want[i * b->step], "thread %d: %s of %d words, steps "
                 "%d and %d, from %d, window of kind %d: word %d is %#llx, not %#llx", p->thread, what,
                 a->n, a->step, b->step, p->x->target, p->x->flavour, i,
                 (unsigned long long) p->result[i * a->step], (unsigned long long) want[i * b->step]);
}

static void get(part_t * p, MPI_Aint at, const layout_t * a, const layout_t * b, const uint64_t * want)
{
    MPI_Win win = p->x->win;
    int target = p->x->target;
    MPI_Request req;

    flush(p);
    if (fz_own_draw(p->l, 2)) {
        MPI_Rget(p->result, a->count, a->type, target, at, b->count, b->type, win, &req);
        wait_for(p, &req);
    } else {
        MPI_Get(p->result, a->count, a->type, target, at, b->count, b->type, win);
        flush(p);
    }
    same(p, a, b, want, "get");
}

static void apply(part_t * p, MPI_Op op, const layout_t * a, const layout_t * b, uint64_t * want)
{
    for (int i = 0; i < a->n && op != MPI_NO_OP; i++) {
        uint64_t old = want[i * b->step], v = p->buf[i * a->step];
        want[i * b->step] = op == MPI_SUM ? old + v : op == MPI_BXOR ? old ^ v : v;
    }
}

/* Before an accumulate: two under way at a place have the same operation (accumulate_ops). */
static void follow(part_t * p, MPI_Op op)
{
    if (op == MPI_NO_OP)
        return;
    if (p->unflushed && p->op != op)
        flush(p);
    p->op = op;
}

static void accumulate(part_t * p, MPI_Aint at, const layout_t * a, const layout_t * b,
                       uint64_t * want)
{
    MPI_Op ops[] = { MPI_SUM, MPI_REPLACE, MPI_BXOR }, op = ops[fz_own_draw(p->l, 3)];
    MPI_Win win = p->x->win;
    int target = p->x->target;
    MPI_Request req;

    follow(p, op);
    if (fz_own_draw(p->l, 2)) {
        MPI_Raccumulate(p->buf, a->count, a->type, target, at, b->count, b->type, op, win, &req);
        wait_for(p, &req);
    } else {
        MPI_Accumulate(p->buf, a->count, a->type, target, at, b->count, b->type, op, win);
        flush_local(p);
    }
    apply(p, op, a, b, want);
    p->unflushed = 1;
}

static void fetch(part_t * p, MPI_Aint at, const layout_t * a, const layout_t * b, uint64_t * want)
{
    MPI_Op ops[] = { MPI_SUM, MPI_REPLACE, MPI_NO_OP }, op = ops[fz_own_draw(p->l, 3)];
    MPI_Win win = p->x->win;
    int target = p->x->target;
    MPI_Request req;

    follow(p, op);
    if (fz_own_draw(p->l, 2)) {
        MPI_Rget_accumulate(p->buf, a->count, a->type, p->result, a->count, a->type, target, at,
                            b->count, b->type, op, win, &req);
        wait_for(p, &req);
        p->unflushed = 1;
    } else {
        MPI_Get_accumulate(p->buf, a->count, a->type, p->result, a->count, a->type, target, at,
                           b->count, b->type, op, win);
        flush(p);
    }
    same(p, a, b, want, "fetch");
    apply(p, op, a, b, want);
}

/* Adds 1 to a counter of the target. */
static void count(part_t * p)
{
    int by = fz_own_draw(p->l, FZ_COUNTERS);

    fz_count(p->l, by, p->x->target, place(p->x, by), p->x->win);
    if (by != FZ_BY_ADD)
        p->unflushed = 0;
    __atomic_fetch_add(&p->x->counted, 1, __ATOMIC_RELAXED);
}

static void operate(part_t * p)
{
    fz_lane_t *l = p->l;
    int step = 1 + fz_own_draw(l, 3), most = p->x->words / step, n = 1 + fz_own_draw(l, most);
    int first = fz_own_draw(l, p->x->words - (n - 1) * step);
    layout_t a = new_layout(l, n, 1 + fz_own_draw(l, 2)), b = new_layout(l, n, step);
    MPI_Aint at = place(p->x, part_at(p->x, fz.rank, p->thread) + first);
    uint64_t *want = p->want + first;

    fill(p, &a);
    switch (fz_own_draw(l, KINDS)) {
        case PUT: put(p, at, &a, &b, want); break;
        case GET: get(p, at, &a, &b, want); break;
        case ACCUMULATE: accumulate(p, at, &a, &b, want); break;
        case FETCH: fetch(p, at, &a, &b, want); break;
        default: count(p);
    }
    free_layout(&a);
    free_layout(&b);
}

static void take_part(fz_lane_t * l, int thread, void *arg)
{
    scene_t *x = arg;
    size_t words = (size_t) x->words;
    part_t p = {.l = l,.x = x,.thread = thread };
    layout_t all = {.n = x->words,.step = 1,.count = x->words,.type = MPI_UINT64_T };
    int turns = 1 + fz_own_draw(l, MOST);

    p.want = fz_alloc(words * 5 * 8);
    p.buf = p.want + words;
    p.result = p.buf + 2 * words;
    for (size_t i = 0; i < words; i++)
        p.want[i] = GAP;
    for (int i = 0; i < turns; i++) {
        operate(&p);
        fz_pause(l);
    }
    get(&p, place(x, part_at(x, fz.rank, thread)), &all, &all, p.want);
    free(p.want);
}

static void check_counters(scene_t * x)
{
    uint64_t sum[2] = { 0, x->counted }, all[2];

    for (int i = 0; i < FZ_COUNTERS; i++)
        sum[0] += x->mem[i];
    MPI_Allreduce(sum, all, 2, MPI_UINT64_T, MPI_SUM, x->l->own.comm);
    FZ_CHECK(x->l, all[0] == all[1], "the sum of the counters is %llu, not %llu",
             (unsigned long long) all[0], (unsigned long long) all[1]);
}

void fz_rma_threads(fz_lane_t * l)
{
    scene_t x = {.l = l,.flavour = fz_draw(l, FLAVOURS),.threads = 2 + fz_draw(l, FZ_MAX_HELPERS - 1) };
    int fan_in = fz_draw(l, 2), shift = fz_draw(l, fz.size);

    x.target = fan_in ? shift : (fz.rank + shift) % fz.size;
    x.words = 4 + (int) (fz_draw_bytes(l) / 8) % (fz.plan.part / 4);
    x.bytes = (size_t) part_at(&x, fz.size, 0) * 8;
    make_window(&x);
    fz_threads(l, x.threads, take_part, &x);
    MPI_Win_unlock_all(x.win);
    MPI_Barrier(l->ctl);
    MPI_Win_lock(MPI_LOCK_SHARED, fz.rank, 0, x.win);
    check_counters(&x);
    MPI_Win_unlock(fz.rank, x.win);
    free_window(&x);
}
