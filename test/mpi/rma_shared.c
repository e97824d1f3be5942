/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The threads of a process share one window, each with a part of its own, and flush at the same
 * time: what a thread has put must be at the target when its flush returns, even if the flushes of
 * the others mark it as done. -s: the second put always has so many items. */
#include "mt.h"

#define ITEMS 2048

static MPI_Win win;
static volatile uint64_t *mem;
static MPI_Comm comm[MT_MAX_THREADS];

static void meet(int id)
{
    MT_OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, mt.peer, 0, NULL, 0, MPI_BYTE, mt.peer, 0, comm[id],
                       MPI_STATUS_IGNORE));
}

/* ThreadSanitizer cannot see that the peer puts again only after this read: the order goes through the
 * peer's process. */
__attribute__((noinline, no_sanitize("thread")))
static uint64_t peek(const volatile uint64_t *item)
{
    return *item;
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    uint64_t *out = mt_alloc(ITEMS * sizeof(*out));
    MPI_Aint part = (MPI_Aint) t->id * ITEMS;
    for (long i = 1; i <= mt.iters; i++) {
        int items = mt.bytes ? ITEMS - (int) mt.bytes : 1 + (int) (mt_rand(&t->rng) % ITEMS);
        for (int k = 0; k < ITEMS; k++)
            out[k] = (uint64_t) (i * ITEMS + k);
        /* two puts, so that the first may be under way when the second is flushed */
        MT_OK(MPI_Put(out, items, MPI_UINT64_T, mt.peer, part, items, MPI_UINT64_T, win));
        MT_OK(MPI_Put(out + items, ITEMS - items, MPI_UINT64_T, mt.peer, part + items,
                      ITEMS - items, MPI_UINT64_T, win));
        if ((i + t->id) % 2)
            MT_OK(MPI_Win_flush(mt.peer, win));
        else
            MT_OK(MPI_Win_flush_all(win));
        meet(t->id);
        MT_OK(MPI_Win_sync(win));
        for (int k = 0; k < ITEMS; k++)
            MT_CHECK(peek(&mem[part + k]) == (uint64_t) (i * ITEMS + k),
                     "thread %d round %ld: item %d was flushed and is not there", t->id, i, k);
        meet(t->id);
    }
    free(out);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 6, 200);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_CHECK(mt.bytes < ITEMS, "-s is not below %d", ITEMS);
    mem = mt_alloc((size_t) mt.threads * ITEMS * sizeof(*mem));
    MT_OK(MPI_Win_create((void *) mem, (MPI_Aint) ((size_t) mt.threads * ITEMS * sizeof(*mem)),
                         sizeof(*mem), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_free(&comm[i]);
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    free((void *) mem);
    return mt_finish();
}
