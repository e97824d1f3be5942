/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Many threads duplicate communicators, blocking and not, each from its own parent, while the
 * library's own progress thread (MPIR_CVAR_ASYNC_PROGRESS=1) completes the nonblocking ones: every
 * new communicator is distinct, and all context ids are returned.  Rare: an MPI_Comm_idup that
 * takes or returns a context id without the mutex races with an MPI_Comm_dup that holds it. */
#include "mt.h"

static MPI_Comm parent[MT_MAX_THREADS];

static void use(MPI_Comm c, int id, long round)
{
    long out = round * MT_MAX_THREADS + id, in = -1;

    MT_OK(MPI_Sendrecv(&out, 1, MPI_LONG, mt.peer, 0, &in, 1, MPI_LONG, mt.peer, 0, c,
                       MPI_STATUS_IGNORE));
    MT_CHECK(in == out, "thread %d, round %ld: a message of another communicator", id, round);
}

/* Of each kind: dup, idup and wait, idup and test, two idups at once. */
static void *worker(void *arg)
{
    mt_thread_t *t = arg;

    for (long i = 0; i < mt.iters; i++) {
        MPI_Comm c[2] = { MPI_COMM_NULL, MPI_COMM_NULL };
        MPI_Request r[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
        int kind = (int) ((i + t->id) % 4), flag = 0;
        if (kind == 0)
            MT_OK(MPI_Comm_dup(parent[t->id], &c[0]));
        else
            MT_OK(MPI_Comm_idup(parent[t->id], &c[0], &r[0]));
        if (kind == 3)
            MT_OK(MPI_Comm_idup(parent[t->id], &c[1], &r[1]));
        if (kind == 2) {
            while (!flag)
                MT_OK(MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE));
        }
        MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        for (int k = 0; k < 2; k++) {
            if (c[k] != MPI_COMM_NULL) {
                use(c[k], t->id, i);
                MT_OK(MPI_Comm_free(&c[k]));
            }
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 8, 60);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent[i]));
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&parent[i]));
    return mt_finish();
}
