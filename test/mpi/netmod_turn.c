/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A process whose polls are far apart takes in messages of the network soon, though shared memory
 * brings messages all the time: process 2, of the same node, sends one in a millisecond. Process 1 is
 * on another node. Process 0 sleeps between its calls of MPI_Test, and counts those that a message of
 * process 1 takes; then between its receives from process 2. With the argument "served" it computes,
 * and its server thread naps: process 1 counts the messages of process 2 during an operation on its
 * window. Of all rounds, the one in the middle counts: the machine may be busy. */
#include "mt.h"
#include "steps.h"

enum { NEAR = 1, NEAR_LAST, FAR, BACK };
enum { SENT, DONE, STEPS };

/* Calls of MPI_Test; receives, of which one poll takes in as many messages as SHM_BATCH; messages of
 * process 2, with naps of 50 ms (testlist). */
#define MOST_TESTS 4
#define MOST_RECEIVES 16
#define MOST_SERVED 80

static int by_count(const void *a, const void *b)
{
    return *(const int *) a - *(const int *) b;
}

static void check(int *count, int most)
{
    qsort(count, (size_t) mt.iters, sizeof(*count), by_count);
    MT_CHECK(count[mt.iters / 2] < most, "a message of the network took %d", count[mt.iters / 2]);
}

/* Rank 2. */
static void send_near(void)
{
    int n = 0;

    while (step_last(DONE) == 0) {
        MT_OK(MPI_Send(&n, 1, MPI_INT, 0, NEAR, MPI_COMM_WORLD));
        step_done(SENT, ++n);
        usleep(1000);
    }
    MT_OK(MPI_Send(&n, 1, MPI_INT, 0, NEAR_LAST, MPI_COMM_WORLD));
}

static int take_near(void)
{
    MPI_Status status;
    int n;

    MT_OK(MPI_Recv(&n, 1, MPI_INT, 2, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    return status.MPI_TAG == NEAR;
}

/* Returns the calls until the message is there. */
static int take_far(int round, int receives)
{
    volatile int got = -1;
    MPI_Request req;
    int n = 0, flag = 0;

    MT_OK(MPI_Irecv((void *) &got, 1, MPI_INT, 1, FAR, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Send(&round, 1, MPI_INT, 1, BACK, MPI_COMM_WORLD));
    usleep(10000);              /* it comes meanwhile */
    for (; got < 0; n++) {
        usleep(1000);
        if (receives)
            take_near();
        else
            MT_OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
    }
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_CHECK(got == round, "got %d, not %d", got, round);
    return n;
}

/* Rank 0. */
static void take_all_far(void)
{
    int *count = mt_alloc((size_t) mt.iters * sizeof(*count));

    for (int receives = 0; receives <= 1; receives++) {
        for (int i = 0; i < mt.iters; i++)
            count[i] = take_far(i, receives);
        check(count, receives ? MOST_RECEIVES : MOST_TESTS);
    }
    step_done(DONE, 1);
    free(count);
}

/* Rank 1. */
static void answer_far(void)
{
    for (int i = 0, got; i < 2 * mt.iters; i++) {
        MT_OK(MPI_Recv(&got, 1, MPI_INT, 0, BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Send(&got, 1, MPI_INT, 0, FAR, MPI_COMM_WORLD));
    }
}

/* Rank 0, with a server thread. */
static void stay_outside(void)
{
    while (step_last(DONE) == 0)
        usleep(10000);
}

/* Rank 1, likewise. */
static void add_far(MPI_Win win)
{
    int *count = mt_alloc((size_t) mt.iters * sizeof(*count));
    const int one = 1;

    MT_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    for (int i = 0, got; i < mt.iters; i++) {
        const int before = step_last(SENT);
        MT_OK(MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 0, MPI_SUM, win));
        MT_OK(MPI_Win_flush(0, win));
        count[i] = step_last(SENT) - before;
        MT_CHECK(got == i, "got %d, not %d", got, i);
    }
    MT_OK(MPI_Win_unlock(0, win));
    step_done(DONE, 1);
    check(count, MOST_SERVED);
    free(count);
}

int main(int argc, char **argv)
{
    const int is_served = argc > 1 && !strcmp(argv[1], "served");
    int value = 0;
    MPI_Win win;

    mt_init(1, argv, 1, 20);
    MT_CHECK(mt.size == 3, "run with 3 processes");
    steps_share(STEPS);
    MT_OK(MPI_Win_create(&value, sizeof(value), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    if (mt.rank == 2)
        send_near();
    else if (is_served)
        mt.rank ? add_far(win) : stay_outside();
    else
        mt.rank ? answer_far() : take_all_far();
    while (mt.rank == 0 && take_near());
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}
