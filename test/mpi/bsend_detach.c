/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* While a thread waits in MPI_Buffer_detach for a long message, others use the buffer and MPI: the peer
 * receives the long message only after theirs. The buffer that is detached is the one attached, and
 * every message has arrived. A message whose length is just above a power of 2^32 does not fit.
 * A buffer of the size that MPI asks for holds its messages at any address, and nothing beyond its end
 * is written. */
#include "mt.h"

#define LONG 0
#define SHORT 1
#define ANSWER 2
#define MANY 3

#define HELD 20                 /* messages that nobody receives before the last is sent */
#define HELD_BYTES 70001        /* of one: their sum, rounded up, needs more than the buffer */
#define SHORTEST 18             /* lengths of messages */
#define ODD 8                   /* addresses of a buffer */
#define BEYOND 32               /* bytes behind the buffer */

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

static void check_beyond(const char *end)
{
    for (int i = 0; i < BEYOND; i++)
        MT_CHECK(end[i] == '#', "byte %d behind the buffer is written", i);
}

static void detach_all(void)
{
    void *buffer;
    int size;

    MT_OK(MPI_Buffer_detach(&buffer, &size));
}

/* size bytes at an odd address, all that they need. */
static void full_buffer(void)
{
    const int size = HELD * (HELD_BYTES + MPI_BSEND_OVERHEAD);
    char *memory = mt_alloc((size_t) size + 1 + BEYOND), *message = mt_alloc(HELD_BYTES);

    memset(memory, '#', (size_t) size + 1 + BEYOND);
    memset(message, 2, HELD_BYTES);
    MT_OK(MPI_Buffer_attach(memory + 1, size));
    for (int i = 0; i < HELD; i++)
        MT_OK(MPI_Bsend(message, HELD_BYTES, MPI_CHAR, mt.peer, MANY, MPI_COMM_WORLD));
    check_beyond(memory + 1 + size);
    MT_OK(MPI_Send(NULL, 0, MPI_INT, mt.peer, ANSWER, MPI_COMM_WORLD));
    detach_all();
    free(memory);
    free(message);
}

static void receive_full_buffer(void)
{
    char *message = mt_alloc(HELD_BYTES);

    MT_OK(MPI_Recv(NULL, 0, MPI_INT, mt.peer, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < HELD; i++) {
        MT_OK(MPI_Recv(message, HELD_BYTES, MPI_CHAR, mt.peer, MANY, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        MT_CHECK(message[0] == 2 && message[HELD_BYTES - 1] == 2, "message %d", i);
    }
    free(message);
}

/* Two messages in all that they need, at any address. */
static void two_messages(void)
{
    char memory[512], message[SHORTEST] = { 0 };

    for (int i = 0; i < SHORTEST * SHORTEST * ODD; i++) {
        int n = i % SHORTEST, last = i / SHORTEST % SHORTEST, at = i / (SHORTEST * SHORTEST);
        MPI_Request r[2];
        MT_OK(MPI_Buffer_attach(memory + at, n + last + 2 * MPI_BSEND_OVERHEAD));
        MT_OK(MPI_Ibsend(message, n, MPI_CHAR, 0, MANY, MPI_COMM_SELF, &r[0]));
        MT_OK(MPI_Ibsend(message, last, MPI_CHAR, 0, MANY, MPI_COMM_SELF, &r[1]));
        MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        MT_OK(MPI_Recv(message, n, MPI_CHAR, 0, MANY, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        MT_OK(MPI_Recv(message, last, MPI_CHAR, 0, MANY, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        detach_all();
    }
}

/* Messages that are a little too long for an odd buffer are sent or refused. */
static void odd_buffer(void)
{
    const int bytes = 200, size = bytes + MPI_BSEND_OVERHEAD;
    char memory[1024], message[512] = { 0 };

    memset(memory, '#', sizeof(memory));
    MT_OK(MPI_Buffer_attach(memory + 1, size));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int n = bytes; n < bytes + 2 * BEYOND; n++) {
        int rc = MPI_Bsend(message, n, MPI_CHAR, 0, MANY, MPI_COMM_SELF);
        MT_CHECK(rc == MPI_SUCCESS || n > bytes, "%d bytes do not fit", n);
        if (rc == MPI_SUCCESS)
            MT_OK(MPI_Recv(message, n, MPI_CHAR, 0, MANY, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        check_beyond(memory + 1 + size);
    }
    detach_all();
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
    if (mt.rank == 0) {
        full_buffer();
        two_messages();
        odd_buffer();
    } else if (mt.rank == 1) {
        receive_full_buffer();
    }
    return mt_finish();
}
