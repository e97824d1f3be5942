/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Messages that come before the receive or the probe from any source that finds them; their senders
 * wait for an answer. Without matching in the network (MPIR_CVAR_CH4_OFI_ENABLE_TAGGED=0) those of the
 * network are in one list with those of shared memory. */
#include "mt.h"

#define LARGE 100000

enum { IRECV, MRECV, IMRECV, WAYS };

static char *data;

/* All that was sent before is here, too: messages of one sender overtake none. */
static void await_message(int tag)
{
    MPI_Status st;

    MT_OK(MPI_Probe(0, tag, MPI_COMM_WORLD, &st));
}

static MPI_Request receive(int way, int n, int tag)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0;

    if (way == IRECV)
        MT_OK(MPI_Irecv(data, n, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r));
    else if (way == MRECV)
        MT_OK(MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    else
        while (!flag)
            MT_OK(MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &message,
                              MPI_STATUS_IGNORE));
    if (way == MRECV)
        MT_OK(MPI_Mrecv(data, n, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    else if (way == IMRECV)
        MT_OK(MPI_Imrecv(data, n, MPI_BYTE, &message, &r));
    return r;
}

static void one(int way, int n, int is_sync, int tag)
{
    MPI_Request r;

    if (mt.rank == 0) {
        memset(data, tag, LARGE);
        if (is_sync)
            MT_OK(MPI_Issend(data, n, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r));
        else
            MT_OK(MPI_Isend(data, n, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r));
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else if (mt.rank == 1) {
        memset(data, 0, LARGE);
        await_message(tag);
        r = receive(way, n, tag);
        MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        for (int i = 0; i < n; i++)
            MT_CHECK(data[i] == tag, "way %d, %d bytes: byte %d is %d", way, n, i, data[i]);
    }
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 3);
    MT_CHECK(mt.size >= 2, "run with 2 processes");
    data = mt_alloc(LARGE);
    for (int i = 0; i < (int) mt.iters; i++)
        for (int way = 0; way < WAYS; way++)
            for (int is_sync = 0; is_sync < 2; is_sync++) {
                one(way, 8, is_sync, 1 + way);
                one(way, LARGE, is_sync, 1 + way);
            }
    free(data);
    return mt_finish();
}
