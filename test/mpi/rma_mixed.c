/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One-sided operations of threads on windows of their own (lock and flush, lock_all, fence) while
 * other threads send; every value is checked. */
#include "mt.h"

#define N 64                    /* elements put; element N is a counter */

static MPI_Comm comm[MT_MAX_THREADS];
static MPI_Win win[MT_MAX_THREADS];
static long *mem[MT_MAX_THREADS];

static void fill(long *v, int id, long i, int rank)
{
    for (int k = 0; k < N; k++)
        v[k] = i * 1000 + id * 100 + k + rank * 7;
}

static void same(const long *v, int id, long i, int rank, const char *what)
{
    long want[N];
    fill(want, id, i, rank);
    for (int k = 0; k < N; k++)
        MT_CHECK(v[k] == want[k], "%s, round %ld, element %d: %ld instead of %ld", what, i, k, v[k],
                 want[k]);
}

static void locked(int id, long i)
{
    long out[N], in[N], one = 1, old = -1;
    fill(out, id, i, mt.rank);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mt.peer, 0, win[id]);
    MPI_Put(out, N, MPI_LONG, mt.peer, 0, N, MPI_LONG, win[id]);
    MPI_Win_flush(mt.peer, win[id]);
    MPI_Get(in, N, MPI_LONG, mt.peer, 0, N, MPI_LONG, win[id]);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, mt.peer, N, MPI_SUM, win[id]);
    MPI_Win_unlock(mt.peer, win[id]);
    same(in, id, i, mt.rank, "put and get");
    MT_CHECK(old == i, "fetch-and-add gave %ld instead of %ld", old, i);
}

static void lock_all(int id, long i)
{
    long two = 2, sum = -1;
    MPI_Request r;
    if (i == 0)
        MPI_Win_lock_all(0, win[id]);
    MPI_Accumulate(&two, 1, MPI_LONG, mt.peer, N, 1, MPI_LONG, MPI_SUM, win[id]);
    MPI_Win_flush(mt.peer, win[id]);
    MPI_Rget(&sum, 1, MPI_LONG, mt.peer, N, 1, MPI_LONG, win[id], &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MT_CHECK(sum == 2 * (i + 1), "accumulated %ld instead of %ld", sum, 2 * (i + 1));
    if (i == mt.iters - 1)
        MPI_Win_unlock_all(win[id]);
}

static void fenced(int id, long i)
{
    long out[N], three = 3;
    fill(out, id, i, mt.rank);
    MPI_Win_fence(0, win[id]);
    MPI_Put(out, N, MPI_LONG, mt.peer, 0, N, MPI_LONG, win[id]);
    MPI_Accumulate(&three, 1, MPI_LONG, mt.peer, N, 1, MPI_LONG, MPI_SUM, win[id]);
    MPI_Win_fence(0, win[id]);
    same(mem[id], id, i, mt.peer, "fence");
    MT_CHECK(mem[id][N] == 3 * (i + 1), "counter is %ld", mem[id][N]);
}

static void exchange(int id, long i)
{
    long out = i, in = -1;
    MPI_Sendrecv(&out, 1, MPI_LONG, mt.peer, id, &in, 1, MPI_LONG, mt.peer, id, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MT_CHECK(in == i, "exchange gave %ld", in);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (long i = 0; i < mt.iters; i++) {
        switch (t->id % 4) {
            case 0: locked(t->id, i); break;
            case 1: exchange(t->id, i); break;
            case 2: fenced(t->id, i); break;
            default: lock_all(t->id, i); break;
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 200);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (int i = 0; i < mt.threads; i++) {
        mem[i] = mt_alloc(sizeof(long) * (N + 1));
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Win_create(mem[i], sizeof(long) * (N + 1), sizeof(long), MPI_INFO_NULL, comm[i],
                       &win[i]);
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++) {
        MPI_Win_free(&win[i]);
        MPI_Comm_free(&comm[i]);
        free(mem[i]);
    }
    return mt_finish();
}
