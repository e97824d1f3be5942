/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Persistent requests that are cancelled: MPI_Request_get_status tells it as MPI_Wait and MPI_Test do
 * (MPI-4.0 sections 3.7.6 and 3.8.4), and when the request starts again it is not cancelled any more.
 * Sends and receives on MPI_COMM_SELF; with two processes also receives from the other one, and a
 * buffered send, for which MPI_Wait does not wait until it is received. */
#include "mt.h"

#include <sched.h>

static void must_be(int flag, int want, const char *what, const char *call)
{
    MT_CHECK(flag == want, "%s: %s says that it was%s cancelled", what, call, flag ? "" : " not");
}

static int is_cancelled(MPI_Status * st)
{
    int flag;
    MT_OK(MPI_Test_cancelled(st, &flag));
    return flag;
}

/* The request completes; want: whether by MPI_Cancel. */
static void complete(MPI_Request * r, int want, const char *what, long round)
{
    MPI_Status st;
    int flag = 0;

    while (1) {
        MT_OK(MPI_Request_get_status(*r, &flag, &st));
        if (flag)
            break;
        sched_yield();          /* a server thread may want this processor */
    }
    must_be(is_cancelled(&st), want, what, "MPI_Request_get_status");
    if (round % 2) {
        MT_OK(MPI_Wait(r, &st));
    } else {
        MT_OK(MPI_Test(r, &flag, &st));
        MT_CHECK(flag, "%s: MPI_Test denies what MPI_Request_get_status says", what);
    }
    must_be(is_cancelled(&st), want, what, "MPI_Wait or MPI_Test");
}

static void cancel(MPI_Request * r, const char *what, long round)
{
    MT_OK(MPI_Start(r));
    MT_OK(MPI_Cancel(r));
    complete(r, 1, what, round);
}

static void send_to_self(int synchronous)
{
    int out = 0, in = -1;
    MPI_Request s, r;

    if (synchronous)
        MT_OK(MPI_Ssend_init(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &s));
    else
        MT_OK(MPI_Send_init(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &s));
    MT_OK(MPI_Recv_init(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r));
    for (long i = 0; i < mt.iters; i++) {
        out = -2;
        cancel(&s, "a send", i);
        cancel(&r, "a receive", i);
        out = (int) i;
        MT_OK(MPI_Start(&s));
        MT_OK(MPI_Start(&r));
        complete(&s, 0, "a send that starts again", i);
        complete(&r, 0, "a receive that starts again", i);
        MT_CHECK(in == i, "received %d in round %ld", in, i);
    }
    MT_OK(MPI_Request_free(&s));
    MT_OK(MPI_Request_free(&r));
}

/* Fewer rounds, as each has two barriers. */
static void receive_from_peer(void)
{
    int in = -1, peer = mt.rank ^ 1;
    MPI_Request r;

    MT_OK(MPI_Recv_init(&in, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &r));
    for (long i = 0; i < mt.iters / 5; i++) {
        int out = (int) i;
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        cancel(&r, "a receive from the peer", i);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        MT_OK(MPI_Start(&r));
        MT_OK(MPI_Send(&out, 1, MPI_INT, peer, 1, MPI_COMM_WORLD));
        complete(&r, 0, "a receive from the peer that starts again", i);
        MT_CHECK(in == i, "received %d from the peer in round %ld", in, i);
    }
    MT_OK(MPI_Request_free(&r));
}

/* Process 1 receives after it, unless the send is cancelled. */
static void buffered_send(void)
{
    enum { N = 512 * 1024 };
    char *data = mt_alloc(N), *buffer = mt_alloc(2 * N);
    int flag = 0, size;
    MPI_Request r;
    MPI_Status st;

    if (mt.rank == 0) {
        MT_OK(MPI_Buffer_attach(buffer, 2 * N));
        MT_OK(MPI_Bsend_init(data, N, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &r));
        MT_OK(MPI_Start(&r));
        MT_OK(MPI_Cancel(&r));
        MT_OK(MPI_Wait(&r, &st));
        flag = is_cancelled(&st);
        MT_OK(MPI_Request_free(&r));
    }
    MT_OK(MPI_Bcast(&flag, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (mt.rank == 1 && !flag)
        MT_OK(MPI_Recv(data, N, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (mt.rank == 0)
        MT_OK(MPI_Buffer_detach(&buffer, &size));
    free(data);
    free(buffer);
}

int main(int argc, char **argv)
{
    int provided;

    mt_options(argc, argv, 1, 1000);
    MT_OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    MT_OK(MPI_Comm_rank(MPI_COMM_WORLD, &mt.rank));
    MT_OK(MPI_Comm_size(MPI_COMM_WORLD, &mt.size));
    MT_CHECK(mt.size <= 2, "run with 1 or 2 processes");
    send_to_self(0);
    send_to_self(1);
    if (mt.size == 2) {
        receive_from_peer();
        buffered_send();
    }
    return mt_finish();
}
