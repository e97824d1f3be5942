/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The threads of process 1 post a million receives, each with a tag of its own, before process 0 sends
 * the first message. A VCI must have requests for all of them, and each message finds its receive. */
#include "mt.h"

#define READY 0

static int *in;

static int tag_of(const mt_thread_t * t, long i)
{
    return (int) (t->id * mt.iters + i + 1);
}

static void post_and_wait(const mt_thread_t * t)
{
    MPI_Request *r = mt_alloc((size_t) mt.iters * sizeof(*r));

    for (long i = 0; i < mt.iters; i++)
        MT_OK(MPI_Irecv(&in[tag_of(t, i)], 1, MPI_INT, 0, tag_of(t, i), MPI_COMM_WORLD, &r[i]));
    MT_OK(MPI_Send(NULL, 0, MPI_INT, 0, READY, MPI_COMM_WORLD));
    MT_OK(MPI_Waitall((int) mt.iters, r, MPI_STATUSES_IGNORE));
    for (long i = 0; i < mt.iters; i++)
        MT_CHECK(in[tag_of(t, i)] == -tag_of(t, i), "receive %d has %d", tag_of(t, i),
                 in[tag_of(t, i)]);
    free(r);
}

static void *receiver(void *arg)
{
    post_and_wait(arg);
    return NULL;
}

static void *sender(void *arg)
{
    const mt_thread_t *t = arg;

    for (long i = 0; i < mt.iters; i++) {
        int data = -tag_of(t, i);

        MT_OK(MPI_Send(&data, 1, MPI_INT, 1, tag_of(t, i), MPI_COMM_WORLD));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 250000);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    if (mt.rank == 1) {
        in = mt_alloc((size_t) (mt.threads * mt.iters + 1) * sizeof(*in));
        mt_run(mt.threads, receiver);
        free(in);
    } else {
        for (int i = 0; i < mt.threads; i++)
            MT_OK(MPI_Recv(NULL, 0, MPI_INT, 1, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        mt_run(mt.threads, sender);
    }
    return mt_finish();
}
