/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* More operations than the queues to and from the ghost have room for: nothing is lost, nothing
 * overtakes, and a process that waits in a barrier does not keep its posts back. However many messages
 * came before, a small send is complete at once. -n: operations. */
#include "../mt.h"

static void burst(int n, int bytes)
{
    MPI_Request *req = mt_alloc((size_t) n * sizeof(*req));
    char *data = mt_alloc((size_t) n * (size_t) bytes);
    int *first = (int *) data;
    if (mt.rank % 2 == 0) {
        for (int i = 0; i < n; i++) {
            memset(data + (size_t) i * bytes, i, bytes);
            first[(size_t) i * bytes / sizeof(int)] = i;
            MT_OK(MPI_Isend(data + (size_t) i * bytes, bytes, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD,
                            &req[i]));
        }
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    } else {
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < n; i++)
            MT_OK(MPI_Irecv(data + (size_t) i * bytes, bytes, MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD,
                            &req[i]));
    }
    MT_OK(MPI_Waitall(n, req, MPI_STATUSES_IGNORE));
    for (int i = 0; i < n; i++)
        MT_CHECK(first[(size_t) i * bytes / sizeof(int)] == i && (bytes < 8 ||
                 data[(size_t) (i + 1) * bytes - 1] == (char) i), "message %d of %d bytes", i, bytes);
    free(data);
    free(req);
}

/* The receiver is in a barrier while its posts are still in its list. */
static void receives_first(int n)
{
    MPI_Request *req = mt_alloc((size_t) n * sizeof(*req));
    int *data = mt_alloc((size_t) n * sizeof(int));
    if (mt.rank % 2 == 0) {
        for (int i = 0; i < n; i++)
            MT_OK(MPI_Irecv(&data[i], 1, MPI_INT, mt.peer, i, MPI_COMM_WORLD, &req[i]));
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
        MT_OK(MPI_Waitall(n, req, MPI_STATUSES_IGNORE));
        for (int i = 0; i < n; i++)
            MT_CHECK(data[i] == i * 3, "message %d", i);
    } else {
        for (int i = n - 1; i >= 0; i--) {
            int value = i * 3;
            MT_OK(MPI_Ssend(&value, 1, MPI_INT, mt.peer, i, MPI_COMM_WORLD));
        }
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(data);
    free(req);
}

/* The sender is in a barrier, and waits for nothing of its ghost, while its posts are in its list. */
static void sends_first(int n)
{
    for (int i = 0; i < n; i++) {
        int value = i;
        if (mt.rank % 2 == 0)
            MT_OK(MPI_Send(&value, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD));
        else
            MT_OK(MPI_Recv(&value, 1, MPI_INT, mt.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_CHECK(value == i, "message %d is %d", i, value);
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* More than the places for the data of small messages, each of which goes to the next message. */
static void places(int (*send) (const void *, int, MPI_Datatype, int, int, MPI_Comm))
{
    char data[200] = { 0 };
    MPI_Request req;
    int flag;
    for (int i = 0; i < 100; i++) {
        if (mt.rank % 2 == 0) {
            MT_OK(send(data, sizeof(data), MPI_BYTE, mt.peer, i, MPI_COMM_WORLD));
            MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, mt.peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            MT_OK(MPI_Recv(data, sizeof(data), MPI_BYTE, mt.peer, i, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE));
            MT_OK(MPI_Send(NULL, 0, MPI_BYTE, mt.peer, i, MPI_COMM_WORLD));
        }
    }
    if (mt.rank % 2 == 0) {
        MT_OK(MPI_Isend(data, sizeof(data), MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD, &req));
        MT_OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
        MT_CHECK(flag, "a small send is not complete");
    } else {
        MT_OK(MPI_Recv(data, sizeof(data), MPI_BYTE, mt.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1500);
    MT_CHECK(mt.size % 2 == 0, "an even number of users is needed");
    burst((int) mt.iters, 4);
    burst((int) mt.iters, 200);
    burst((int) mt.iters / 10, 80000);
    receives_first((int) mt.iters);
    sends_first((int) mt.iters);
    places(MPI_Send);
    places(MPI_Ssend);
    return mt_finish();
}
