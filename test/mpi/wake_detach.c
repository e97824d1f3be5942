/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A thread inside MPI_Buffer_detach completes the receive of another thread and must wake it.
 * Process 0 sends a large message with MPI_Bsend and detaches the buffer, which waits until
 * process 1 has received. Process 1 receives only after an answer of a second thread of process
 * 0, which sleeps meanwhile in its own receive. The test never ends if a wake is delayed until
 * the detaching thread holds no mutex of the library, as it always holds that of buffered sends. */
#include "mt.h"

#define LARGE 0
#define QUESTION 1
#define ANSWER 2

static pthread_barrier_t round_starts;
static int bytes;

/* Sometimes the detaching thread waits first and makes progress for all, sometimes not; only the order
 * of events depends on these delays. */
static void detach(long round)
{
    char *data = mt_alloc((size_t) bytes), *space = mt_alloc((size_t) bytes + MPI_BSEND_OVERHEAD);
    void *addr;
    int size;

    data[bytes - 1] = (char) round;
    MT_OK(MPI_Buffer_attach(space, bytes + MPI_BSEND_OVERHEAD));
    if (round % 4 == 1)
        usleep(1000);
    MT_OK(MPI_Bsend(data, bytes, MPI_BYTE, mt.peer, LARGE, MPI_COMM_WORLD));
    MT_OK(MPI_Buffer_detach(&addr, &size));
    MT_CHECK(addr == space && size == bytes + MPI_BSEND_OVERHEAD, "detached another buffer");
    free(space);
    free(data);
}

static void sleeper(int id, long round)
{
    long in = -1;

    if (round % 4 != 1)
        usleep(1000);
    MT_OK(MPI_Recv(&in, 1, MPI_LONG, mt.peer, QUESTION + 2 * id, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE));
    MT_CHECK(in == round, "thread %d got %ld in round %ld", id, in, round);
    MT_OK(MPI_Send(&in, 1, MPI_LONG, mt.peer, ANSWER + 2 * id, MPI_COMM_WORLD));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (long i = 0; i < mt.iters; i++) {
        pthread_barrier_wait(&round_starts);
        if (t->id == 0)
            detach(i);
        else
            sleeper(t->id, i);
    }
    return NULL;
}

/* Process 1, one thread: wake all, one after the other, then take the large message. */
static void partner(void)
{
    char *data = mt_alloc((size_t) bytes);

    for (long i = 0; i < mt.iters; i++) {
        usleep(5000);
        for (int id = 1; id < mt.threads; id++) {
            long in = -1;
            MT_OK(MPI_Send(&i, 1, MPI_LONG, mt.peer, QUESTION + 2 * id, MPI_COMM_WORLD));
            MT_OK(MPI_Recv(&in, 1, MPI_LONG, mt.peer, ANSWER + 2 * id, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
            MT_CHECK(in == i, "thread %d answered %ld in round %ld", id, in, i);
        }
        MT_OK(MPI_Recv(data, bytes, MPI_BYTE, mt.peer, LARGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_CHECK(data[bytes - 1] == (char) i, "damaged message in round %ld", i);
    }
    free(data);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 100);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    bytes = (int) (mt.bytes ? mt.bytes : 4000000);
    pthread_barrier_init(&round_starts, NULL, (unsigned) mt.threads);
    if (mt.rank == 0)
        mt_run(mt.threads, worker);
    else
        partner();
    return mt_finish();
}
