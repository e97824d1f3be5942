/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Nonblocking collectives of many threads, each with several under way on its own communicator,
 * and every thread that waits or tests makes progress for the schedules of all. Each result is
 * checked: the sums count their terms, because two threads that carry out one schedule at the same
 * time may run an operation twice. */
#include "mt.h"

#define UNDER_WAY 6
#define ITEMS 50

static MPI_Comm comm[MT_MAX_THREADS];
static MPI_Op op;
static MPI_Datatype pair;

/* Element: a sum, and how many terms it has, so that a term added twice shows. */
static void add(void *in, void *inout, int *len, MPI_Datatype * type)
{
    long *a = in, *b = inout;
    (void) type;
    for (int i = 0; i < 2 * *len; i++)
        b[i] += a[i];
}

static void start(int kind, MPI_Comm c, long *out, long *in, MPI_Request * r)
{
    switch (kind) {
        case 0: MT_OK(MPI_Iallreduce(out, in, ITEMS, pair, op, c, r)); break;
        case 1: MT_OK(MPI_Ireduce(out, in, ITEMS, pair, op, 0, c, r)); break;
        case 2: MT_OK(MPI_Ibcast(in, ITEMS, pair, 1, c, r)); break;
        case 3: MT_OK(MPI_Ibarrier(c, r)); break;
        case 4: MT_OK(MPI_Iscan(out, in, ITEMS, pair, op, c, r)); break;
        default: MT_OK(MPI_Ireduce_scatter_block(out, in, ITEMS / 2, pair, op, c, r));
    }
}

static void prepare(int kind, long round, long *out, long *in)
{
    for (int k = 0; k < 2 * ITEMS; k++) {
        out[k] = k % 2 ? 1 : round + mt.rank;
        in[k] = kind == 2 && mt.rank == 1 ? out[k] : -1;
    }
}

static void check(int kind, long round, const long *in)
{
    long n = mt.size, sum = n * round + n * (n - 1) / 2;
    int items = kind == 5 ? ITEMS / 2 : ITEMS;

    if (kind == 3 || (kind == 1 && mt.rank != 0))
        return;
    if (kind == 4) {
        n = mt.rank + 1;
        sum = n * round + n * (n - 1) / 2;
    } else if (kind == 2) {
        n = 1;
        sum = round + 1;
    }
    for (int k = 0; k < items; k++)
        MT_CHECK(in[2 * k] == sum && in[2 * k + 1] == n, "collective %d, round %ld: %ld of %ld "
                 "terms instead of %ld of %ld", kind, round, in[2 * k], in[2 * k + 1], sum, n);
}

/* Completed one after the other, all together, or by testing. */
static void complete(MPI_Request * r, long way)
{
    int flag = 0;

    if (way % 3 == 0) {
        for (int k = UNDER_WAY - 1; k >= 0; k--)
            MT_OK(MPI_Wait(&r[k], MPI_STATUS_IGNORE));
    } else if (way % 3 == 1) {
        MT_OK(MPI_Waitall(UNDER_WAY, r, MPI_STATUSES_IGNORE));
    } else {
        while (!flag)
            MT_OK(MPI_Testall(UNDER_WAY, r, &flag, MPI_STATUSES_IGNORE));
    }
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    long *out = mt_alloc(UNDER_WAY * 2 * ITEMS * sizeof(long));
    long *in = mt_alloc(UNDER_WAY * 2 * ITEMS * sizeof(long));

    for (long i = 0; i < mt.iters; i++) {
        MPI_Request r[UNDER_WAY];
        for (int k = 0; k < UNDER_WAY; k++) {
            int kind = (int) ((i + k) % 6);
            prepare(kind, i + t->id, &out[k * 2 * ITEMS], &in[k * 2 * ITEMS]);
            start(kind, comm[t->id], &out[k * 2 * ITEMS], &in[k * 2 * ITEMS], &r[k]);
        }
        complete(r, i + t->id);
        for (int k = 0; k < UNDER_WAY; k++)
            check((int) ((i + k) % 6), i + t->id, &in[k * 2 * ITEMS]);
    }
    free(in);
    free(out);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 100);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    MT_OK(MPI_Type_contiguous(2, MPI_LONG, &pair));
    MT_OK(MPI_Type_commit(&pair));
    MT_OK(MPI_Op_create(add, 1, &op));
    mt_run(mt.threads, worker);
    MT_OK(MPI_Op_free(&op));
    MT_OK(MPI_Type_free(&pair));
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
    return mt_finish();
}
