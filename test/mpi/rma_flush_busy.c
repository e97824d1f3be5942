/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A flush completes what was issued before it, however much other threads go on issuing. One
 * thread puts without pause, another flushes: the flushes must end, and the puts must go on
 * meanwhile. The test never ends if a flush waits until nothing at all is under way, or if it
 * keeps the lock from the thread that puts. */
#include "mt.h"

#define ITEMS 512
#define STOP 0
#define PUTS 2000               /* at least so many while the other thread flushes */
#define PLAIN 7
#define WINDOW 16

static MPI_Win win;
static uint64_t *mem;
static int items;
static atomic_long issued, flushes;
static atomic_int done;

/* Never without something under way, but with a limit to it, as no library can hold any number of
 * puts: most are plain ones, and one in PLAIN + 1 has a request, of which WINDOW are kept. */
static void putter(int id)
{
    uint64_t *out = mt_alloc(ITEMS * sizeof(*out));
    MPI_Aint at = (MPI_Aint) id * ITEMS;
    MPI_Request r[WINDOW];

    for (int k = 0; k < WINDOW; k++)
        r[k] = MPI_REQUEST_NULL;
    for (unsigned n = 0; !atomic_load(&done); n++) {
        for (int k = 0; k < PLAIN; k++)
            MT_OK(MPI_Put(out, items, MPI_UINT64_T, mt.peer, at, items, MPI_UINT64_T, win));
        MT_OK(MPI_Wait(&r[n % WINDOW], MPI_STATUS_IGNORE));
        MT_OK(MPI_Rput(out, items, MPI_UINT64_T, mt.peer, at, items, MPI_UINT64_T, win,
                       &r[n % WINDOW]));
        atomic_fetch_add(&issued, PLAIN + 1);
    }
    MT_OK(MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE));
    MT_OK(MPI_Win_flush(mt.peer, win));
    free(out);
}

/* Every other flush follows a put of this thread, which must have arrived after it. */
static void flusher(void)
{
    while (atomic_load(&flushes) < mt.iters || atomic_load(&issued) < PUTS) {
        uint64_t n = (uint64_t) atomic_fetch_add(&flushes, 1), in = 0;
        if (n % 2 == 0)
            MT_OK(MPI_Put(&n, 1, MPI_UINT64_T, mt.peer, 0, 1, MPI_UINT64_T, win));
        if (n % 4 < 2)
            MT_OK(MPI_Win_flush_all(win));
        else
            MT_OK(MPI_Win_flush(mt.peer, win));
        if (n % 8 == 0) {
            MT_OK(MPI_Get(&in, 1, MPI_UINT64_T, mt.peer, 0, 1, MPI_UINT64_T, win));
            MT_OK(MPI_Win_flush_all(win));
            MT_CHECK(in == n, "after a flush the peer has %llu instead of %llu",
                     (unsigned long long) in, (unsigned long long) n);
        }
    }
    atomic_store(&done, 1);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    if (t->id == 0)
        flusher();
    else
        putter(t->id);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 2, 50);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    items = mt.bytes ? (int) (mt.bytes / 8) : 1;
    MT_CHECK(items > 0 && items <= ITEMS, "-s from 8 to %d", ITEMS * 8);
    mem = mt_alloc((size_t) (mt.threads + 1) * ITEMS * sizeof(*mem));
    MT_OK(MPI_Win_create(mem, (MPI_Aint) mt.threads * ITEMS * (MPI_Aint) sizeof(*mem),
                         sizeof(*mem), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_lock_all(0, win));
    if (mt.rank == 0) {
        mt_run(mt.threads, worker);
        MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, STOP, MPI_COMM_WORLD));
    } else {
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    free(mem);
    return mt_finish();
}
