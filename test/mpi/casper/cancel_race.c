/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A receive is cancelled while its message is on the way: either it is cancelled, its buffer is as
 * before, and the next receive gets the message, or it has the message and there is no other one. Two
 * users and their ghosts; both send and cancel. Whether any is cancelled depends on time, and is not
 * checked. -n: how often. */
#include "../mt.h"

enum { MOST = 20000 };

static int out[MOST], in[MOST];
static int cancels;

/* In the post, in a slot, by address. */
static int size_of(long i)
{
    static const int sizes[] = { 1, 16, 17, 256, 257, MOST };
    return sizes[i % 6];
}

static void fill(long i)
{
    for (int k = 0; k < size_of(i); k++)
        out[k] = (int) i * 3 + k + mt.rank;
}

static void check(const MPI_Status * status, long i)
{
    int count;
    MT_OK(MPI_Get_count(status, MPI_INT, &count));
    MT_CHECK(status->MPI_SOURCE == mt.peer && status->MPI_TAG == 1 && count == size_of(i),
             "message %ld: %d of %d, tag %d", i, count, status->MPI_SOURCE, status->MPI_TAG);
    for (int k = 0; k < count; k++)
        MT_CHECK(in[k] == (int) i * 3 + k + mt.peer, "message %ld: element %d is %d", i, k, in[k]);
}

static void cancel_one(long i, uint64_t * rng)
{
    MPI_Request send, receive;
    MPI_Status status;
    int is_cancelled;
    fill(i);
    memset(in, 0xff, sizeof(in));
    MT_OK(MPI_Irecv(in, MOST, MPI_INT, mt.peer, 1, MPI_COMM_WORLD, &receive));
    mt_delay((unsigned) (mt_rand(rng) % 200));
    MT_OK(MPI_Isend(out, size_of(i), MPI_INT, mt.peer, 1, MPI_COMM_WORLD, &send));
    mt_delay((unsigned) (mt_rand(rng) % 2000));
    MT_OK(MPI_Cancel(&receive));
    MT_OK(MPI_Wait(&receive, &status));
    MT_OK(MPI_Test_cancelled(&status, &is_cancelled));
    if (is_cancelled) {
        for (int k = 0; k < MOST; k++)
            MT_CHECK(in[k] == -1, "receive %ld was cancelled and wrote element %d", i, k);
        MT_OK(MPI_Recv(in, MOST, MPI_INT, mt.peer, 1, MPI_COMM_WORLD, &status));
        cancels++;
    }
    check(&status, i);
    MT_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    int flag;
    mt_init(argc, argv, 1, 2000);
    MT_CHECK(mt.size == 2, "2 users are needed");
    uint64_t rng = mt_rng(mt.rank, 0);
    for (long i = 0; i < mt.iters; i++)
        cancel_one(i, &rng);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    MT_CHECK(!flag, "a message is left");
    if (getenv("MT_TELL"))      /* both must happen, but a test does not depend on time */
        fprintf(stderr, "rank %d: %d of %ld are cancelled\n", mt.rank, cancels, mt.iters);
    return mt_finish();
}
