/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* After a local flush the origin's buffer may be changed. Each thread puts a large block and then a
 * small one, flushes locally, overwrites both buffers, and the peer must have what was in them
 * before. The small put is complete at once and must not hide that the large one is not. */
#include "mt.h"

#define BYTES 1000000

static MPI_Win win;
static uint64_t *mem;
static size_t items;            /* of a large block; one more word behind it for the small one */

static void fill(uint64_t * block, uint64_t value)
{
    for (size_t i = 0; i < items; i++)
        block[i] = value + i;
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    uint64_t *block = mt_alloc(items * sizeof(*block)), *back = mt_alloc((items + 1) * sizeof(*back));
    MPI_Aint at = (MPI_Aint) ((size_t) t->id * (items + 1));

    for (long n = 0; n < mt.iters; n++) {
        uint64_t value = mt_rand(&t->rng), word = value;
        fill(block, value);
        MT_OK(MPI_Put(block, (int) items, MPI_UINT64_T, mt.peer, at, (int) items, MPI_UINT64_T, win));
        MT_OK(MPI_Put(&word, 1, MPI_UINT64_T, mt.peer, at + (MPI_Aint) items, 1, MPI_UINT64_T, win));
        MT_OK(n % 2 ? MPI_Win_flush_local(mt.peer, win) : MPI_Win_flush_local_all(win));
        word = 0;
        memset(block, 0, items * sizeof(*block));
        MT_OK(MPI_Win_flush(mt.peer, win));
        MT_OK(MPI_Get(back, (int) items + 1, MPI_UINT64_T, mt.peer, at, (int) items + 1,
                      MPI_UINT64_T, win));
        MT_OK(MPI_Win_flush(mt.peer, win));
        for (size_t i = 0; i < items; i++)
            MT_CHECK(back[i] == value + i, "word %zu of block %ld is %llu instead of %llu", i, n,
                     (unsigned long long) back[i], (unsigned long long) (value + i));
        MT_CHECK(back[items] == value, "the word after block %ld is wrong", n);
    }
    free(back);
    free(block);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 3, 30);
    items = (mt.bytes ? (size_t) mt.bytes : BYTES) / sizeof(*mem);
    MT_CHECK(items > 0, "-s at least 8");
    size_t bytes = (size_t) mt.threads * (items + 1) * sizeof(*mem);
    mem = mt_alloc(bytes);
    MT_OK(MPI_Win_create(mem, (MPI_Aint) bytes, sizeof(*mem), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    mt_run(mt.threads, worker);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    free(mem);
    return mt_finish();
}
