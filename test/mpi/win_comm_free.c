/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A window stays usable when the communicator that it was made of is freed (MPI-4.0 section 7.4.3:
 * what is in use is not deallocated). Each thread makes several windows, each of a communicator of its
 * own that it frees at once, and uses them together, between fences and under locks: no operation may
 * reach another window. */
#include "mt.h"

#define WINDOWS 4               /* of a thread, at a time */

static MPI_Comm comm[MT_MAX_THREADS];

static MPI_Win make(int id, int w, long *own, long **mem)
{
    MPI_Aint size = sizeof(long);
    MPI_Comm dup;
    MPI_Win win;

    MT_OK(MPI_Comm_dup(comm[id], &dup));
    if (w % 2) {
        MT_OK(MPI_Win_allocate(size, sizeof(long), MPI_INFO_NULL, dup, mem, &win));
    } else {
        *mem = own;
        MT_OK(MPI_Win_create(own, size, sizeof(long), MPI_INFO_NULL, dup, &win));
    }
    MT_OK(MPI_Comm_free(&dup));
    return win;
}

static void accumulate(const long *value, const MPI_Win * win)
{
    for (int w = 0; w < WINDOWS; w++)
        MT_OK(MPI_Accumulate(&value[w], 1, MPI_LONG, mt.peer, 0, 1, MPI_LONG, MPI_SUM, win[w]));
}

static void check(const char *when, int id, const MPI_Win * win, long *const *mem, const long *want)
{
    for (int w = 0; w < WINDOWS; w++) {
        MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, mt.rank, 0, win[w]));
        MT_CHECK(*mem[w] == want[w], "thread %d, %s: window %d has %ld, not %ld", id, when, w,
                 *mem[w], want[w]);
        MT_OK(MPI_Win_unlock(mt.rank, win[w]));
    }
}

static void use(int id, const MPI_Win * win, long *const *mem, long round)
{
    long value[WINDOWS], twice[WINDOWS];

    for (int w = 0; w < WINDOWS; w++) {
        *mem[w] = 0;
        value[w] = (round + 1) * 1000 + id * 10 + w;
        twice[w] = 2 * value[w];
    }
    for (int w = 0; w < WINDOWS; w++)
        MT_OK(MPI_Win_fence(0, win[w]));
    accumulate(value, win);
    for (int w = 0; w < WINDOWS; w++)
        MT_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win[w]));
    check("after the fence", id, win, mem, value);
    MT_OK(MPI_Barrier(comm[id]));
    for (int w = 0; w < WINDOWS; w++)
        MT_OK(MPI_Win_lock_all(0, win[w]));
    accumulate(value, win);
    for (int w = 0; w < WINDOWS; w++)
        MT_OK(MPI_Win_unlock_all(win[w]));
    MT_OK(MPI_Barrier(comm[id]));
    check("after the locks", id, win, mem, twice);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    long own[WINDOWS], *mem[WINDOWS];
    MPI_Win win[WINDOWS];

    for (long i = 0; i < mt.iters; i++) {
        for (int w = 0; w < WINDOWS; w++)
            win[w] = make(t->id, w, &own[w], &mem[w]);
        use(t->id, win, mem, i);
        for (int w = 0; w < WINDOWS; w++)
            MT_OK(MPI_Win_free(&win[w]));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 2, 20);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
    return mt_finish();
}
