/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Two processes flush at the same time, each another window, and with several VCIs the windows are
 * on different ones: each waits for the other to make progress on a VCI that it does not use.
 * Thread i of a process uses window 2 i + rank. */
#include "mt.h"

#define ITEMS 4096

static MPI_Win win[2 * MT_MAX_THREADS];
static uint64_t *mem[2 * MT_MAX_THREADS];

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Win w = win[2 * t->id + mt.rank];
    uint64_t *out = mt_alloc(ITEMS * sizeof(*out)), *in = mt_alloc(ITEMS * sizeof(*in));
    MT_OK(MPI_Win_lock_all(0, w));
    for (long i = 0; i < mt.iters; i++) {
        for (int k = 0; k < ITEMS; k++)
            out[k] = (uint64_t) (i + k);
        MT_OK(MPI_Put(out, ITEMS, MPI_UINT64_T, mt.peer, 0, ITEMS, MPI_UINT64_T, w));
        MT_OK(MPI_Win_flush(mt.peer, w));
        MT_OK(MPI_Get(in, ITEMS, MPI_UINT64_T, mt.peer, 0, ITEMS, MPI_UINT64_T, w));
        MT_OK(MPI_Win_flush_all(w));
        MT_CHECK(!memcmp(in, out, ITEMS * sizeof(*in)), "round %ld: get is not what was put", i);
    }
    MT_OK(MPI_Win_unlock_all(w));
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 50);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (int i = 0; i < 2 * mt.threads; i++) {
        mem[i] = mt_alloc(ITEMS * sizeof(uint64_t));
        MT_OK(MPI_Win_create(mem[i], ITEMS * sizeof(uint64_t), sizeof(uint64_t), MPI_INFO_NULL,
                             MPI_COMM_WORLD, &win[i]));
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < 2 * mt.threads; i++) {
        MT_OK(MPI_Win_free(&win[i]));
        free(mem[i]);
    }
    return mt_finish();
}
