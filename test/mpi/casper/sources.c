/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Many senders with equal tags to one receiver: a receive from one source takes that source's message
 * only, wildcards take any, and messages of one sender do not overtake. Small and large messages in
 * turn, so that both ways of the data are mixed. -n: rounds. */
#include "../mt.h"

enum { MOST = 300000 };

static int size_of(int source, int i)
{
    static const int sizes[] = { 0, 1, 17, 1000, 70000, 64, 65, MOST / 4, 3 };
    return sizes[(source + i) % (int) (sizeof(sizes) / sizeof(sizes[0]))];
}

static void fill(int *data, int source, int i)
{
    for (int k = 0; k < size_of(source, i); k++)
        data[k] = source * 1000000 + i * 1000 + k;
}

static void check(const int *data, const MPI_Status *status, int source, int tag, int i)
{
    int count;
    MT_OK(MPI_Get_count(status, MPI_INT, &count));
    MT_CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag,
             "message of %d tag %d, expected %d tag %d", status->MPI_SOURCE, status->MPI_TAG, source,
             tag);
    MT_CHECK(count == size_of(source, i), "%d ints of %d, expected %d (message %d)", count, source,
             size_of(source, i), i);
    for (int k = 0; k < count; k++)
        MT_CHECK(data[k] == source * 1000000 + i * 1000 + k, "message %d of %d differs at %d", i,
                 source, k);
}

static void send_all(int n)
{
    int *data = mt_alloc(MOST);
    for (int i = 0; i < n; i++) {
        fill(data, mt.rank, i);
        MT_OK(MPI_Send(data, size_of(mt.rank, i), MPI_INT, 0, 9, MPI_COMM_WORLD));
    }
    free(data);
}

/* From each source in turn, the last one first. */
static void receive_by_source(int n)
{
    int *data = mt_alloc(MOST);
    MPI_Status status;
    for (int i = 0; i < n; i++) {
        for (int source = mt.size - 1; source > 0; source--) {
            MT_OK(MPI_Recv(data, MOST / 4, MPI_INT, source, 9, MPI_COMM_WORLD, &status));
            check(data, &status, source, 9, i);
        }
    }
    free(data);
}

/* From any; each sender's messages come in order. */
static void receive_any(int n, int tag)
{
    int *data = mt_alloc(MOST), *next = mt_alloc((size_t) mt.size * sizeof(int));
    MPI_Status status;
    for (int i = 0; i < n * (mt.size - 1); i++) {
        MT_OK(MPI_Recv(data, MOST / 4, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status));
        check(data, &status, status.MPI_SOURCE, 9, next[status.MPI_SOURCE]++);
    }
    for (int source = 1; source < mt.size; source++)
        MT_CHECK(next[source] == n, "%d messages of %d", next[source], source);
    free(next);
    free(data);
}

/* All receives are posted before the messages come; sources alternate. */
static void receive_posted(int n)
{
    int total = n * (mt.size - 1);
    MPI_Request *req = mt_alloc((size_t) total * sizeof(*req));
    MPI_Status *status = mt_alloc((size_t) total * sizeof(*status));
    int **data = mt_alloc((size_t) total * sizeof(*data));
    for (int i = 0; i < total; i++) {
        data[i] = mt_alloc(MOST);
        MT_OK(MPI_Irecv(data[i], MOST / 4, MPI_INT, 1 + i % (mt.size - 1), 9, MPI_COMM_WORLD, &req[i]));
    }
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_Waitall(total, req, status));
    for (int i = 0; i < total; i++) {
        check(data[i], &status[i], 1 + i % (mt.size - 1), 9, i / (mt.size - 1));
        free(data[i]);
    }
    free(data);
    free(status);
    free(req);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 20);
    for (int way = 0; way < 4; way++) {
        int n = (int) mt.iters;
        if (mt.rank > 0) {
            if (way == 3)
                MT_OK(MPI_Barrier(MPI_COMM_WORLD));
            send_all(n);
        } else if (way == 0)
            receive_by_source(n);
        else if (way < 3)
            receive_any(n, way == 1 ? 9 : MPI_ANY_TAG);
        else
            receive_posted(n);
        MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return mt_finish();
}
