/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Each thread makes windows, uses them and frees them, with no regard to the other threads; all kinds
 * of windows in turn, and each value is checked. The threads share the library's lists of windows. */
#include "mt.h"

#define KINDS 3                 /* create, allocate, allocate_shared */

static MPI_Comm comm[MT_MAX_THREADS];

static MPI_Win make(int kind, int id, long **mem)
{
    MPI_Aint size = 4 * sizeof(long);
    MPI_Win win;
    if (kind == 0)
        MT_OK(MPI_Win_create(*mem, size, sizeof(long), MPI_INFO_NULL, comm[id], &win));
    else if (kind == 1)
        MT_OK(MPI_Win_allocate(size, sizeof(long), MPI_INFO_NULL, comm[id], mem, &win));
    else
        MT_OK(MPI_Win_allocate_shared(size, sizeof(long), MPI_INFO_NULL, comm[id], mem, &win));
    return win;
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    long own[4];
    for (long i = 0; i < mt.iters; i++) {
        long *mem = own, value = 1000 * i + t->id, back = -1;
        /* without the node's shared memory there are no shared windows */
        int kinds = getenv("MPIR_CVAR_NOLOCAL") && *getenv("MPIR_CVAR_NOLOCAL") != '0' ? 2 : KINDS;
        MPI_Win win = make((int) ((i + t->id) % kinds), t->id, &mem);
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt.peer, 0, win));
        MT_OK(MPI_Put(&value, 1, MPI_LONG, mt.peer, 1, 1, MPI_LONG, win));
        MT_OK(MPI_Win_flush(mt.peer, win));
        MT_OK(MPI_Get(&back, 1, MPI_LONG, mt.peer, 1, 1, MPI_LONG, win));
        MT_OK(MPI_Win_unlock(mt.peer, win));
        MT_CHECK(back == value, "thread %d round %ld: %ld instead of %ld", t->id, i, back, value);
        MT_OK(MPI_Win_free(&win));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 60);
    mt_run_with_comms(worker, comm);
    return mt_finish();
}
