/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* One process alone, whose threads send to each other, on MPI_COMM_SELF and on MPI_COMM_WORLD: one
 * thread waits, so the other must get the lock. Does not end, or takes minutes, with MPICH 4.0.2 and
 * per-vci, where a waiting thread hardly ever releases the lock. */
#include "mt.h"

static MPI_Comm comm[2];

/* Threads 2 k and 2 k + 1 are a pair; the even one begins. */
static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    int other = t->id ^ 1;

    if (other >= mt.threads)
        return NULL;
    for (int i = 0; i < (int) mt.iters; i++) {
        MPI_Comm c = comm[i / 2 % 2];
        int in = -1;
        MPI_Request r;
        if (t->id % 2 == 0)
            MT_OK(MPI_Send(&i, 1, MPI_INT, 0, other, c));
        if (i % 2) {
            MT_OK(MPI_Recv(&in, 1, MPI_INT, 0, t->id, c, MPI_STATUS_IGNORE));
        } else {
            MT_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, t->id, c, &r));
            MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        MT_CHECK(in == i, "thread %d got %d in round %d", t->id, in, i);
        if (t->id % 2)
            MT_OK(MPI_Send(&i, 1, MPI_INT, 0, other, c));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;

    mt_options(argc, argv, 2, 5000);
    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_OK(MPI_Comm_size(MPI_COMM_WORLD, &mt.size));
    MT_CHECK(mt.size == 1 && provided == MPI_THREAD_MULTIPLE, "run with 1 process");
    comm[0] = MPI_COMM_SELF;
    comm[1] = MPI_COMM_WORLD;
    mt_run(mt.threads, worker);
    return mt_finish();
}
