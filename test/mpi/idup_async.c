/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Threads duplicate communicators of their own at the same time, with MPI_Comm_idup and
 * MPI_Comm_dup mixed, and free them.  Each new communicator carries a message at once, so one whose
 * context id belongs to another communicator as well shows.  Every thread has two communicators
 * with the ranks in opposite order: a process must not wait for the root of one while the other
 * process waits for the root of the other.  With MPIR_CVAR_ASYNC_PROGRESS=1 the schedules of
 * MPI_Comm_idup also run in a thread that no communicator belongs to. */
#include "mt.h"

enum { AHEAD = 3 };

static MPI_Comm forth[MT_MAX_THREADS], back[MT_MAX_THREADS];

/* Exchanges a number that only this communicator carries. */
static void use(MPI_Comm comm, int value)
{
    int in = -1, rank, size;
    MT_OK(MPI_Comm_rank(comm, &rank));
    MT_OK(MPI_Comm_size(comm, &size));
    MT_OK(MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT,
                       (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE));
    MT_CHECK(in == value, "%d arrived instead of %d", in, value);
}

static void use_and_free(MPI_Comm * comm, int value)
{
    use(*comm, value);
    MT_OK(MPI_Comm_free(comm));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (int i = 0; i < (int) mt.iters; i++) {
        MPI_Comm dup, comms[2 * AHEAD];
        MPI_Request reqs[2 * AHEAD];
        int value = 1000 * t->id + i;
        for (int k = 0; k < 2 * AHEAD; k += 2) {
            MT_OK(MPI_Comm_idup(forth[t->id], &comms[k], &reqs[k]));
            MT_OK(MPI_Comm_idup(back[t->id], &comms[k + 1], &reqs[k + 1]));
        }
        MT_OK(MPI_Comm_dup(i % 2 ? forth[t->id] : back[t->id], &dup));
        use(dup, value);
        MT_OK(MPI_Waitall(2 * AHEAD, reqs, MPI_STATUSES_IGNORE));
        MT_OK(MPI_Comm_free(&dup));
        for (int k = 0; k < 2 * AHEAD; k++)
            use_and_free(&comms[k], value + k);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 10);
    for (int i = 0; i < mt.threads; i++) {
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &forth[i]));
        MT_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, mt.size - mt.rank, &back[i]));
    }
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++) {
        MT_OK(MPI_Comm_free(&forth[i]));
        MT_OK(MPI_Comm_free(&back[i]));
    }
    return mt_finish();
}
