/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The status of a probe has all that a receive would have set, also that the message was not cancelled,
 * and nothing else: MPI_ERROR is as it was. */
#include "mt.h"

enum { MOST = 30000, CALLS = 4 };

static int out[MOST], in[MOST];

static void send(MPI_Comm comm, int to, int count, MPI_Request * req)
{
    MT_OK(MPI_Isend(out, count, MPI_INT, to, 5, comm, req));
}

static void receive(MPI_Message * message, int count, MPI_Request * req)
{
    MT_OK(MPI_Mrecv(in, count, MPI_INT, message, MPI_STATUS_IGNORE));
    MT_OK(MPI_Wait(req, MPI_STATUS_IGNORE));
}

static void check(const MPI_Status * status, int from, int wanted, int call)
{
    int is_cancelled, count;
    MT_OK(MPI_Test_cancelled(status, &is_cancelled));
    MT_OK(MPI_Get_count(status, MPI_INT, &count));
    MT_CHECK(!is_cancelled && status->MPI_ERROR == -1, "call %d, %d ints: cancelled %d, error %d", call,
             wanted, is_cancelled, status->MPI_ERROR);
    MT_CHECK(status->MPI_SOURCE == from && status->MPI_TAG == 5 && count == wanted,
             "call %d: from %d, tag %d, count %d", call, status->MPI_SOURCE, status->MPI_TAG, count);
}

/* By all four calls. asked: `from`, or any source. */
static void probe(MPI_Comm comm, int to, int from, int asked, int count)
{
    MPI_Status status[CALLS];
    MPI_Message message;
    MPI_Request req;
    int flag = 0;
    memset(status, 0xff, sizeof(status));
    send(comm, to, count, &req);
    MT_OK(MPI_Probe(asked, 5, comm, &status[0]));
    while (!flag)
        MT_OK(MPI_Iprobe(asked, 5, comm, &flag, &status[1]));
    MT_OK(MPI_Mprobe(asked, 5, comm, &message, &status[2]));
    receive(&message, count, &req);
    send(comm, to, count, &req);
    for (flag = 0; !flag;)
        MT_OK(MPI_Improbe(asked, 5, comm, &flag, &message, &status[3]));
    receive(&message, count, &req);
    for (int i = 0; i < CALLS; i++)
        check(&status[i], from, count, i);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 1000, MOST };
    mt_init(argc, argv, 1, 1);
    for (int i = 0; i < 4; i++) {
        probe(MPI_COMM_WORLD, mt.peer, mt.peer, mt.peer, counts[i]);
        probe(MPI_COMM_WORLD, mt.peer, mt.peer, MPI_ANY_SOURCE, counts[i]);
        probe(MPI_COMM_SELF, 0, 0, 0, counts[i]);
    }
    return mt_finish();
}
