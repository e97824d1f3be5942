/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Two processes each have a receive from any source that has begun to take a long message of the other
 * one, when a message to themselves comes for it through shared memory, or they cancel it: the library
 * has to wait for the end of the long one, for which the other process has to make progress. Each
 * process has its receive on a communicator of its own, hence mostly in another VCI. */
#include "mt.h"
#include "steps.h"

#define COMMS 4
#define WORDS 100000            /* too many for libfabric to send at once */
#define TESTS 50                /* fewer than the library makes before it polls other VCIs */

enum { MATCHED, STEPS = MATCHED + 2 };

static MPI_Comm comm[COMMS];
static int round_no;

/* Connect all VCIs of the two. */
static void meet(int peer)
{
    for (int i = 0; i < COMMS; i++) {
        int n = i, got = -1;
        MT_OK(MPI_Sendrecv(&n, 1, MPI_INT, peer, 0, &got, 1, MPI_INT, peer, 0, comm[i],
                           MPI_STATUS_IGNORE));
        MT_CHECK(got == i, "%d in place of %d", got, i);
    }
}

static void check(const int *buf, const MPI_Status * st, int peer)
{
    const int words = st->MPI_SOURCE == peer ? WORDS : 1;
    int count;

    MT_CHECK(st->MPI_SOURCE == peer || st->MPI_SOURCE == mt.rank, "source %d", st->MPI_SOURCE);
    MT_OK(MPI_Get_count(st, MPI_INT, &count));
    MT_CHECK(count == words, "%d words from %d", count, st->MPI_SOURCE);
    for (int i = 0; i < words; i++)
        MT_CHECK(buf[i] == round_no + st->MPI_SOURCE + i, "round %d: word %d is %d", round_no, i,
                 buf[i]);
}

/* One process after the other, so that neither gets any further: the receive has its message. */
static void match(MPI_Request * recv, int *done, MPI_Status * st)
{
    if (mt.rank == 1)
        step_wait(MATCHED, round_no);
    for (int i = 0; i < TESTS && !*done; i++)
        MT_OK(MPI_Test(recv, done, st));
    step_done(MATCHED + mt.rank, round_no);
    step_wait(MATCHED + 1, round_no);
}

/* Returns whether the receive was cancelled. */
static int cancel(MPI_Request * recv, MPI_Status * st)
{
    int cancelled;

    MT_OK(MPI_Cancel(recv));
    MT_OK(MPI_Wait(recv, st));
    MT_OK(MPI_Test_cancelled(st, &cancelled));
    return cancelled;
}

static void cross(MPI_Comm mine, MPI_Comm theirs, int peer, int cancels)
{
    static int in[WORDS], out[WORDS];
    MPI_Request recv, send[2];
    MPI_Status st;
    int done = 0, cancelled = 0, first = round_no + mt.rank;

    for (int i = 0; i < WORDS; i++)
        out[i] = first + i;
    MT_OK(MPI_Irecv(in, WORDS, MPI_INT, MPI_ANY_SOURCE, 1, mine, &recv));
    MT_OK(MPI_Isend(out, WORDS, MPI_INT, peer, 1, theirs, &send[0]));
    match(&recv, &done, &st);
    if (cancels && !done)
        cancelled = cancel(&recv, &st);
    MT_OK(MPI_Isend(&first, 1, MPI_INT, mt.rank, 1, mine, &send[1]));
    if (!cancels && !done)
        MT_OK(MPI_Wait(&recv, &st));
    if (!cancelled)
        check(in, &st, peer);
    for (int n = !cancelled; n < 2; n++) {
        MT_OK(MPI_Recv(in, WORDS, MPI_INT, MPI_ANY_SOURCE, 1, mine, &st));
        check(in, &st, peer);
    }
    MT_OK(MPI_Wait(&send[0], MPI_STATUS_IGNORE));
    MT_OK(MPI_Wait(&send[1], MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 4);
    steps_share(STEPS);
    for (int i = 0; i < COMMS; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    meet(1 - mt.rank);
    for (int n = 0; n < mt.iters; n++) {
        for (int pair = 0; pair < COMMS * COMMS; pair++) {
            MPI_Comm of[] = { comm[pair / COMMS], comm[pair % COMMS] };
            ++round_no;
            MT_OK(MPI_Barrier(MPI_COMM_WORLD));
            if (of[0] != of[1])
                cross(of[mt.rank], of[1 - mt.rank], 1 - mt.rank, n % 2);
        }
    }
    for (int i = 0; i < COMMS; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
    return mt_finish();
}
