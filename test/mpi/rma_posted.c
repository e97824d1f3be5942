/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* All one-sided operations and their request forms, from many threads to one window, so that most find
 * its VCI taken: nothing is lost or doubled, accumulates of one thread to one place keep their order,
 * and datatypes may be freed right after the call; none is kept. */
#include "mt.h"

#define N 8                     /* elements that a put moves */
#define ROWS 5                  /* of 2 * N elements for each thread */
#define LONGS (ROWS * 2 * N)

static MPI_Win win;
static long *mem;
static atomic_long counted;

static MPI_Aint row(int id, int r)
{
    return (MPI_Aint) (id * LONGS + r * 2 * N + 1);
}

/* Every other element; the caller frees it as soon as it has used it. */
static MPI_Datatype every_other(void)
{
    MPI_Datatype type;
    MT_OK(MPI_Type_vector(N, 1, 2, MPI_LONG, &type));
    MT_OK(MPI_Type_commit(&type));
    return type;
}

static void fill(long *v, int id, long i, int what)
{
    for (int k = 0; k < 2 * N; k++)
        v[k] = (i * 10 + what) * 1000 + id * 100 + k;
}

static void same(const long *got, const long *want, int step, const char *what, long i)
{
    for (int k = 0; k < 2 * N; k += step)
        MT_CHECK(got[k] == want[k], "%s, round %ld, element %d: %ld instead of %ld", what, i, k,
                 got[k], want[k]);
}

typedef struct {
    long put[2 * N], gaps[2 * N], rput[2 * N], rgaps[2 * N];
} values_t;

static void put_all(int id, long i, values_t * out, MPI_Request r[2])
{
    MPI_Datatype type = every_other();

    fill(out->put, id, i, 1);
    fill(out->gaps, id, i, 2);
    fill(out->rput, id, i, 3);
    fill(out->rgaps, id, i, 4);
    MT_OK(MPI_Put(out->put, 2 * N, MPI_LONG, mt.peer, row(id, 0), 2 * N, MPI_LONG, win));
    MT_OK(MPI_Put(out->gaps, 1, type, mt.peer, row(id, 1), 1, type, win));
    MT_OK(MPI_Rput(out->rput, 2 * N, MPI_LONG, mt.peer, row(id, 2), 2 * N, MPI_LONG, win, &r[0]));
    MT_OK(MPI_Rput(out->rgaps, 1, type, mt.peer, row(id, 3), N, MPI_LONG, win, &r[1]));
    MT_OK(MPI_Type_free(&type));
}

static void get_all(int id, long i, const values_t * out)
{
    values_t in;
    MPI_Datatype type = every_other();
    MPI_Request r[2];
    long fetched[2 * N] = { 0 };

    memset(&in, 0, sizeof(in));
    MT_OK(MPI_Get(in.put, 2 * N, MPI_LONG, mt.peer, row(id, 0), 2 * N, MPI_LONG, win));
    MT_OK(MPI_Get(in.gaps, 1, type, mt.peer, row(id, 1), 1, type, win));
    MT_OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, fetched, 1, type, mt.peer, row(id, 1), 1, type,
                             MPI_NO_OP, win));
    MT_OK(MPI_Rget(in.rput, 2 * N, MPI_LONG, mt.peer, row(id, 2), 2 * N, MPI_LONG, win, &r[0]));
    MT_OK(MPI_Rget(in.rgaps, 1, type, mt.peer, row(id, 3), N, MPI_LONG, win, &r[1]));
    MT_OK(MPI_Type_free(&type));
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    same(in.rput, out->rput, 1, "rget", i);
    same(in.rgaps, out->rgaps, 2, "rget with gaps", i);
    MT_OK(MPI_Win_flush(mt.peer, win));
    same(in.put, out->put, 1, "get", i);
    same(in.gaps, out->gaps, 2, "get with gaps", i);
    same(fetched, out->gaps, 2, "get_accumulate with gaps", i);
}

/* Each changes the same place, in this order: the results are known. */
static void ordered(int id, long i)
{
    const long set = i * 100, two = 2, three = 3, five = 5, other = -7, cas_from = set + 10;
    long got_acc = -1, got_op = -1, got_cas = -1, got_racc = -1;
    const MPI_Aint at = row(id, 4);
    MPI_Request r[2];

    MT_OK(MPI_Accumulate(&set, 1, MPI_LONG, mt.peer, at, 1, MPI_LONG, MPI_REPLACE, win));
    MT_OK(MPI_Get_accumulate(&two, 1, MPI_LONG, &got_acc, 1, MPI_LONG, mt.peer, at, 1, MPI_LONG,
                             MPI_SUM, win));
    MT_OK(MPI_Fetch_and_op(&three, &got_op, MPI_LONG, mt.peer, at, MPI_SUM, win));
    MT_OK(MPI_Raccumulate(&five, 1, MPI_LONG, mt.peer, at, 1, MPI_LONG, MPI_SUM, win, &r[0]));
    MT_OK(MPI_Compare_and_swap(&other, &cas_from, &got_cas, MPI_LONG, mt.peer, at, win));
    MT_OK(MPI_Rget_accumulate(NULL, 0, MPI_LONG, &got_racc, 1, MPI_LONG, mt.peer, at, 1, MPI_LONG,
                              MPI_NO_OP, win, &r[1]));
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    MT_CHECK(got_racc == other, "round %ld: last value %ld", i, got_racc);
    MT_OK(MPI_Win_flush(mt.peer, win));
    MT_CHECK(got_acc == set && got_op == set + 2 && got_cas == set + 10,
             "round %ld: got %ld, %ld, %ld", i, got_acc, got_op, got_cas);
}

/* Element 0 of process 1 counts the calls of all threads. */
static void count(void)
{
    const long one = 1;

    for (int k = 0; k < 4; k++)
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, win));
    atomic_fetch_add(&counted, 4);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Request r[2];
    values_t out;

    for (long i = 0; i < mt.iters; i++) {
        put_all(t->id, i, &out, r);
        count();
        MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        if (i % 2)
            MT_OK(MPI_Win_flush(mt.peer, win));
        else
            MT_OK(MPI_Win_flush_all(win));
        get_all(t->id, i, &out);
        ordered(t->id, i);
    }
    return NULL;
}

static void types_are_free(void)
{
    MPI_Datatype type = every_other();
    long v[2 * N] = { 0 };

    MT_OK(MPI_Put(v, 1, type, mt.peer, row(0, 0), 1, type, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
    MT_OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, v, 1, type, mt.peer, row(0, 0), 1, type, MPI_NO_OP,
                             win));
    MT_OK(MPI_Win_flush(mt.peer, win));
    mt_type_free(&type);
}

int main(int argc, char **argv)
{
    const long size = (1 + MT_MAX_THREADS * LONGS) * (long) sizeof(long);
    long mine, all;

    mt_init(argc, argv, 8, 100);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    mem = mt_alloc((size_t) size);
    MT_OK(MPI_Win_create(mem, size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    mt_run(mt.threads, worker);
    types_are_free();
    MT_OK(MPI_Win_unlock_all(win));
    mine = atomic_load(&counted);
    MT_OK(MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    MT_CHECK(mt.rank != 1 || mem[0] == all, "counted %ld instead of %ld", mem[0], all);
    MT_OK(MPI_Win_free(&win));
    free(mem);
    return mt_finish();
}
