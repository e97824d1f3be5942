/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Persistent requests, started a few times, and partitioned ones, of which several threads make
 * partitions ready. */
#include "fuzz.h"

#define MAX_PAIRS 6
#define MAX_PARTS 12

typedef struct {
    fz_lane_t *l;
    fz_comm_t *c;
    int pairs, shift, round;
    size_t bytes[MAX_PAIRS];
    uint64_t key;
    fz_buf_t *out[MAX_PAIRS], *in[MAX_PAIRS];
    MPI_Request req[2 * MAX_PAIRS];     /* receives, then sends */
} persistent_t;

static uint64_t key_of(const persistent_t * x, int member, int pair)
{
    return fz_mix(x->key + (uint64_t) x->round, (uint64_t) member, (uint64_t) pair);
}

static void init_pair(persistent_t * x, int i)
{
    MPI_Comm comm = x->c->comm;
    fz_lane_t *l = x->l;
    int dst = fz_dst(x->c, x->shift), src = fz_src(x->c, x->shift), tag = fz_tag(l, i % 3);
    fz_buf_t *in, *out;

    x->bytes[i] = fz_draw_bytes(l);
    in = x->in[i] = fz_buf_new(l, x->bytes[i], 0);
    out = x->out[i] = fz_buf_new(l, x->bytes[i], 0);
    MPI_Recv_init(in->addr, in->count, in->type, src, tag, comm, &x->req[i]);
    if (fz_draw(l, 2))
        MPI_Send_init(out->addr, out->count, out->type, dst, tag, comm, &x->req[x->pairs + i]);
    else
        MPI_Ssend_init(out->addr, out->count, out->type, dst, tag, comm, &x->req[x->pairs + i]);
    fz_buf_free_type(in);
    fz_buf_free_type(out);
}

/* Receives in order: those of one tag must be posted as they are sent. */
static void start(persistent_t * x)
{
    if (fz_own_draw(x->l, 2)) {
        MPI_Startall(2 * x->pairs, x->req);
        return;
    }
    for (int i = 0; i < 2 * x->pairs; i++) {
        MPI_Start(&x->req[i]);
        fz_pause(x->l);
    }
}

static void done(void *arg, int i, const MPI_Status * st)
{
    persistent_t *x = arg;
    int bytes;

    if (i >= x->pairs)
        return;
    MPI_Get_count(st, MPI_BYTE, &bytes);
    FZ_CHECK(x->l, (size_t) bytes == x->bytes[i] && st->MPI_TAG == fz_tag(x->l, i % 3),
             "persistent receive %d: %d bytes, tag %d", i, bytes, st->MPI_TAG);
    fz_buf_check(x->l, x->in[i], x->bytes[i], key_of(x, fz_src(x->c, x->shift), i),
                 "persistent receive");
}

void fz_persistent(fz_lane_t * l, fz_comm_t * c)
{
    persistent_t x = {.l = l,.c = c,.key = fz_mix(l->rng, 9, 0) };
    int rounds;

    x.pairs = 1 + fz_draw(l, MAX_PAIRS);
    x.shift = fz_draw(l, c->n);
    rounds = 1 + fz_draw(l, 4);
    for (int i = 0; i < x.pairs; i++)
        init_pair(&x, i);
    for (x.round = 0; x.round < rounds; x.round++) {
        for (int i = 0; i < x.pairs; i++)
            fz_buf_fill(x.out[i], key_of(&x, c->me, i));
        start(&x);
        fz_complete(l, 2 * x.pairs, x.req, done, &x);
    }
    for (int i = 0; i < 2 * x.pairs; i++)
        MPI_Request_free(&x.req[i]);
    for (int i = 0; i < x.pairs; i++) {
        fz_buf_free(x.in[i]);
        fz_buf_free(x.out[i]);
    }
}

/* --- partitioned --------------------------------------------------------- */

typedef struct {
    int parts;
    MPI_Request send;
} ready_t;

/* The even partitions or the odd ones. */
static void make_ready(fz_lane_t * l, int first, void *arg)
{
    ready_t *r = arg;

    (void) l;
    for (int p = first; p < r->parts; p += 2)
        MPI_Pready(p, r->send);
}

/* All partitions, in one of several ways. */
static void all_ready(fz_lane_t * l, int parts, MPI_Request send)
{
    int list[MAX_PARTS], cut = fz_own_draw(l, parts + 1);
    ready_t all = { parts, send };

    switch (fz_own_draw(l, 3)) {
        case 0: fz_threads(l, 2, make_ready, &all); break;
        case 1:
            if (cut > 0)
                MPI_Pready_range(0, cut - 1, send);
            for (int p = parts - 1; p >= cut; p--)
                MPI_Pready(p, send);
            break;
        default:
            for (int p = 0; p < parts; p++)
                list[p] = parts - 1 - p;
            MPI_Pready_list(parts, list, send);
    }
}

/* A partition that has arrived holds its data before the whole request is complete. */
static void check_part(fz_lane_t * l, const unsigned char *in, int p, size_t bytes, uint64_t key)
{
    FZ_CHECK(l, fz_holds(in + (size_t) p * bytes, bytes, fz_mix(key, 3, (uint64_t) p)),
             "partition %d of %zu bytes damaged", p, bytes);
}

static void round_of_parts(fz_lane_t * l, MPI_Request req[2], int parts, size_t bytes,
                           unsigned char *mem[2], uint64_t my_key, uint64_t key)
{
    int flag;

    memset(mem[0], 0, (size_t) parts * bytes);
    for (int p = 0; p < parts; p++)
        fz_fill(mem[1] + (size_t) p * bytes, bytes, fz_mix(my_key, 3, (uint64_t) p));
    MPI_Start(&req[0]);
    MPI_Start(&req[1]);
    all_ready(l, parts, req[1]);
    for (int p = 0; p < parts; p++) {
        MPI_Parrived(req[0], p, &flag);
        if (flag)
            check_part(l, mem[0], p, bytes, key);
    }
    if (fz.without.partitioned_all)
        fz_complete_each(l, 2, req);
    else
        fz_complete(l, 2, req, fz_completed_nothing, NULL);
    for (int p = 0; p < parts; p++)
        check_part(l, mem[0], p, bytes, key);
}

void fz_partitioned(fz_lane_t * l, fz_comm_t * c)
{
    int parts = 1 + fz_draw(l, MAX_PARTS), rounds = 1 + fz_draw(l, 3), tag = fz_tag(l, 0);
    int shift = 1 + fz_draw(l, c->n - 1), dst = fz_dst(c, shift), src = fz_src(c, shift);
    size_t bytes = fz_draw_bytes(l) / (size_t) parts;
    uint64_t key = fz_mix(l->rng, 10, 0);
    size_t all = (size_t) parts * bytes;
    unsigned char *mem[2] = { fz_alloc(all), fz_alloc(all) };
    MPI_Request req[2];

    MPI_Precv_init(mem[0], parts, (MPI_Count) bytes, MPI_BYTE, src, tag, c->comm, MPI_INFO_NULL,
                   &req[0]);
    MPI_Psend_init(mem[1], parts, (MPI_Count) bytes, MPI_BYTE, dst, tag, c->comm, MPI_INFO_NULL,
                   &req[1]);
    for (int i = 0; i < rounds; i++)
        round_of_parts(l, req, parts, bytes, mem, fz_mix(key, (uint64_t) c->me, (uint64_t) i),
                       fz_mix(key, (uint64_t) src, (uint64_t) i));
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);
    free(mem[0]);
    free(mem[1]);
}
