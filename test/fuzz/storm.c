/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Communicators made in every other way than those of comms.c, many at once, each used for one message
 * around its members and freed while that is under way. Groups are made of the communicator that all
 * lanes share, in several lanes at once. */
#include "fuzz.h"

#define MOST 3

enum { IDUP, CREATE, CREATE_GROUP, SPLIT_TYPE, CART, CART_SUB, MERGE, KINDS };

typedef struct {
    int kind, right, left;      /* ranks */
    size_t bytes;
    uint64_t key;
    fz_buf_t *in, *out;
    MPI_Comm comm;
    MPI_Request made;
} storm_t;

/* Of some members, in a random order. MPI_GROUP_EMPTY never: member 0 of the lane is in it. */
static MPI_Group draw_group(fz_lane_t * l, MPI_Comm from)
{
    int rank[FZ_MAX_PROCS], n = 0, turn = fz_draw(l, fz.size), backward = fz_draw(l, 2);
    MPI_Group all, part;

    for (int i = 0; i < fz.size; i++) {
        int m = (backward ? fz.size - i + turn : i + turn) % fz.size;
        if (fz_draw(l, 3) || m == 0)
            rank[n++] = m;
    }
    MPI_Comm_group(from, &all);
    MPI_Group_incl(all, n, rank, &part);
    MPI_Group_free(&all);
    return part;
}

static void make_group(fz_lane_t * l, storm_t * s)
{
    MPI_Comm from = s->kind == CREATE ? l->own.comm : fz.plan.shared.comm;
    MPI_Group group = draw_group(l, from);
    int rank;

    MPI_Group_rank(group, &rank);
    s->comm = MPI_COMM_NULL;
    if (s->kind == CREATE)
        MPI_Comm_create(from, group, &s->comm);
    else if (rank != MPI_UNDEFINED)
        MPI_Comm_create_group(from, group, fz_tag(l, 6), &s->comm);
    FZ_CHECK(l, (s->comm == MPI_COMM_NULL) == (rank == MPI_UNDEFINED), "a member of rank %d in the "
             "group has %s communicator", rank, s->comm == MPI_COMM_NULL ? "no" : "a");
    MPI_Group_free(&group);
}

static void make_cart(fz_lane_t * l, storm_t * s)
{
    int dims[2] = { 0, 0 }, periods[2] = { 1, 1 }, keep[2] = { fz_draw(l, 2), 1 };
    MPI_Comm cart;

    MPI_Dims_create(fz.size, 2, dims);
    MPI_Cart_create(l->own.comm, 2, dims, periods, fz_draw(l, 2), &cart);
    if (s->kind == CART) {
        s->comm = cart;
        return;
    }
    MPI_Cart_sub(cart, keep, &s->comm);
    MPI_Comm_free(&cart);
}

static void merge(fz_lane_t * l, storm_t * s)
{
    fz_comm_t inter = l->own;
    int high = fz_draw(l, 2);

    fz_make_inter(l, &inter);
    MPI_Intercomm_merge(inter.comm, l->own.me < inter.second ? high : 0, &s->comm);
    MPI_Comm_free(&inter.comm);
}

static void make(fz_lane_t * l, storm_t * s)
{
    s->made = MPI_REQUEST_NULL;
    s->kind = fz_draw(l, KINDS);
    if (s->kind == MERGE && fz.plan.threads > 1 && fz.without.merges)
        s->kind = CART;
    switch (s->kind) {
        case IDUP: MPI_Comm_idup(l->own.comm, &s->comm, &s->made); break;
        case CREATE: case CREATE_GROUP: make_group(l, s); break;
        case SPLIT_TYPE:
            MPI_Comm_split_type(l->own.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &s->comm);
            break;
        case MERGE: merge(l, s); break;
        default: make_cart(l, s);
    }
}

/* The key of a message names its sender in MPI_COMM_WORLD. */
static int world_rank(MPI_Comm comm, int rank)
{
    MPI_Group all, group;
    int world;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &group);
    MPI_Group_translate_ranks(group, 1, &rank, all, &world);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    return world;
}

static void use(fz_lane_t * l, storm_t * s, MPI_Request req[2])
{
    int rank, n, sum = 0;

    req[0] = req[1] = MPI_REQUEST_NULL;
    if (s->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(s->comm, &rank);
    MPI_Comm_size(s->comm, &n);
    s->right = (rank + 1) % n;
    s->left = (rank + n - 1) % n;
    s->left = world_rank(s->comm, s->left);
    fz_buf_fill(s->out, fz_mix(s->key, (uint64_t) fz.rank, 0));
    MPI_Irecv(s->in->addr, s->in->count, s->in->type, (rank + n - 1) % n, 3, s->comm, &req[0]);
    MPI_Isend(s->out->addr, s->out->count, s->out->type, s->right, 3, s->comm, &req[1]);
    if (fz_own_draw(l, 2))
        fz_pause(l);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, s->comm);
    FZ_CHECK(l, sum == n * (n - 1) / 2, "new communicator %d: the sum of its %d ranks is %d", s->kind,
             n, sum);
    MPI_Comm_free(&s->comm);
}

void fz_storm(fz_lane_t * l)
{
    int n = 1 + fz_draw(l, MOST);
    MPI_Request made[MOST], req[2 * MOST];
    storm_t s[MOST];

    for (int i = 0; i < n; i++) {
        make(l, &s[i]);
        made[i] = s[i].made;
        s[i].bytes = fz_draw_bytes(l);
        s[i].key = fz_next(&l->rng);
        s[i].in = fz_buf_new(l, s[i].bytes, 0);
        s[i].out = fz_buf_new(l, s[i].bytes, 0);
    }
    fz_complete(l, n, made, fz_completed_nothing, NULL);
    for (int i = 0; i < n; i++)
        use(l, &s[i], req + 2 * i);
    for (int i = 0; i < n; i++)
        s[i].made = req[2 * i];
    fz_complete(l, 2 * n, req, fz_completed_nothing, NULL);
    for (int i = 0; i < n; i++) {
        if (s[i].made != MPI_REQUEST_NULL)
            fz_buf_check(l, s[i].in, s[i].bytes, fz_mix(s[i].key, (uint64_t) s[i].left, 0), "message");
        fz_buf_free(s[i].in);
        fz_buf_free(s[i].out);
    }
}
