/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Intercomm_create by several threads at once, with the same leaders, the same peer communicator
 * and a tag of its own for each thread: every intercommunicator has the groups asked for. */
#include "mt.h"

/* Even and odd processes are the two sides. Thread t uses the first t + 1 of each, so that no two
 * threads have groups of the same size. */
static int side_size;
static MPI_Comm local[MT_MAX_THREADS];

static void check(MPI_Comm c, int t, long round)
{
    int size = -1, mine = 1000 * t + (int) (round % 1000), got = -1;

    MT_OK(MPI_Comm_remote_size(c, &size));
    MT_CHECK(size == t + 1, "thread %d, round %ld: %d processes on the other side", t, round, size);
    MT_OK(MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_MAX, c));
    MT_CHECK(got == mine, "thread %d, round %ld: got %d", t, round, got);
}

static void *worker(void *arg)
{
    int t = ((mt_thread_t *) arg)->id;
    MPI_Comm c;

    if (mt.rank / 2 > t)
        return NULL;
    for (long r = 0; r < mt.iters; r++) {
        MT_OK(MPI_Intercomm_create(local[t], 0, MPI_COMM_WORLD, 1 - mt.rank % 2, 10 * t, &c));
        check(c, t, r);
        MT_OK(MPI_Comm_free(&c));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 50);
    side_size = mt.size / 2;
    MT_CHECK(mt.size == 2 * side_size, "run with an even number of processes");
    for (int t = 0; t < side_size; t++) {
        int color = mt.rank / 2 <= t ? mt.rank % 2 : MPI_UNDEFINED;
        MT_OK(MPI_Comm_split(MPI_COMM_WORLD, color, mt.rank, &local[t]));
    }
    mt_run(side_size, worker);
    for (int t = 0; t < side_size; t++) {
        if (local[t] != MPI_COMM_NULL)
            MT_OK(MPI_Comm_free(&local[t]));
    }
    return mt_finish();
}
