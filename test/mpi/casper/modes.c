/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* All ways to send and to receive, on MPI_COMM_WORLD and on a duplicate: modes, persistent requests,
 * MPI_Sendrecv, gaps in the data, no data, MPI_PROC_NULL, messages to oneself. -s: bytes. */
#include "../mt.h"

enum { KINDS = 8, SELF_TAG = 40 };

static MPI_Comm comm;
static int n;

static void fill(int *data, int seed)
{
    for (int i = 0; i < n; i++)
        data[i] = seed * 77 + i;
}

static void check(const int *data, int seed, const char *what)
{
    for (int i = 0; i < n; i++)
        MT_CHECK(data[i] == seed * 77 + i, "%s: %d at %d, not %d", what, data[i], i, seed * 77 + i);
}

static void send_kind(int kind, int *data, int to)
{
    MPI_Request req = MPI_REQUEST_NULL;
    switch (kind) {
        case 0: MT_OK(MPI_Send(data, n, MPI_INT, to, kind, comm)); break;
        case 1: MT_OK(MPI_Ssend(data, n, MPI_INT, to, kind, comm)); break;
        case 2: MT_OK(MPI_Bsend(data, n, MPI_INT, to, kind, comm)); break;
        case 3: MT_OK(MPI_Isend(data, n, MPI_INT, to, kind, comm, &req)); break;
        case 4: MT_OK(MPI_Issend(data, n, MPI_INT, to, kind, comm, &req)); break;
        case 5: MT_OK(MPI_Ibsend(data, n, MPI_INT, to, kind, comm, &req)); break;
        case 6: MT_OK(MPI_Send_init(data, n, MPI_INT, to, kind, comm, &req)); break;
        default: MT_OK(MPI_Ssend_init(data, n, MPI_INT, to, kind, comm, &req)); break;
    }
    if (kind >= 6)
        MT_OK(MPI_Start(&req));
    MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    if (kind >= 6)
        MT_OK(MPI_Request_free(&req));
}

static void receive_kind(int kind, int *data, int from)
{
    MPI_Status status;
    MPI_Request req;
    int count;
    if (kind % 3 == 0) {
        MT_OK(MPI_Recv(data, n, MPI_INT, from, kind, comm, &status));
    } else if (kind % 3 == 1) {
        MT_OK(MPI_Irecv(data, n, MPI_INT, MPI_ANY_SOURCE, kind, comm, &req));
        MT_OK(MPI_Wait(&req, &status));
    } else {
        MT_OK(MPI_Recv_init(data, n, MPI_INT, from, MPI_ANY_TAG, comm, &req));
        MT_OK(MPI_Start(&req));
        MT_OK(MPI_Wait(&req, &status));
        MT_OK(MPI_Request_free(&req));
    }
    MT_OK(MPI_Get_count(&status, MPI_INT, &count));
    MT_CHECK(status.MPI_SOURCE == from && status.MPI_TAG == kind && count == n,
             "kind %d: source %d, tag %d, count %d", kind, status.MPI_SOURCE, status.MPI_TAG, count);
}

/* Even processes send to odd ones, then the reverse. */
static void all_kinds(void)
{
    int *data = mt_alloc((size_t) n * sizeof(int) + 4);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int turn = 0; turn < 2 && mt.peer != mt.rank; turn++) {
            if (mt.rank % 2 == turn) {
                fill(data, kind + mt.rank);
                send_kind(kind, data, mt.peer);
            } else {
                memset(data, 0, (size_t) n * sizeof(int));
                receive_kind(kind, data, mt.peer);
                check(data, kind + mt.peer, "message");
            }
        }
        MT_OK(MPI_Barrier(comm));
    }
    free(data);
}

static void ready(void)
{
    int *data = mt_alloc((size_t) n * sizeof(int) + 4);
    MPI_Request req;
    if (mt.peer != mt.rank && mt.rank % 2 == 0) {
        MT_OK(MPI_Irecv(data, n, MPI_INT, mt.peer, 1, comm, &req));
        MT_OK(MPI_Barrier(comm));
        MT_OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        check(data, 5, "ready");
    } else {
        MT_OK(MPI_Barrier(comm));
        fill(data, 5);
        if (mt.peer != mt.rank)
            MT_OK(MPI_Rsend(data, n, MPI_INT, mt.peer, 1, comm));
    }
    free(data);
}

static void exchange(void)
{
    int *out = mt_alloc((size_t) n * sizeof(int) + 4), *in = mt_alloc((size_t) n * sizeof(int) + 4);
    int next = (mt.rank + 1) % mt.size, last = (mt.rank + mt.size - 1) % mt.size;
    MPI_Status status;
    fill(out, mt.rank);
    MT_OK(MPI_Sendrecv(out, n, MPI_INT, next, 2, in, n, MPI_INT, last, 2, comm, &status));
    check(in, last, "sendrecv");
    MT_OK(MPI_Sendrecv_replace(out, n, MPI_INT, next, 2, MPI_ANY_SOURCE, 2, comm, &status));
    check(out, last, "sendrecv_replace");
    MT_OK(MPI_Sendrecv(out, n, MPI_INT, MPI_PROC_NULL, 2, in, n, MPI_INT, MPI_PROC_NULL, 2, comm,
                       &status));
    MT_CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG, "PROC_NULL");
    free(in);
    free(out);
}

/* Every second int, and a struct at absolute addresses. */
static void gaps(void)
{
    int *out = mt_alloc((size_t) n * 8 + 8), *in = mt_alloc((size_t) n * 8 + 8), count;
    MPI_Datatype every_second;
    MPI_Request req;
    MPI_Status status;
    MT_OK(MPI_Type_vector(n, 1, 2, MPI_INT, &every_second));
    MT_OK(MPI_Type_commit(&every_second));
    for (int i = 0; i < 2 * n; i++) {
        out[i] = i + mt.rank;
        in[i] = -1;
    }
    MT_OK(MPI_Irecv(in, 1, every_second, mt.peer, 3, comm, &req));
    MT_OK(MPI_Send(out, 1, every_second, mt.peer, 3, comm));
    if (n % 2)
        MT_OK(MPI_Type_free(&every_second));
    MT_OK(MPI_Wait(&req, &status));
    if (n % 2 == 0)
        mt_type_free(&every_second);
    MT_OK(MPI_Get_elements(&status, MPI_INT, &count));
    MT_CHECK(count == n, "%d elements, not %d", count, n);
    for (int i = 0; i < 2 * n; i++)
        MT_CHECK(in[i] == (i % 2 ? -1 : i + mt.peer), "gaps: %d at %d", in[i], i);
    free(in);
    free(out);
}

static void absolute(void)
{
    int a = mt.rank, b = -mt.rank, lengths[2] = { 1, 1 };
    int got[3] = { -9, -9, -9 };        /* the first and the last: not adjacent */
    MPI_Aint out[2], in[2];
    MPI_Datatype types[2] = { MPI_INT, MPI_INT }, send_type, recv_type;
    MPI_Get_address(&a, &out[0]);
    MPI_Get_address(&b, &out[1]);
    MPI_Get_address(&got[0], &in[0]);
    MPI_Get_address(&got[2], &in[1]);
    MT_OK(MPI_Type_create_struct(2, lengths, out, types, &send_type));
    MT_OK(MPI_Type_create_struct(2, lengths, in, types, &recv_type));
    MT_OK(MPI_Type_commit(&send_type));
    MT_OK(MPI_Type_commit(&recv_type));
    MT_OK(MPI_Sendrecv(MPI_BOTTOM, 1, send_type, mt.peer, 4, MPI_BOTTOM, 1, recv_type, mt.peer, 4, comm,
                       MPI_STATUS_IGNORE));
    MT_CHECK(got[0] == mt.peer && got[1] == -9 && got[2] == -mt.peer, "MPI_BOTTOM: %d %d %d", got[0],
             got[1], got[2]);
    MT_OK(MPI_Type_free(&send_type));
    MT_OK(MPI_Type_free(&recv_type));
}

static void to_oneself(void)
{
    int *out = mt_alloc((size_t) n * sizeof(int) + 4), *in = mt_alloc((size_t) n * sizeof(int) + 4);
    MPI_Request req[2];
    fill(out, mt.rank + 3);
    MT_OK(MPI_Isend(out, n, MPI_INT, mt.rank, SELF_TAG, comm, &req[0]));
    MT_OK(MPI_Irecv(in, n, MPI_INT, MPI_ANY_SOURCE, SELF_TAG, comm, &req[1]));
    MT_OK(MPI_Waitall(2, req, MPI_STATUSES_IGNORE));
    check(in, mt.rank + 3, "self");
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 1);
    int size = 1 << 20, *buffer = mt_alloc(6u << 20);
    MT_OK(MPI_Buffer_attach(buffer, 6 << 20));
    MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (n = 0; n * 4 <= size; n = n < 4 ? n + 1 : n * 4) {
        all_kinds();
        ready();
        exchange();
        if (n > 0)
            gaps();
        absolute();
        to_oneself();
    }
    MT_OK(MPI_Buffer_detach(&buffer, &size));
    MT_OK(MPI_Comm_free(&comm));
    free(buffer);
    return mt_finish();
}
