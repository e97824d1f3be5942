/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* When a receive is complete, all of its data must be there.  The receives name no source and have
 * a type of so many small blocks that the library receives into a buffer of its own and unpacks it.
 * One thread waits for the message, another polls for something else and so unpacks it: the waiting
 * thread, which takes no lock, must not see the request complete before that is done.  The test
 * checks the last elements first.  Fails if the library completes the user's request
 * and only then unpacks. */
#include "mt.h"

#define BLOCK 2                 /* ints of data in each piece, followed by as many of gap */
#define DATA 0
#define READY 1
#define NEVER 2

static MPI_Datatype type;
static int blocks;
static int *buf;
static atomic_int done;

#define WAYS 8
static const char *const name[WAYS] = {
    "Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"
};

static int expected(long round, int k)
{
    return (int) (round * 31 + k + 1);
}

/* The other processes take turns. */
static int sender_of(long round)
{
    return 1 + (int) (round % (mt.size - 1));
}

/* Every kind of completing call, in the order of the names. */
static void complete(MPI_Request * r, long way, MPI_Status * st)
{
    int flag = 0, n = 0;

    switch (way % WAYS) {
        case 0: MT_OK(MPI_Wait(r, st)); break;
        case 1: MT_OK(MPI_Waitall(1, r, st)); break;
        case 2: MT_OK(MPI_Waitany(1, r, &n, st)); break;
        case 3: MT_OK(MPI_Waitsome(1, r, &n, &flag, st)); break;
        case 4:
            while (!flag)
                MT_OK(MPI_Test(r, &flag, st));
            break;
        case 5:
            while (!flag)
                MT_OK(MPI_Testall(1, r, &flag, st));
            break;
        case 6:
            while (!flag)
                MT_OK(MPI_Testany(1, r, &n, &flag, st));
            break;
        default:
            while (n != 1)
                MT_OK(MPI_Testsome(1, r, &n, &flag, st));
    }
}

/* How many elements are wrong; the last ones, which are unpacked last, are looked at first. */
static int wrong_elements(long round)
{
    int wrong = 0;
    for (int k = blocks * BLOCK - 1; k >= 0; k--)
        wrong += (buf[k / BLOCK * 2 * BLOCK + k % BLOCK] != expected(round, k));
    return wrong;
}

static void receive(void)
{
    int damaged[WAYS] = { 0 }, sum = 0;

    for (long i = 0; i < mt.iters; i++) {
        int source = sender_of(i);
        MPI_Request r;
        MPI_Status st;
        int got;
        memset(buf, 0, (size_t) blocks * 2 * BLOCK * sizeof(int));
        MT_OK(MPI_Irecv(buf, 1, type, MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, &r));
        MT_OK(MPI_Send(NULL, 0, MPI_INT, source, READY, MPI_COMM_WORLD));
        complete(&r, i, &st);
        damaged[i % WAYS] += (wrong_elements(i) != 0);
        MT_OK(MPI_Get_elements(&st, type, &got));
        MT_CHECK(got == blocks * BLOCK && st.MPI_SOURCE == source && st.MPI_TAG == DATA,
                 "message %ld has a status of %d elements, source %d, tag %d", i, got,
                 st.MPI_SOURCE, st.MPI_TAG);
    }
    for (int w = 0; w < WAYS; w++) {
        if (damaged[w])
            fprintf(stderr, "after MPI_%s %d of %ld messages had wrong data\n", name[w], damaged[w],
                    (mt.iters + WAYS - 1 - w) / WAYS);
        sum += damaged[w];
    }
    MT_CHECK(sum == 0, "%d of %ld messages were complete before their data was there", sum,
             mt.iters);
    atomic_store(&done, 1);
}

static void send(void)
{
    int *out = mt_alloc((size_t) blocks * BLOCK * sizeof(int));

    for (long i = 0; i < mt.iters; i++) {
        if (sender_of(i) != mt.rank)
            continue;
        for (int k = 0; k < blocks * BLOCK; k++)
            out[k] = expected(i, k);
        MT_OK(MPI_Recv(NULL, 0, MPI_INT, 0, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Send(out, blocks * BLOCK, MPI_INT, 0, DATA, MPI_COMM_WORLD));
    }
    free(out);
}

static void poll(void)
{
    int flag = 0, in;
    MPI_Request never;

    MT_OK(MPI_Irecv(&in, 1, MPI_INT, mt.rank, NEVER, MPI_COMM_WORLD, &never));
    while (!atomic_load(&done))
        MT_OK(MPI_Test(&never, &flag, MPI_STATUS_IGNORE));
    MT_OK(MPI_Send(&flag, 1, MPI_INT, mt.rank, NEVER, MPI_COMM_WORLD));
    MT_OK(MPI_Wait(&never, MPI_STATUS_IGNORE));
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    if (mt.rank != 0) {
        if (t->id == 0)
            send();
    } else if (t->id == 0) {
        receive();
    } else {
        poll();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 2, 160);
    MT_CHECK(mt.threads >= 2, "at least 2 threads are needed");
    blocks = (int) ((mt.bytes ? mt.bytes : 4000000) / (BLOCK * (long) sizeof(int)));
    buf = mt_alloc((size_t) blocks * 2 * BLOCK * sizeof(int));
    MT_OK(MPI_Type_vector(blocks, BLOCK, 2 * BLOCK, MPI_INT, &type));
    MT_OK(MPI_Type_commit(&type));
    mt_run(mt.threads, worker);
    mt_type_free(&type);
    free(buf);
    return mt_finish();
}
