/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One-sided operations on a window of the lane: one epoch a scene (lock, lock_all, fence, post and
 * start), in which every member puts into its own slot at one target, gets what never changes, and
 * adds to counters that others add to at the same time. Afterwards each target checks what it finds.
 *
 * Window, in words: counters, constants, then a slot for each origin, a part for each operation. */
#include "fuzz.h"

#define COUNTERS 8
#define CONSTANTS 256
#define OPS 6

enum { LOCK_SHARED, LOCK_EXCLUSIVE, LOCK_ALL, FENCE, PSCW, EPOCHS };
enum { PUT, STRIDED_PUT, GET, ADD, FETCH_ADD, GET_ADD, ORDERED, CAS, PUT_FLUSH_GET, KINDS };

typedef struct {
    fz_lane_t *l;
    int epoch, fan_in, shift, ops;
    uint64_t key;
    int kind[OPS], words[OPS];
    fz_mem_t from[OPS];
    uint64_t *mem[OPS];         /* origin's memory: for words of 3 operations */
    MPI_Request req[OPS];
    int reqs;
} epoch_t;

static uint64_t constant(int member, int i)
{
    return fz_hash((uint64_t) member * 1000003u + (uint64_t) i + fz.plan.seed);
}

static MPI_Aint slot(int origin, int op)
{
    return COUNTERS + CONSTANTS + ((MPI_Aint) origin * OPS + op) * fz.plan.part;
}

void fz_rma_begin(fz_lane_t * l)
{
    MPI_Aint words = slot(fz.size, 0), bytes = words * 8;

    if (l->win != MPI_WIN_NULL)
        return;
    if (fz_draw(l, 2)) {
        l->win_mem = NULL;
        MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, l->own.comm, &l->win_mem, &l->win);
    } else {
        l->win_from = fz_mem_new(l, (size_t) bytes);
        l->win_mem = l->win_from.p;
        MPI_Win_create(l->win_mem, bytes, 8, MPI_INFO_NULL, l->own.comm, &l->win);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, fz.rank, 0, l->win);
    memset(l->win_mem, 0, (size_t) bytes);
    for (int i = 0; i < CONSTANTS; i++)
        l->win_mem[COUNTERS + i] = constant(fz.rank, i);
    MPI_Win_unlock(fz.rank, l->win);
    l->counter[0] = l->counter[1] = 0;
    MPI_Barrier(l->ctl);
}

void fz_rma_end(fz_lane_t * l)
{
    int *flavour, flag, created;

    if (l->win == MPI_WIN_NULL)
        return;
    MPI_Win_get_attr(l->win, MPI_WIN_CREATE_FLAVOR, &flavour, &flag);
    created = *flavour == MPI_WIN_FLAVOR_CREATE;
    MPI_Win_free(&l->win);
    if (created)
        fz_mem_free(&l->win_from);
}

static int passive(const epoch_t * e)
{
    return e->epoch <= LOCK_ALL;
}

static int target_of(const epoch_t * e, int origin)
{
    return e->fan_in ? e->shift : (origin + e->shift) % fz.size;
}

static uint64_t amount(const epoch_t * e, int origin, int op)
{
    return fz_mix(e->key, (uint64_t) origin, (uint64_t) op) >> 40;
}

static uint64_t put_key(const epoch_t * e, int origin, int op)
{
    return fz_mix(e->key + 1, (uint64_t) origin, (uint64_t) op);
}

/* --- the epochs' ends ---------------------------------------------------- */

/* Origins of a target, or the target of an origin. */
static MPI_Group group_of(const epoch_t * e, int origins)
{
    int rank[FZ_MAX_PROCS], n = 0;
    MPI_Group all, part;

    for (int m = 0; m < fz.size; m++) {
        if (origins ? target_of(e, m) == fz.rank : target_of(e, fz.rank) == m)
            rank[n++] = m;
    }
    MPI_Comm_group(e->l->own.comm, &all);
    MPI_Group_incl(all, n, rank, &part);
    MPI_Group_free(&all);
    return part;
}

static void begin(epoch_t * e, int target)
{
    MPI_Win win = e->l->win;
    MPI_Group origins, targets;

    switch (e->epoch) {
        case LOCK_SHARED: MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win); break;
        case LOCK_EXCLUSIVE: MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win); break;
        case LOCK_ALL: MPI_Win_lock_all(0, win); break;
        case FENCE: MPI_Win_fence(MPI_MODE_NOPRECEDE, win); break;
        case PSCW:
            origins = group_of(e, 1);
            targets = group_of(e, 0);
            MPI_Win_post(origins, 0, win);
            MPI_Win_start(targets, 0, win);
            MPI_Group_free(&origins);
            MPI_Group_free(&targets);
            break;
    }
}

static void end(epoch_t * e, int target)
{
    MPI_Win win = e->l->win;
    int flag = 0;

    switch (e->epoch) {
        case LOCK_SHARED:
        case LOCK_EXCLUSIVE: MPI_Win_unlock(target, win); break;
        case LOCK_ALL: MPI_Win_unlock_all(win); break;
        case FENCE: MPI_Win_fence(MPI_MODE_NOSUCCEED, win); break;
        case PSCW:
            MPI_Win_complete(win);
            if (fz_own_draw(e->l, 2))
                MPI_Win_wait(win);
            else
                while (!flag)
                    MPI_Win_test(win, &flag);
            break;
    }
}

/* --- operations ---------------------------------------------------------- */

void fz_flush(fz_lane_t * l, int target, MPI_Win win)
{
    if (fz_own_draw(l, 2))
        MPI_Win_flush(target, win);
    else
        MPI_Win_flush_all(win);
}

void fz_flush_local(fz_lane_t * l, int target, MPI_Win win)
{
    if (fz_own_draw(l, 2))
        MPI_Win_flush_local(target, win);
    else
        MPI_Win_flush_local_all(win);
}

void fz_count(fz_lane_t * l, int by, int target, MPI_Aint at, MPI_Win win)
{
    uint64_t one = 1, seen = 0, old, next;

    switch (by) {
        case FZ_BY_ADD:
            MPI_Accumulate(&one, 1, MPI_UINT64_T, target, at, 1, MPI_UINT64_T, MPI_SUM, win);
            fz_flush_local(l, target, win);
            break;
        case FZ_BY_FETCH:
            MPI_Fetch_and_op(&one, &seen, MPI_UINT64_T, target, at, MPI_SUM, win);
            fz_flush(l, target, win);
            break;
        default:
            do {
                old = seen;
                next = old + 1;
                MPI_Compare_and_swap(&next, &old, &seen, MPI_UINT64_T, target, at, win);
                fz_flush(l, target, win);
            } while (seen != old);
    }
}

static void put(epoch_t * e, int op, int target, int strided)
{
    fz_lane_t *l = e->l;
    int n = e->words[op];
    MPI_Datatype type = MPI_UINT64_T;
    MPI_Aint at = slot(fz.rank, op);

    fz_fill(e->mem[op], (size_t) n * 8, put_key(e, fz.rank, op));
    if (strided) {
        MPI_Type_vector(n, 1, 2, MPI_UINT64_T, &type);
        MPI_Type_commit(&type);
    }
    if (passive(e) && fz_own_draw(l, 3) == 0)
        MPI_Rput(e->mem[op], n, MPI_UINT64_T, target, at, strided ? 1 : n, type, l->win,
                 &e->req[e->reqs++]);
    else
        MPI_Put(e->mem[op], n, MPI_UINT64_T, target, at, strided ? 1 : n, type, l->win);
    if (strided)
        MPI_Type_free(&type);
}

static void put_flush_get(epoch_t * e, int op, int target)
{
    fz_lane_t *l = e->l;
    int n = e->words[op];
    uint64_t *back = e->mem[op] + fz.plan.part;

    put(e, op, target, 0);
    fz_flush(l, target, l->win);
    memset(back, 0, (size_t) n * 8);
    MPI_Get(back, n, MPI_UINT64_T, target, slot(fz.rank, op), n, MPI_UINT64_T, l->win);
    fz_flush(l, target, l->win);
    FZ_CHECK(l, !memcmp(back, e->mem[op], (size_t) n * 8), "got %d words from %d other than put",
             n, target);
}

/* Accumulates of one origin at one place keep their order: the last value is that of a put. */
static void ordered(epoch_t * e, int op, int target)
{
    int n = e->words[op];
    uint64_t *last = e->mem[op], *wrong = last + n, *half = wrong + n;
    MPI_Aint at = slot(fz.rank, op);
    MPI_Win win = e->l->win;

    fz_fill(last, (size_t) n * 8, put_key(e, fz.rank, op));
    for (int i = 0; i < n; i++) {
        half[i] = last[i] / 2;
        last[i] -= half[i];
        wrong[i] = ~half[i];
    }
    MPI_Accumulate(wrong, n, MPI_UINT64_T, target, at, n, MPI_UINT64_T, MPI_REPLACE, win);
    MPI_Accumulate(half, n, MPI_UINT64_T, target, at, n, MPI_UINT64_T, MPI_REPLACE, win);
    MPI_Accumulate(last, n, MPI_UINT64_T, target, at, n, MPI_UINT64_T, MPI_SUM, win);
}

static void operate(epoch_t * e, int op, int target)
{
    MPI_Win win = e->l->win;
    uint64_t *m = e->mem[op];
    int n = e->words[op] % CONSTANTS;

    m[0] = amount(e, fz.rank, op);
    switch (e->kind[op]) {
        case PUT: put(e, op, target, 0); break;
        case STRIDED_PUT: put(e, op, target, 1); break;
        case PUT_FLUSH_GET: put_flush_get(e, op, target); break;
        case CAS: fz_count(e->l, FZ_BY_CAS, target, 1, win); break;
        case ORDERED: ordered(e, op, target); break;
        case ADD:
            MPI_Accumulate(m, 1, MPI_UINT64_T, target, 0, 1, MPI_UINT64_T, MPI_SUM, win);
            break;
        case FETCH_ADD:
            MPI_Fetch_and_op(m, m + 1, MPI_UINT64_T, target, 0, MPI_SUM, win);
            break;
        case GET_ADD:
            MPI_Get_accumulate(m, 1, MPI_UINT64_T, m + 1, 1, MPI_UINT64_T, target, 0, 1,
                               MPI_UINT64_T, MPI_SUM, win);
            break;
        case GET:
            if (passive(e) && fz_own_draw(e->l, 2))
                MPI_Rget(m, n, MPI_UINT64_T, target, COUNTERS, n, MPI_UINT64_T, win,
                         &e->req[e->reqs++]);
            else
                MPI_Get(m, n, MPI_UINT64_T, target, COUNTERS, n, MPI_UINT64_T, win);
            break;
    }
}

/* --- what must be there --------------------------------------------------- */

static void check_put(const epoch_t * e, int origin, int op)
{
    const uint64_t *got = e->l->win_mem + slot(origin, op);
    int step = e->kind[op] == STRIDED_PUT ? 2 : 1;
    uint64_t *want = fz_alloc((size_t) e->words[op] * 8);

    fz_fill(want, (size_t) e->words[op] * 8, put_key(e, origin, op));
    for (int i = 0; i < e->words[op]; i++)
        FZ_CHECK(e->l, got[i * step] == want[i], "epoch %d, operation %d (kind %d) of %d words "
                 "from %d: word %d is wrong", e->epoch, op, e->kind[op], e->words[op], origin, i);
    free(want);
}

static void check_from(epoch_t * e, int origin)
{
    fz_lane_t *l = e->l;

    for (int op = 0; op < e->ops; op++) {
        switch (e->kind[op]) {
            case PUT:
            case STRIDED_PUT:
            case ORDERED:
            case PUT_FLUSH_GET: check_put(e, origin, op); break;
            case ADD:
            case FETCH_ADD:
            case GET_ADD: l->counter[0] += amount(e, origin, op); break;
            case CAS: l->counter[1]++; break;
        }
    }
}

static void check_target(epoch_t * e)
{
    fz_lane_t *l = e->l;

    if (passive(e))
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, fz.rank, 0, l->win);
    for (int m = 0; m < fz.size; m++) {
        if (target_of(e, m) == fz.rank)
            check_from(e, m);
    }
    for (int i = 0; i < 2; i++)
        FZ_CHECK(l, l->win_mem[i] == l->counter[i], "epoch %d: counter %d is %#llx, not %#llx",
                 e->epoch, i, (unsigned long long) l->win_mem[i],
                 (unsigned long long) l->counter[i]);
    if (passive(e))
        MPI_Win_unlock(fz.rank, l->win);
}

static void check_origin(const epoch_t * e, int target)
{
    for (int op = 0; op < e->ops; op++) {
        if (e->kind[op] != GET)
            continue;
        for (int i = 0; i < e->words[op] % CONSTANTS; i++)
            FZ_CHECK(e->l, e->mem[op][i] == constant(target, i), "epoch %d: word %d of a get from "
                     "%d is wrong", e->epoch, i, target);
    }
}

static void draw_ops(epoch_t * e)
{
    fz_lane_t *l = e->l;

    e->ops = 1 + fz_draw(l, OPS);
    for (int op = 0; op < e->ops; op++) {
        int n = (int) (fz_draw_bytes(l) / 8);
        e->kind[op] = fz_draw(l, passive(e) ? KINDS : CAS);
        e->words[op] = 1 + n % (e->kind[op] == STRIDED_PUT ? fz.plan.part / 2 : fz.plan.part);
        e->from[op] = fz_mem_new(l, (size_t) fz.plan.part * 3 * 8);
        e->mem[op] = e->from[op].p;
    }
}

void fz_rma(fz_lane_t * l)
{
    epoch_t e = {.l = l,.epoch = fz_draw(l, EPOCHS),.fan_in = fz_draw(l, 2) };
    int target;

    e.shift = fz_draw(l, fz.size);
    e.key = fz_next(&l->rng);
    fz_rma_begin(l);
    draw_ops(&e);
    target = target_of(&e, fz.rank);
    begin(&e, target);
    for (int op = 0; op < e.ops; op++) {
        operate(&e, op, target);
        fz_pause(l);
    }
    fz_complete(l, e.reqs, e.req, fz_completed_nothing, NULL);
    end(&e, target);
    check_origin(&e, target);
    if (passive(&e))
        MPI_Barrier(l->ctl);
    check_target(&e);
    MPI_Barrier(l->ctl);
    for (int op = 0; op < e.ops; op++)
        fz_mem_free(&e.from[op]);
}
