/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Collectives over several nodes against a serial answer: blocking, nonblocking, and persistent with
 * two starts; small and long; in place; with datatypes whose elements overlap, have gaps or begin
 * before or after their address; with an operator that does not commute; on communicators in several
 * orders, so that any process may be alone on its node; and on inter-communicators.  -n cases drawn
 * from seed -r; one thread (the default -t 1) starts MPI without threads, where reductions of a node go
 * through cells in shared memory. */
#include "mt.h"

#define LAYOUTS 5
#define COMMS 6
#define MARGIN 64               /* around each buffer; no layout reaches further */

typedef struct {
    unsigned a, b;
} pair_t;

/* Where the two numbers of a pair are in an element, its lower bound and its extent. */
static const struct {
    int a, b, lb, extent;
} layout[LAYOUTS] = { {0, 4, 0, 8}, {4, 12, 0, 20}, {-8, 4, -8, 16}, {0, 20, 0, 8}, {24, 28, 20, 12} };

typedef struct {
    char *mem, *want, *p;       /* p: the first element's address */
    size_t len;
    int layout;
} buf_t;

enum { BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, COLLS
};
static const char *const coll_name[COLLS] = { "barrier", "bcast", "gather", "scatter", "allgather",
    "alltoall", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"
};

/* A case: what to call, and what the calling process is in it. */
typedef struct {
    MPI_Comm comm;
    int coll, mode, count, root, in_place, commutes;
    int rank, size, others;     /* others: processes whose data arrives: size, or the remote size */
    int inter, base, their_base;        /* base: added to ranks, so that the two groups' data differ */
    buf_t send, recv;
    MPI_Datatype send_type, recv_type;
    MPI_Op op;
    MPI_Request request;
    char text[256];
} case_t;

static MPI_Datatype type[LAYOUTS];
static MPI_Op op[2];
static const case_t *current;   /* for the operators */

static pair_t value(int rank, int i)
{
    uint64_t z = mt_hash((uint64_t) rank * 1000003u + (uint64_t) i);
    return (pair_t) {(unsigned) (z >> 32), (unsigned) z};
}

/* A sum, or the composition of two linear functions. */
static pair_t combine(pair_t x, pair_t y)
{
    if (current->commutes)
        return (pair_t) {x.a + y.a, x.b + y.b};
    return (pair_t) {x.a * y.a, x.b * y.a + y.b};
}

static pair_t get(const char *p, int l, int i)
{
    pair_t v;
    memcpy(&v.a, p + i * layout[l].extent + layout[l].a, sizeof(v.a));
    memcpy(&v.b, p + i * layout[l].extent + layout[l].b, sizeof(v.b));
    return v;
}

static void put(char *p, int l, int i, pair_t v)
{
    memcpy(p + i * layout[l].extent + layout[l].a, &v.a, sizeof(v.a));
    memcpy(p + i * layout[l].extent + layout[l].b, &v.b, sizeof(v.b));
}

static void apply(void *in, void *inout, int *n, MPI_Datatype * t)
{
    const int l = current->send.layout;
    (void) t;
    for (int i = 0; i < *n; i++)
        put(inout, l, i, combine(get(in, l, i), get(inout, l, i)));
}

static buf_t buffer(int l, int elements)
{
    buf_t b = {.len = (size_t) (elements * layout[l].extent) + 2 * MARGIN,.layout = l };
    b.mem = mt_alloc(b.len);
    b.want = mt_alloc(b.len);
    b.p = b.mem + MARGIN;
    memset(b.mem, 0xa5, b.len);
    memset(b.want, 0xa5, b.len);
    return b;
}

/* Element i, before the call and, until want() says otherwise, also afterwards. */
static void have(buf_t * b, int i, pair_t v)
{
    put(b->p, b->layout, i, v);
    put(b->want + MARGIN, b->layout, i, v);
}

static void want(buf_t * b, int i, pair_t v)
{
    put(b->want + MARGIN, b->layout, i, v);
}

static void check(const case_t * c, buf_t * b, const char *which)
{
    size_t i = 0;
    while (i < b->len && b->mem[i] == b->want[i])
        i++;
    MT_CHECK(i == b->len, "%s: byte %ld of the %s buffer is wrong", c->text, (long) i - MARGIN, which);
    free(b->mem);
    free(b->want);
}

/* The processes' combined value of element i, of those from 0 to last. */
static pair_t combined(const case_t * c, int last, int i)
{
    pair_t v = value(c->their_base, i);
    for (int r = 1; r <= last; r++)
        v = combine(v, value(c->their_base + r, i));
    return v;
}

static void finish(case_t * c)
{
    for (int k = 0; c->mode && k < c->mode; k++) {
        if (c->mode == 2)
            MT_OK(MPI_Start(&c->request));
        MT_OK(MPI_Wait(&c->request, MPI_STATUS_IGNORE));
    }
    if (c->mode == 2)
        MT_OK(MPI_Request_free(&c->request));
}

/* One of the three forms of a call whose last argument is the communicator. */
#define CALL(name_, iname_, ...)                                                              \
    do {                                                                                \
        if (c->mode == 0)                                                               \
            MT_OK(MPI_##name_(__VA_ARGS__, c->comm));                                   \
        else if (c->mode == 1)                                                          \
            MT_OK(MPI_##iname_(__VA_ARGS__, c->comm, &c->request));                  \
        else                                                                            \
            MT_OK(MPI_##name_##_init(__VA_ARGS__, c->comm, MPI_INFO_NULL, &c->request));   \
        finish(c);                                                                      \
    } while (0)

static void barrier(case_t * c)
{
    if (c->mode == 0)
        MT_OK(MPI_Barrier(c->comm));
    else if (c->mode == 1)
        MT_OK(MPI_Ibarrier(c->comm, &c->request));
    else
        MT_OK(MPI_Barrier_init(c->comm, MPI_INFO_NULL, &c->request));
    finish(c);
}

/* In an inter-communicator the root is in the group whose base is 0. */
static void broadcast(case_t * c)
{
    const int roots_group = !c->inter || c->base == 0, is_root = roots_group && c->rank == c->root;
    const int root = !c->inter || !roots_group ? c->root : is_root ? MPI_ROOT : MPI_PROC_NULL;
    buf_t *b = is_root ? &c->send : &c->recv;
    MPI_Datatype t = is_root ? c->send_type : c->recv_type;

    for (int i = 0; i < c->count; i++) {
        if (is_root)
            have(b, i, value(c->root, i));
        else if (root >= 0)
            want(b, i, value(c->root, i));
    }
    CALL(Bcast, Ibcast, b->p, c->count, t, root);
}

static void gather(case_t * c, int all)
{
    const int to_me = all || c->rank == c->root, in_place = c->in_place && to_me;
    const void *from = in_place ? MPI_IN_PLACE : c->send.p;

    for (int i = 0; i < c->count; i++) {
        have(&c->send, i, value(c->base + c->rank, i));
        if (in_place)
            have(&c->recv, c->rank * c->count + i, value(c->base + c->rank, i));
        for (int r = 0; to_me && r < c->others; r++)
            want(&c->recv, r * c->count + i, value(c->their_base + r, i));
    }
    if (all)
        CALL(Allgather, Iallgather, from, c->count, c->send_type, c->recv.p, c->count, c->recv_type);
    else
        CALL(Gather, Igather, from, c->count, c->send_type, to_me ? c->recv.p : NULL, c->count,
             c->recv_type, c->root);
}

static void scatter(case_t * c)
{
    const int is_root = c->rank == c->root, in_place = c->in_place && is_root;

    for (int i = 0; i < c->count; i++) {
        for (int r = 0; is_root && r < c->size; r++)
            have(&c->send, r * c->count + i, value(r, i));
        if (!in_place)
            want(&c->recv, i, value(c->rank, i));
    }
    CALL(Scatter, Iscatter, is_root ? c->send.p : NULL, c->count, c->send_type,
         in_place ? MPI_IN_PLACE : c->recv.p, c->count, c->recv_type, c->root);
}

static void all_to_all(case_t * c)
{
    for (int r = 0; r < c->size; r++) {
        for (int i = 0; i < c->count; i++) {
            have(&c->send, r * c->count + i, value(100 * c->rank + r, i));
            if (c->in_place)
                have(&c->recv, r * c->count + i, value(100 * c->rank + r, i));
            want(&c->recv, r * c->count + i, value(100 * r + c->rank, i));
        }
    }
    CALL(Alltoall, Ialltoall, c->in_place ? MPI_IN_PLACE : c->send.p, c->count, c->send_type,
         c->recv.p, c->count, c->recv_type);
}

/* One contribution of count elements from each process, the result where to_me. */
static void reduce(case_t * c)
{
    const int to_me = c->coll != REDUCE || c->rank == c->root, in_place = c->in_place && to_me;
    const int last = c->coll == SCAN ? c->rank : c->coll == EXSCAN ? c->rank - 1 : c->others - 1;
    const void *from = in_place ? MPI_IN_PLACE : c->send.p;
    void *to = to_me ? c->recv.p : NULL;

    for (int i = 0; i < c->count; i++) {
        have(&c->send, i, value(c->base + c->rank, i));
        if (in_place)
            have(&c->recv, i, value(c->base + c->rank, i));
        if (to_me && last >= 0)
            want(&c->recv, i, combined(c, last, i));
    }
    if (c->coll == REDUCE)
        CALL(Reduce, Ireduce, from, to, c->count, c->send_type, c->op, c->root);
    else if (c->coll == ALLREDUCE)
        CALL(Allreduce, Iallreduce, from, to, c->count, c->send_type, c->op);
    else if (c->coll == SCAN)
        CALL(Scan, Iscan, from, to, c->count, c->send_type, c->op);
    else
        CALL(Exscan, Iexscan, from, to, c->count, c->send_type, c->op);
}

/* Not in place: what is behind the result would be undefined. */
static void reduce_scatter(case_t * c)
{
    int counts[64];

    for (int r = 0; r < c->size; r++)
        counts[r] = c->count;
    for (int i = 0; i < c->size * c->count; i++)
        have(&c->send, i, value(c->rank, i));
    for (int i = 0; i < c->count; i++)
        want(&c->recv, i, combined(c, c->size - 1, c->rank * c->count + i));
    if (c->coll == REDUCE_SCATTER)
        CALL(Reduce_scatter, Ireduce_scatter, c->send.p, c->recv.p, counts, c->send_type, c->op);
    else
        CALL(Reduce_scatter_block, Ireduce_scatter_block, c->send.p, c->recv.p, c->count,
             c->send_type, c->op);
}

static void run_case(case_t * c)
{
    switch (c->coll) {
        case BARRIER: barrier(c); break;
        case BCAST: broadcast(c); break;
        case GATHER: gather(c, 0); break;
        case ALLGATHER: gather(c, 1); break;
        case SCATTER: scatter(c); break;
        case ALLTOALL: all_to_all(c); break;
        case REDUCE_SCATTER: reduce_scatter(c); break;
        case REDUCE_SCATTER_BLOCK: reduce_scatter(c); break;
        default: reduce(c);
    }
}

static int draw(uint64_t * s, int n)
{
    return (int) (mt_rand(s) % (unsigned) n);
}

/* The same draws in all processes, whatever each makes of them. */
static void draw_case(uint64_t * s, MPI_Comm * comm, MPI_Comm inter, case_t * c)
{
    static const int small[] = { 0, 1, 3, 8, 100, 1000 }, large[] = { 9000, 20000, 70000 };
    static const int on_inter[] = { BARRIER, BCAST, ALLGATHER, ALLREDUCE };
    const int k = draw(s, COMMS), send = draw(s, LAYOUTS), other = draw(s, LAYOUTS), root = draw(s, 60);
    const int is_small = draw(s, 25), lesser = draw(s, 6), greater = draw(s, 3);

    *c = (case_t) {.coll = draw(s, COLLS),.mode = draw(s, 3),.in_place = draw(s, 2),
        .commutes = draw(s, 2),.inter = draw(s, 8) == 0};
    if (c->inter)
        c->coll = on_inter[draw(s, 4)];
    c->comm = c->inter ? inter : comm[k];
    MT_OK(MPI_Comm_rank(c->comm, &c->rank));
    MT_OK(MPI_Comm_size(c->comm, &c->size));
    c->others = c->size;
    if (c->inter) {
        MT_OK(MPI_Comm_remote_size(c->comm, &c->others));
        c->base = mt.rank % 2 ? 32 : 0;
        c->their_base = 32 - c->base;
        c->root = root % ((mt.size + 1) / 2);
        c->in_place = 0;
    } else {
        c->root = root % c->size;
    }
    if (c->in_place && c->mode == 2)
        c->in_place = 0;        /* a second start would have other data */
    c->count = is_small ? small[lesser] : large[greater];
    const int receive = c->coll >= REDUCE ? send : other;
    const int blocks = c->others > c->size ? c->others : c->size;
    c->send = buffer(send, blocks * c->count);
    c->recv = buffer(receive, blocks * c->count);
    c->send_type = type[send];
    c->recv_type = type[receive];
    c->op = op[c->commutes];
    snprintf(c->text, sizeof(c->text),
             "%s%s%s, %s %d, process %d of %d, %d elements, layouts %d and %d, root "
             "%d%s%s", c->mode == 0 ? "" : c->mode == 1 ? "nonblocking " : "persistent ",
             coll_name[c->coll], c->in_place ? " in place" : "", c->inter ? "inter" : "communicator", k,
             c->rank, c->size, c->count, send, receive, c->root,
             c->commutes ? "" : ", does not commute",
             c->inter ? ", inter-communicator" : "");
}

static void alarmed(int sig)
{
    (void) sig;
    mt_fail(__FILE__, __LINE__, "does not end: %s", current->text);
}

static void make_types(void)
{
    for (int l = 0; l < LAYOUTS; l++) {
        MPI_Aint at[2] = { layout[l].a, layout[l].b };
        MPI_Datatype t;
        MT_OK(MPI_Type_create_hindexed_block(2, 1, at, MPI_UNSIGNED, &t));
        MT_OK(MPI_Type_create_resized(t, layout[l].lb, layout[l].extent, &type[l]));
        MT_OK(MPI_Type_commit(&type[l]));
        MT_OK(MPI_Type_free(&t));
    }
    MT_OK(MPI_Op_create(apply, 0, &op[0]));
    MT_OK(MPI_Op_create(apply, 1, &op[1]));
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Comm comm[COMMS], inter;

    mt_options(argc, argv, 1, 200);
    MT_OK(MPI_Init_thread(NULL, NULL, mt.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                          &provided));
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank));
    MT_OK(MPI_Comm_size(MPI_COMM_WORLD, &mt.size));
    const int me = mt.rank, odd = me % 2, by_parity = odd * mt.size + me;
    const int key[COMMS] = { me, -me, (me + 1) % mt.size, by_parity, me ^ (me < 2), me };

    signal(SIGALRM, alarmed);
    make_types();
    for (int k = 0; k < COMMS; k++)
        MT_OK(MPI_Comm_split(MPI_COMM_WORLD, k == COMMS - 1 ? odd : 0, key[k], &comm[k]));
    MT_OK(MPI_Intercomm_create(comm[COMMS - 1], 0, MPI_COMM_WORLD, !odd, 1, &inter));
    uint64_t s = mt_rng(0, 0);
    for (long i = 0; i < mt.iters; i++) {
        case_t c;
        current = &c;
        draw_case(&s, comm, inter, &c);
        alarm(30);
        run_case(&c);
        alarm(0);
        check(&c, &c.send, "send");
        check(&c, &c.recv, "receive");
    }
    MT_OK(MPI_Comm_free(&inter));
    for (int k = 0; k < COMMS; k++)
        MT_OK(MPI_Comm_free(&comm[k]));
    for (int l = 0; l < LAYOUTS; l++)
        MT_OK(MPI_Type_free(&type[l]));
    MT_OK(MPI_Op_free(&op[0]));
    MT_OK(MPI_Op_free(&op[1]));
    return mt_finish();
}
