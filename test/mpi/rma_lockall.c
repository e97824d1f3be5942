/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Every thread locks its own window, for one target and for all, and counts in the memory of both
 * processes. With several VCIs the windows are on different ones, and so must be the replies to the
 * locks (MPICH #5971). */
#include "mt.h"

static MPI_Comm comm[MT_MAX_THREADS];
static MPI_Win win[MT_MAX_THREADS];
static long *mem[MT_MAX_THREADS];

static void add(int target, MPI_Win w)
{
    static const long one = 1;
    MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, w);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Win w = win[t->id];
    for (long i = 0; i < mt.iters; i++) {
        MPI_Win_lock_all(0, w);
        for (int target = 0; target < mt.size; target++)
            add(target, w);
        MPI_Win_unlock_all(w);
        MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, mt.peer, 0, w);
        add(mt.peer, w);
        MPI_Win_unlock(mt.peer, w);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 500);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (int i = 0; i < mt.threads; i++) {
        mem[i] = mt_alloc(sizeof(long));
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        MPI_Win_create(mem[i], sizeof(long), sizeof(long), MPI_INFO_NULL, comm[i], &win[i]);
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++) {
        MPI_Win_free(&win[i]);
        MT_CHECK(mem[i][0] == 3 * mt.iters, "window %d: %ld instead of %ld", i, mem[i][0],
                 3 * mt.iters);
        MPI_Comm_free(&comm[i]);
        free(mem[i]);
    }
    return mt_finish();
}
