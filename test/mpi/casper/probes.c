/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Probes see messages that the ghost has: blocking, nonblocking and matched, with wildcards, small and
 * large, several for one receiver; their statuses are those of receives. A send of up to 64 KB is
 * complete without its receive, also when a probe has matched it. -n: rounds. */
#include "../mt.h"

enum { MOST = 100000 };

static int size_of(int i)
{
    static const int sizes[] = { 0, 3, 100, 20000, 99999 };
    return sizes[i % 5];
}

static void check(const char *data, const MPI_Status *status, int i)
{
    int count, flag;
    MT_OK(MPI_Get_count(status, MPI_BYTE, &count));
    MT_CHECK(count == size_of(i), "%d bytes, not %d", count, size_of(i));
    MT_OK(MPI_Test_cancelled(status, &flag));
    MT_CHECK(!flag, "message %d is cancelled", i);
    for (int k = 0; data && k < count; k++)
        MT_CHECK(data[k] == (char) (i + status->MPI_SOURCE + k), "byte %d differs", k);
}

static void send_all(int n)
{
    char *data = mt_alloc(MOST);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < size_of(i); k++)
            data[k] = (char) (i + mt.rank + k);
        MT_OK(MPI_Ssend(data, size_of(i), MPI_BYTE, 0, i, MPI_COMM_WORLD));
    }
    free(data);
}

static void receive_probed(int from, int i, int way)
{
    char *data = mt_alloc(MOST);
    MPI_Status status, again;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request req;
    int flag = 0;
    memset(&status, 0xff, sizeof(status));      /* as if it had been that of a cancelled receive */
    if (way == 0) {
        MT_OK(MPI_Probe(from, i, MPI_COMM_WORLD, &status));
    } else if (way == 1) {
        while (!flag)
            MT_OK(MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
    } else if (way == 2) {
        MT_OK(MPI_Mprobe(from, i, MPI_COMM_WORLD, &message, &status));
    } else {
        while (!flag)
            MT_OK(MPI_Improbe(from, i, MPI_COMM_WORLD, &flag, &message, &status));
    }
    check(NULL, &status, i);
    MT_CHECK(status.MPI_SOURCE == from && status.MPI_TAG == i, "source %d tag %d", status.MPI_SOURCE,
             status.MPI_TAG);
    if (way < 2) {
        MT_OK(MPI_Recv(data, MOST, MPI_BYTE, from, i, MPI_COMM_WORLD, &again));
    } else if (way == 2) {
        MT_OK(MPI_Mrecv(data, MOST, MPI_BYTE, &message, &again));
    } else {
        MT_OK(MPI_Imrecv(data, MOST, MPI_BYTE, &message, &req));
        MT_OK(MPI_Wait(&req, &again));
    }
    MT_CHECK(again.MPI_SOURCE == from && again.MPI_TAG == i, "received another message");
    check(data, &again, i);
    free(data);
}

static void no_message(void)
{
    int flag = 1;
    MPI_Message message;
    MPI_Comm comm;
    MT_OK(MPI_Iprobe(MPI_ANY_SOURCE, 4711, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    MT_CHECK(!flag, "found a message that nobody has sent");
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MT_OK(MPI_Improbe(mt.peer, 4711, comm, &flag, &message, MPI_STATUS_IGNORE));
    MT_CHECK(!flag, "found a message that nobody has sent");
    MT_OK(MPI_Comm_disconnect(&comm));  /* waits for what would use it */
}

/* Each process keeps a matched message of the next one until that has sent. */
static void matched_and_left(void)
{
    const int to = (mt.rank + mt.size - 1) % mt.size, from = (mt.rank + 1) % mt.size;
    char *data = mt_alloc(2 * MOST);
    MPI_Message message;
    MPI_Request req;
    MT_OK(MPI_Isend(data, 20000, MPI_BYTE, to, 1, MPI_COMM_WORLD, &req));
    MT_OK(MPI_Mprobe(from, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Mrecv(data + MOST, 20000, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    free(data);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 10);
    no_message();
    matched_and_left();
    for (int way = 0; way < 4; way++) {
        if (mt.rank > 0) {
            send_all((int) mt.iters);
        } else {
            for (int i = 0; i < mt.iters; i++)
                for (int from = 1; from < mt.size; from++)
                    receive_probed(from, i, way);
        }
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return mt_finish();
}
