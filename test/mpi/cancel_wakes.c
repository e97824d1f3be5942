/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The cancel of a receive that has begun to take a long message waits for the rest of it, and so for
 * the sender's next call of MPI. Meanwhile it polls other VCIs, and may complete what other threads of
 * the process wait for. They are woken at once: the sender calls MPI again only when they have gone
 * on. */
#include "mt.h"
#include "steps.h"

#include <unistd.h>

#define WORDS 100000            /* too many for libfabric to send at once */
#define TESTS 50                /* the receive has begun */
#define WAITERS 2               /* one polls, the other one sleeps */

enum { SENT, CANCELS, GOT, STEPS = GOT + WAITERS };
enum { LONG_COMM, SHORT_COMM, COMMS };

static MPI_Comm comm[COMMS];

/* Connect the VCIs of the two. */
static void meet(void)
{
    for (int i = 0; i < COMMS; i++) {
        int n = i, got = -1;
        MT_OK(MPI_Sendrecv(&n, 1, MPI_INT, mt.peer, 0, &got, 1, MPI_INT, mt.peer, 0, comm[i],
                           MPI_STATUS_IGNORE));
        MT_CHECK(got == i, "%d in place of %d", got, i);
    }
}

static void cancel(MPI_Request * recv, int *buf)
{
    MPI_Status st;
    int cancelled;

    MT_OK(MPI_Cancel(recv));
    MT_OK(MPI_Wait(recv, &st));
    MT_OK(MPI_Test_cancelled(&st, &cancelled));
    if (cancelled)
        MT_OK(MPI_Recv(buf, WORDS, MPI_INT, mt.peer, 0, comm[LONG_COMM], MPI_STATUS_IGNORE));
}

static void cancel_all(void)
{
    static int buf[WORDS];

    for (int n = 1; n <= mt.iters; n++) {
        MPI_Request recv;
        int done = 0;
        MT_OK(MPI_Irecv(buf, WORDS, MPI_INT, mt.peer, 0, comm[LONG_COMM], &recv));
        step_wait(SENT, n);
        for (int i = 0; i < TESTS && !done; i++)
            MT_OK(MPI_Test(&recv, &done, MPI_STATUS_IGNORE));
        step_done(CANCELS, n);
        if (!done)
            cancel(&recv, buf);
        MT_CHECK(buf[0] == n && buf[WORDS - 1] == n, "%d and %d in place of %d", buf[0],
                 buf[WORDS - 1], n);
    }
}

static void *receive(void *arg)
{
    const int w = ((mt_thread_t *) arg)->id - 1;

    if (w < 0) {
        cancel_all();
        return NULL;
    }
    for (int n = 1; n <= mt.iters; n++) {
        int got = -1;
        MT_OK(MPI_Recv(&got, 1, MPI_INT, mt.peer, 1 + w, comm[SHORT_COMM], MPI_STATUS_IGNORE));
        MT_CHECK(got == n, "%d in place of %d", got, n);
        step_done(GOT + w, n);
    }
    return NULL;
}

static void send_all(void)
{
    static int buf[WORDS];

    for (int n = 1; n <= mt.iters; n++) {
        MPI_Request send;
        for (int i = 0; i < WORDS; i++)
            buf[i] = n;
        MT_OK(MPI_Isend(buf, WORDS, MPI_INT, mt.peer, 0, comm[LONG_COMM], &send));
        step_done(SENT, n);
        step_wait(CANCELS, n);
        usleep(5000);           /* the cancel has begun, and a waiter sleeps */
        for (int i = 0; i < WAITERS; i++) {
            int w = (n + i) % WAITERS;
            MT_OK(MPI_Send(&n, 1, MPI_INT, mt.peer, 1 + w, comm[SHORT_COMM]));
            step_wait(GOT + w, n);
        }
        MT_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1 + WAITERS, 100);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    steps_share(STEPS);
    for (int i = 0; i < COMMS; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    meet();
    if (mt.rank == 0)
        mt_run(1 + WAITERS, receive);
    else
        send_all();
    for (int i = 0; i < COMMS; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
    return mt_finish();
}
