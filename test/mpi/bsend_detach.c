/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* While a thread waits in MPI_Buffer_detach for a long message, others use the buffer and MPI: the peer
 * receives the long message only after theirs. The buffer that is detached is the one attached, and
 * every message has arrived. A message whose length is just above a power of 2^32 does not fit. */
#include "mt.h"

#define LONG 0
#define SHORT 1
#define ANSWER 2

/* Time for the thread that detaches to get there. */
#define WAIT_US 100000

static atomic_int is_detaching;

static void *detach(void *arg)
{
    void *buffer;
    int size;

    atomic_store(&is_detaching, 1);
    MT_OK(MPI_Buffer_detach(&buffer, &size));
    MT_CHECK(buffer == arg, "another buffer is detached");
    return NULL;
}

/* Each message is answered before the next. */
static void *use(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    int answer;

    for (int i = 0; i < (int) mt.iters; i++) {
        MT_OK(MPI_Bsend(&i, 1, MPI_INT, mt.peer, SHORT + 2 * id, MPI_COMM_WORLD));
        MT_OK(MPI_Recv(&answer, 1, MPI_INT, mt.peer, ANSWER + 2 * id, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        MT_CHECK(answer == i, "answer %d to %d", answer, i);
    }
    return NULL;
}

static void *answer(void *arg)
{
    const int id = ((mt_thread_t *) arg)->id;
    int value;

    for (int i = 0; i < (int) mt.iters; i++) {
        MT_OK(MPI_Recv(&value, 1, MPI_INT, mt.peer, SHORT + 2 * id, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        MT_OK(MPI_Send(&value, 1, MPI_INT, mt.peer, ANSWER + 2 * id, MPI_COMM_WORLD));
    }
    return NULL;
}

static void too_long(const char *message)
{
    MPI_Request r;

    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    mt_fails(MPI_Bsend_c(message, ((MPI_Count) 1 << 32) + 16, MPI_CHAR, mt.peer, LONG, MPI_COMM_WORLD),
             MPI_ERR_BUFFER, "MPI_Bsend_c");
    mt_fails(MPI_Ibsend_c(message, ((MPI_Count) 1 << 32) + 16, MPI_CHAR, mt.peer, LONG, MPI_COMM_WORLD,
                          &r), MPI_ERR_BUFFER, "MPI_Ibsend_c");
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void sender(char *message, int n)
{
    const int size = n + 64 * 1024 + (int) MPI_BSEND_OVERHEAD;
    void *buffer = mt_alloc((size_t) size);
    pthread_t detacher;

    memset(message, 1, (size_t) n);
    MT_OK(MPI_Buffer_attach(buffer, size));
    too_long(message);
    MT_OK(MPI_Bsend(message, n, MPI_CHAR, mt.peer, LONG, MPI_COMM_WORLD));
    MT_CHECK(!pthread_create(&detacher, NULL, detach, buffer), "no thread");
    while (!atomic_load(&is_detaching))
        usleep(1000);
    usleep(WAIT_US);
    mt_run(mt.threads, use);
    MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, ANSWER, MPI_COMM_WORLD));
    pthread_join(detacher, NULL);
    free(buffer);
}

static void receiver(char *message, int n)
{
    mt_run(mt.threads, answer);
    MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Recv(message, n, MPI_CHAR, mt.peer, LONG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++)
        MT_CHECK(message[i] == 1, "byte %d is %d", i, message[i]);
}

int main(int argc, char **argv)
{
    int n;
    char *message;

    mt_init(argc, argv, 3, 100);
    n = mt.bytes ? (int) mt.bytes : 1 << 20;
    message = mt_alloc((size_t) n);
    if (mt.rank == 0)
        sender(message, n);
    else if (mt.rank == 1)
        receiver(message, n);
    free(message);
    return mt_finish();
}
