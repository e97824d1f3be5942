/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Session_init and MPI_Session_finalize in place of MPI_Init and MPI_Finalize: threads exchange
 * messages on a communicator that was made from the session; the requests of the last ones are
 * freed, so the end of the session has to complete them.  Before that a wait of the session lasts so
 * long that it polls other VCIs, which are not ready (crashed over libfabric).
 * sessions_again has several sessions after each other. */
#include "session.h"

static MPI_Comm comm;
static int sent[MT_MAX_THREADS];

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Request r;
    exchange_numbers(comm, t->id, (int) mt.iters);
    sent[t->id] = t->id;
    MT_OK(MPI_Isend(&sent[t->id], 1, MPI_INT, mt.peer, t->id, comm, &r));
    MT_OK(MPI_Request_free(&r));
    return NULL;
}

static void receive_last(void)
{
    for (int i = 0; i < mt.threads; i++) {
        int in = -1;
        MT_OK(MPI_Recv(&in, 1, MPI_INT, mt.peer, i, comm, MPI_STATUS_IGNORE));
        MT_CHECK(in == i, "the last message of thread %d is %d", i, in);
    }
}

static int query(void *extra, MPI_Status * status)
{
    (void) extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void) extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int done)
{
    (void) extra, (void) done;
    return MPI_SUCCESS;
}

static void *complete_later(void *arg)
{
    usleep(20000);
    MT_OK(MPI_Grequest_complete(*(MPI_Request *) arg));
    return NULL;
}

static void long_wait(void)
{
    MPI_Request r, same;
    pthread_t thread;
    MT_OK(MPI_Grequest_start(query, release, cancel, NULL, &r));
    same = r;
    pthread_create(&thread, NULL, complete_later, &same);
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    pthread_join(thread, NULL);
}

static void session(void)
{
    MPI_Session s = open_session();
    long_wait();
    comm = comm_of_session(s, "mpi://WORLD");
    MT_OK(MPI_Comm_rank(comm, &mt.rank));
    mt.peer = mt.rank ^ 1;
    mt_run(mt.threads, worker);
    receive_last();
    MT_OK(MPI_Comm_free(&comm));
    MT_OK(MPI_Session_finalize(&s));
}

int main(int argc, char **argv)
{
    mt_options(argc, argv, 4, 100);
    session();
    if (mt.rank == 0)
        printf(" No Errors\n");
    return 0;
}
