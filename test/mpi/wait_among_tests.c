/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A blocking call returns though other threads call MPI_Test in a loop. Their requests complete only
 * after the blocking call has returned, so the test never ends if new calls keep a thread that waits
 * inside MPI from the lock. */
#include "mt.h"

#define GO 1
#define ANSWER 100              /* + the number of the thread */

static void wait_and_go(void)
{
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, GO, MPI_COMM_WORLD));
}

static void test_in_loop(int id)
{
    MPI_Request r;
    int done = 0;

    MT_OK(MPI_Irecv(NULL, 0, MPI_INT, mt.peer, ANSWER + id, MPI_COMM_WORLD, &r));
    while (!done)
        MT_OK(MPI_Test(&r, &done, MPI_STATUS_IGNORE));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (long n = 0; n < mt.iters; n++) {
        if (t->id == 0)
            wait_and_go();
        else
            test_in_loop(t->id);
    }
    return NULL;
}

/* The message to the waiting thread is late, so that all others test by then. */
static void serve(void)
{
    for (long n = 0; n < mt.iters; n++) {
        usleep(5000);
        MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, GO, MPI_COMM_WORLD));
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int id = 1; id < mt.threads; id++)
            MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, ANSWER + id, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 20);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    if (mt.rank == 0)
        mt_run(mt.threads, worker);
    else
        serve();
    return mt_finish();
}
