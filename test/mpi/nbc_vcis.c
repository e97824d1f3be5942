/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* With several VCIs, test calls of a nonblocking collective, and of MPI_Isendrecv, poll the VCI of its
 * communicator: once the peer has sent its part, a few of them are enough. Process 0 does not call MPI
 * until the peer says, in memory that both share, that it has. */
#include "mt.h"
#include <sched.h>

enum { COMMS = 4, ENOUGH = 20, LOOKS = 300 };

static MPI_Comm comm[COMMS];
static atomic_int *turn;        /* the peer has sent its part of so many operations */
static int done;

static void start(int kind, MPI_Comm c, MPI_Request * request)
{
    static int out, in;

    out = mt.rank;
    switch (kind) {
        case 0:
            MT_OK(MPI_Ibarrier(c, request));
            break;
        case 1:
            MT_OK(MPI_Isendrecv(&out, 1, MPI_INT, mt.peer, 0, &in, 1, MPI_INT, mt.peer, 0, c, request));
            break;
        default:
            MT_OK(MPI_Barrier_init(c, MPI_INFO_NULL, request));
            MT_OK(MPI_Start(request));
    }
}

static void end(int kind, MPI_Request * request)
{
    if (kind == 2)
        MT_OK(MPI_Request_free(request));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void operation(int kind, MPI_Comm c)
{
    MPI_Request request;
    int flag = 0, calls = 0;

    start(kind, c, &request);
    done++;
    if (mt.rank == 1) {
        for (int i = 0; i < LOOKS && !flag; i++)
            MT_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        atomic_store(turn, done);
        MT_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        while (atomic_load(turn) < done)
            sched_yield();
        for (; !flag; calls++)
            MT_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        MT_CHECK(calls <= ENOUGH, "kind %d: %d tests", kind, calls);
    }
    end(kind, &request);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint size;
    int unit;
    void *memory;

    mt_init(argc, argv, 1, 10);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Win_allocate_shared(mt.rank ? 0 : sizeof(*turn), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                                  &memory, &win));
    MT_OK(MPI_Win_shared_query(win, 0, &size, &unit, &turn));
    if (mt.rank == 0)
        atomic_init(turn, 0);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int k = 0; k < COMMS; k++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[k]));
    for (long i = 0; i < mt.iters; i++) {
        for (int k = 0; k < COMMS; k++) {
            for (int kind = 0; kind < 3; kind++)
                operation(kind, comm[k]);
        }
    }
    for (int k = 0; k < COMMS; k++)
        MT_OK(MPI_Comm_free(&comm[k]));
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}
