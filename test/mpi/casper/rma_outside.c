/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A target that never calls MPI: it looks at its memory until the last origin has written the word that
 * ends this, in an epoch that begins after another one has ended. Without ghosts, the origins wait for
 * the target's lock and the target for them, without end. -n: rounds. */
#include "../mt.h"

static MPI_Win win;
static _Atomic long *mem;

/* Everything that an origin does, in epochs of their own. */
static void use_target(long round)
{
    long out = 10 * round + mt.rank, in = -1, one = 1;
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    MT_OK(MPI_Put(&out, 1, MPI_LONG, 0, 1 + mt.rank, 1, MPI_LONG, win));
    MT_OK(MPI_Win_flush(0, win));
    MT_OK(MPI_Get(&in, 1, MPI_LONG, 0, 1 + mt.rank, 1, MPI_LONG, win));
    MT_OK(MPI_Win_unlock(0, win));
    MT_CHECK(in == out, "got %ld, not %ld", in, out);
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    MT_OK(MPI_Fetch_and_op(&one, &in, MPI_LONG, 0, 1, MPI_SUM, win));
    MT_OK(MPI_Win_unlock(0, win));
    if (in == mt.size - 2) {    /* the others have ended their epochs, or are about to */
        one = round + 1;
        MT_OK(MPI_Win_lock_all(0, win));
        MT_OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_REPLACE, win));
        MT_OK(MPI_Win_unlock_all(win));
    }
}

static void be_target(long round)
{
    while (atomic_load(&mem[0]) != round + 1)
        usleep(100);
    MT_CHECK(atomic_load(&mem[1]) == mt.size - 1, "%ld origins", (long) mem[1]);
    for (int i = 1; i < mt.size; i++)
        MT_CHECK(atomic_load(&mem[1 + i]) == 10 * round + i, "%ld from %d", (long) mem[1 + i], i);
    atomic_store(&mem[1], 0);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 10);
    MT_OK(MPI_Win_allocate((1 + mt.size) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                           &mem, &win));
    for (int i = 0; i <= mt.size; i++)
        atomic_store(&mem[i], 0);
    for (long i = 0; i < mt.iters; i++) {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (mt.rank == 0)
            be_target(i);
        else
            use_target(i);
    }
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}
