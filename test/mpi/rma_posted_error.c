/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A put outside an epoch is reported at its call, also if the thread posts its operations because other
 * threads take the VCI: they put to another window. */
#include "mt.h"

#define CALLS 8                 /* MPICH keeps the last 128 errors of a process */

static MPI_Win win, closed;
static atomic_int erring;       /* threads that still err */

static void err(int id)
{
    for (int i = 0; i < CALLS; i++) {
        long origin = id;
        mt_fails(MPI_Put(&origin, 1, MPI_LONG, mt.peer, id, 1, MPI_LONG, closed), MPI_ERR_RMA_SYNC,
                 "put outside an epoch");
        mt_delay(2000);
    }
    atomic_fetch_sub(&erring, 1);
}

static void put(int id)
{
    long origin = id;

    for (long i = 0; i < mt.iters || atomic_load(&erring) > 0; i++) {
        MT_OK(MPI_Put(&origin, 1, MPI_LONG, mt.peer, id, 1, MPI_LONG, win));
        if (i % 64 == 0)
            MT_OK(MPI_Win_flush(mt.peer, win));
    }
    MT_OK(MPI_Win_flush(mt.peer, win));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    if (t->id % 2)
        err(t->id);
    else
        put(t->id);
    return NULL;
}

int main(int argc, char **argv)
{
    long *mem, *unused;

    mt_init(argc, argv, 8, 2000);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Win_allocate(MT_MAX_THREADS * sizeof(long), sizeof(long), MPI_INFO_NULL,
                           MPI_COMM_WORLD, &mem, &win));
    MT_OK(MPI_Win_allocate(MT_MAX_THREADS * sizeof(long), sizeof(long), MPI_INFO_NULL,
                           MPI_COMM_WORLD, &unused, &closed));
    MT_OK(MPI_Win_set_errhandler(closed, MPI_ERRORS_RETURN));
    atomic_store(&erring, mt.threads / 2);
    MT_OK(MPI_Win_lock_all(0, win));
    mt_run(mt.threads, worker);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < mt.threads; i += 2)
        MT_CHECK(mem[i] == i, "thread %d put %ld", i, mem[i]);
    MT_OK(MPI_Win_free(&closed));
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}
