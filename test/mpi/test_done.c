/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A test call that can return true makes no progress (MPICH #6629), so that it costs nothing and keeps
 * no thread from a VCI.  Rank 0 tests requests that it knows to be complete; a synchronous send of
 * rank 1, to a receive that rank 0 has posted, must not complete meanwhile, as only progress of
 * rank 0 can complete it.  The ranks exchange their steps through shared memory, without MPI. */
#include "mt.h"
#include "steps.h"

#define LOOKS 1000              /* enough for an acknowledgement to arrive */
#define LATE_TAG 1000

enum { TEST, TESTALL, TESTANY, TESTSOME, KINDS };
static const char *const name[KINDS] = { "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome" };

enum { RECEIVED, SENT, TESTED, LOOKED, STEPS };
/* Test one or two requests of r that are known to be complete; n: how many are left. */
static int test_some(int kind, MPI_Request * r, int n)
{
    int flag = 0, index, count, indices[2];
    switch (kind) {
        case TEST:
            MT_OK(MPI_Test(&r[n - 1], &flag, MPI_STATUS_IGNORE));
            count = 1;
            break;
        case TESTALL:
            MT_OK(MPI_Testall(2, &r[n - 2], &flag, MPI_STATUSES_IGNORE));
            count = 2;
            break;
        case TESTANY:
            MT_OK(MPI_Testany(1, &r[n - 1], &index, &flag, MPI_STATUS_IGNORE));
            flag = flag && index == 0;
            count = 1;
            break;
        default:
            MT_OK(MPI_Testsome(2, &r[n - 2], &count, indices, MPI_STATUSES_IGNORE));
            flag = count == 2;
            break;
    }
    MT_CHECK(flag, "%s denies that a request is complete", name[kind]);
    return n - count;
}

static void tester(int kind, int round)
{
    int n = (int) mt.iters * 2, flag, late, *in = mt_alloc((size_t) n * sizeof(int));
    MPI_Request last, *r = mt_alloc((size_t) n * sizeof(*r));
    MT_OK(MPI_Irecv(&late, 1, MPI_INT, 1, LATE_TAG, MPI_COMM_WORLD, &last));
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Irecv(&in[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &r[i]));
    for (int i = 0; i < n; i++) {
        for (flag = 0; !flag;)
            MT_OK(MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE));
        MT_CHECK(in[i] == i, "message %d is %d", i, in[i]);
    }
    step_done(RECEIVED, round);
    step_wait(SENT, round);
    for (int left = n; left > 0;)
        left = test_some(kind, r, left);
    step_done(TESTED, round);
    step_wait(LOOKED, round);
    MT_OK(MPI_Wait(&last, MPI_STATUS_IGNORE));
    free(r);
    free(in);
}

/* 1 if the request completes within this many looks. */
static int look(MPI_Request * r)
{
    int flag = 0;
    for (int i = 0; i < LOOKS && !flag; i++) {
        MT_OK(MPI_Test(r, &flag, MPI_STATUS_IGNORE));
        sched_yield();
    }
    return flag;
}

static void sender(int kind, int round)
{
    MPI_Request late;
    for (int i = 0; i < (int) mt.iters * 2; i++)
        MT_OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD));
    step_wait(RECEIVED, round);
    MT_OK(MPI_Issend(&kind, 1, MPI_INT, 0, LATE_TAG, MPI_COMM_WORLD, &late));
    MT_CHECK(!look(&late), "a synchronous send completes without the receiver's progress");
    step_done(SENT, round);
    step_wait(TESTED, round);
    MT_CHECK(!look(&late), "%s makes progress although it can answer", name[kind]);
    step_done(LOOKED, round);
    MT_OK(MPI_Wait(&late, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 50);
    steps_share(STEPS);
    for (int kind = 0; kind < KINDS; kind++) {
        if (mt.rank == 0)
            tester(kind, kind + 1);
        else if (mt.rank == 1)
            sender(kind, kind + 1);
    }
    return mt_finish();
}
