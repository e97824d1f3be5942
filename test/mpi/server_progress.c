/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* In a process with a server thread, communication goes on while the program computes. Rank 0 posts
 * receives and then is outside MPI until rank 1 has completed the sends: synchronous ones, so that
 * each needs rank 0 to answer, short and long. Rank 1 also reads and writes the memory of rank 0,
 * with a lock that only rank 0's own progress grants. Between the rounds the server has time to go
 * to sleep. */
#include "mt.h"
#include "steps.h"

#define COUNT 8
#define LONGEST (1 << 20)

enum { POSTED, SENT, STEPS };

static char *message[COUNT];
static long value;

static int length(int i, int round)
{
    return i % 2 ? 8 + round : LONGEST;
}

static void receiver(int round, MPI_Win win)
{
    MPI_Request r[COUNT];
    for (int i = 0; i < COUNT; i++)
        MT_OK(MPI_Irecv(message[i], length(i, round), MPI_CHAR, 1, i, MPI_COMM_WORLD, &r[i]));
    step_done(POSTED, round);
    step_wait(SENT, round);
    MT_OK(MPI_Waitall(COUNT, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COUNT; i++)
        MT_CHECK(message[i][length(i, round) - 1] == (char) round, "wrong data");
    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    MT_CHECK(value == round, "the window has %ld, not %d", value, round);
    MT_OK(MPI_Win_unlock(0, win));
}

static void sender(int round, MPI_Win win)
{
    MPI_Request r[COUNT];
    long got = -1, one = 1;
    step_wait(POSTED, round);
    usleep(20000);              /* the server of rank 0 sleeps by now */
    for (int i = 0; i < COUNT; i++) {
        memset(message[i], round, LONGEST);
        MT_OK(MPI_Issend(message[i], length(i, round), MPI_CHAR, 0, i, MPI_COMM_WORLD, &r[i]));
    }
    MT_OK(MPI_Waitall(COUNT, r, MPI_STATUSES_IGNORE));
    MT_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    MT_OK(MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, win));
    MT_OK(MPI_Win_unlock(0, win));
    MT_CHECK(got == round - 1, "read %ld, not %d", got, round - 1);
    step_done(SENT, round);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    mt_init(argc, argv, 1, 20);
    steps_share(STEPS);
    for (int i = 0; i < COUNT; i++)
        message[i] = malloc(LONGEST);
    MT_OK(MPI_Win_create(&value, sizeof(value), sizeof(value), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int round = 1; round <= (int) mt.iters; round++) {
        if (mt.rank == 0)
            receiver(round, win);
        else if (mt.rank == 1)
            sender(round, win);
    }
    MT_OK(MPI_Win_free(&win));
    for (int i = 0; i < COUNT; i++)
        free(message[i]);
    return mt_finish();
}
