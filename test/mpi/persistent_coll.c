/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Persistent collectives: one that was not started yet is inactive, so test and wait return at once;
 * and MPI_Start starts it whatever its request object was used for before, here for a persistent send
 * to MPI_PROC_NULL, which MPI_Start leaves alone. Each start moves what is in the buffers then, within
 * a communicator and, with 4 processes or more, between two groups. */
#include "mt.h"

#define STARTS 3
#define LONG_BLOCK 5000         /* integers */

enum { GATHER, SCATTER, ALLGATHER, KINDS };
static const char *const names[] = { "gather", "scatter", "allgather" };

/* Where a block comes from: a communicator, and the rank in MPI_COMM_WORLD of its first process. */
typedef struct {
    MPI_Comm comm;
    int size, rank;             /* size: of the group that data comes from and goes to */
    int first;
} place_t;

static void use_an_object(void)
{
    MPI_Request req;

    MT_OK(MPI_Send_init(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Start(&req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Request_free(&req));
}

static void reduce(int round)
{
    int mine, sum, done = 0;
    MPI_Request req;

    MT_OK(MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &req));
    MT_OK(MPI_Test(&req, &done, MPI_STATUS_IGNORE));
    MT_CHECK(done, "a persistent collective that was not started is not complete");
    MT_OK(MPI_Waitall(1, &req, MPI_STATUSES_IGNORE));
    for (int i = 0; i < STARTS; i++) {
        mine = mt.rank + round + i;
        sum = -1;
        MT_OK(MPI_Start(&req));
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        MT_CHECK(sum == mt.size * (mt.size - 1) / 2 + mt.size * (round + i),
                 "start %d of round %d: the sum is %d", i, round, sum);
    }
    MT_OK(MPI_Request_free(&req));
}

static int value(int start, int rank, int block)
{
    return start * 10000 + rank * 100 + block;
}

static void init(int kind, const place_t * p, int n, const int *in, int *out, int root,
                 MPI_Request * req)
{
    if (kind == GATHER)
        MT_OK(MPI_Gather_init(in, n, MPI_INT, out, n, MPI_INT, root, p->comm, MPI_INFO_NULL, req));
    else if (kind == SCATTER)
        MT_OK(MPI_Scatter_init(in, n, MPI_INT, out, n, MPI_INT, root, p->comm, MPI_INFO_NULL, req));
    else
        MT_OK(MPI_Allgather_init(in, n, MPI_INT, out, n, MPI_INT, p->comm, MPI_INFO_NULL, req));
}

static void fill(int n, int blocks, int start, int *in, int *out)
{
    for (int i = 0; i < blocks * n; i++) {
        in[i] = value(start, mt.rank, i / n);
        out[i] = -1;
    }
}

/* Of the block from that process of the other, or the only, group: its last element, too. */
static void check(int kind, const place_t * p, int n, int start, int from, const int *out, int block)
{
    const int expected = value(start, p->first + from, kind == SCATTER ? p->rank : 0);

    for (int i = 0; i < n; i += n > 1 ? n - 1 : 1)
        MT_CHECK(out[block * n + i] == expected, "%s, start %d: %d from process %d, not %d",
                 names[kind], start, out[block * n + i], p->first + from, expected);
}

/* root: the rank of the root in its group. root_arg: what this process gives as the root. */
static void run(int kind, const place_t * p, int n, int root_arg, int is_root, int receives, int root)
{
    const int blocks = mt.size;
    int *in = mt_alloc((size_t) (blocks * n) * sizeof(int));
    int *out = mt_alloc((size_t) (blocks * n) * sizeof(int));
    MPI_Request req;

    fill(n, blocks, 0, in, out);
    init(kind, p, n, in, out, root_arg, &req);
    for (int start = 1; start <= STARTS; start++) {
        fill(n, blocks, start, in, out);
        MT_OK(MPI_Start(&req));
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        if (kind == SCATTER && receives)
            check(kind, p, n, start, root, out, 0);
        else if (kind == ALLGATHER || (kind == GATHER && is_root))
            for (int from = 0; from < p->size; from++)
                check(kind, p, n, start, from, out, from);
    }
    MT_OK(MPI_Request_free(&req));
    free(in);
    free(out);
}

static void within(int n)
{
    const place_t world = { MPI_COMM_WORLD, mt.size, mt.rank, 0 };

    for (int kind = 0; kind < KINDS; kind++)
        for (int root = 0; root < mt.size; root++)
            run(kind, &world, n, root, mt.rank == root, 1, root);
}

/* The first half of the processes and the others, to and from the first process of each. */
static void between(int n)
{
    const int half = mt.size / 2, is_second = mt.rank >= half;
    MPI_Comm local;
    place_t p = { .first = is_second ? 0 : half };

    MT_OK(MPI_Comm_split(MPI_COMM_WORLD, is_second, mt.rank, &local));
    MT_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, p.first, 1, &p.comm));
    MT_OK(MPI_Comm_rank(p.comm, &p.rank));
    MT_OK(MPI_Comm_remote_size(p.comm, &p.size));
    for (int kind = 0; kind < KINDS; kind++)
        for (int side = 0; side < 2; side++) {
            const int is_root = is_second == side && p.rank == 0;
            const int root_arg = is_second != side ? 0 : is_root ? MPI_ROOT : MPI_PROC_NULL;
            run(kind, &p, n, root_arg, is_root, is_second != side, 0);
        }
    MT_OK(MPI_Comm_free(&p.comm));
    MT_OK(MPI_Comm_free(&local));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 20);
    within(1);
    within(LONG_BLOCK);
    if (mt.size >= 4) {
        between(1);
        between(LONG_BLOCK);
    }
    for (int round = 0; round < mt.iters; round++) {
        use_an_object();
        reduce(round);
    }
    return mt_finish();
}
