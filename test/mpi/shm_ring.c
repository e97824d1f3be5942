/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Messages in shared memory. Many are under way while the receiver is outside MPI: the sends complete
 * all the same, and the next ones, for which there is no room, do so later. Messages of all sizes,
 * in slots and in cells, short and long, with and without gaps, arrive in the order in which they
 * were sent, each with its own data. Several threads send to one VCI, and receive from it. */
#include "mt.h"

#define AHEAD 900               /* fewer than MPICH-TSM has room for, more than MPICH's 64 cells */
#define BEYOND 3000             /* more than there is room for */

static const int sizes[] = {
    0, 1, 8, 39, 40, 41, 64, 176, 191, 192, 193, 208, 240, 256, 1024, 1025, 4095, 4096, 4097, 8193,
    65536, 69600, 200000
};

#define SIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))
#define LARGEST 200000

static MPI_Datatype gaps;       /* every second byte of two */

static void fill(unsigned char *buf, int size, int stride, uint64_t key)
{
    for (int i = 0; i < size; i++)
        buf[i * stride] = (unsigned char) (key + (uint64_t) i * 131);
}

static int differs(const unsigned char *buf, int size, int stride, uint64_t key)
{
    for (int i = 0; i < size; i++) {
        if (buf[i * stride] != (unsigned char) (key + (uint64_t) i * 131))
            return i + 1;
    }
    return 0;
}

/* The first sends complete without any help of the receiver's. */
static void send_ahead(void)
{
    static int data[BEYOND];
    static MPI_Request req[BEYOND];
    int pid = mt_peer_outside();

    for (int i = 0; i < BEYOND; i++) {
        data[i] = i;
        MT_OK(MPI_Isend(&data[i], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &req[i]));
    }
    MT_OK(MPI_Waitall(AHEAD, req, MPI_STATUSES_IGNORE));
    mt_call_back(pid);
    MT_OK(MPI_Waitall(BEYOND, req, MPI_STATUSES_IGNORE));
}

static void receive_late(void)
{
    mt_stay_outside();
    for (int i = 0; i < BEYOND; i++) {
        int n = -1;
        MT_OK(MPI_Recv(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_CHECK(n == i, "message %d has come as number %d", n, i);
    }
}

typedef struct {
    int size, has_gaps;
    uint64_t key;
} message_t;

/* The same on both sides. */
static message_t next_message(uint64_t * rng)
{
    message_t m;

    m.size = sizes[mt_rand(rng) % (uint64_t) SIZES];
    m.has_gaps = (int) (mt_rand(rng) % 4 == 0);
    m.key = mt_rand(rng);
    return m;
}

static void send_all(mt_thread_t * t, unsigned char *buf)
{
    uint64_t rng = mt_rng(t->id, mt.rank);

    for (long i = 0; i < mt.iters; i++) {
        message_t m = next_message(&rng);
        fill(buf, m.size, 1 + m.has_gaps, m.key);
        MT_OK(MPI_Send(buf, m.size, m.has_gaps ? gaps : MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD));
    }
}

static void receive_all(mt_thread_t * t, unsigned char *buf)
{
    uint64_t rng = mt_rng(t->id, mt.peer);

    for (long i = 0; i < mt.iters; i++) {
        message_t m = next_message(&rng);
        MPI_Status status;
        int count, wrong;
        MT_OK(MPI_Recv(buf, LARGEST, m.has_gaps ? gaps : MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD,
                       &status));
        MT_OK(MPI_Get_count(&status, m.has_gaps ? gaps : MPI_BYTE, &count));
        MT_CHECK(count == m.size, "message %ld of thread %d has %d elements in place of %d", i, t->id,
                 count, m.size);
        wrong = differs(buf, m.size, 1 + m.has_gaps, m.key);
        MT_CHECK(!wrong, "byte %d of message %ld of thread %d, %d bytes, is wrong", wrong - 1, i,
                 t->id, m.size);
    }
}

static void *exchange(void *arg)
{
    mt_thread_t *t = arg;
    unsigned char *buf = malloc(2 * LARGEST);

    MT_CHECK(buf, "no memory");
    if ((t->id + mt.rank) % 2) {
        send_all(t, buf);
        receive_all(t, buf);
    } else {
        receive_all(t, buf);
        send_all(t, buf);
    }
    free(buf);
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Datatype byte_in_two;

    mt_init(argc, argv, 4, 150);
    MT_OK(MPI_Type_create_resized(MPI_BYTE, 0, 2, &byte_in_two));
    MT_OK(MPI_Type_dup(byte_in_two, &gaps));
    MT_OK(MPI_Type_commit(&gaps));
    if (mt.rank == 0)
        send_ahead();
    else if (mt.rank == 1)
        receive_late();
    mt_run(mt.threads, exchange);
    MT_OK(MPI_Type_free(&byte_in_two));
    MT_OK(MPI_Type_free(&gaps));
    return mt_finish();
}
