/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Objects freed right after the call that uses them: the derived datatype and the duplicated
 * communicator of a pending MPI_Isend or MPI_Irecv, the operation of a pending MPI_Iallreduce,
 * and a send request itself; the data must arrive all the same. */
#include "mt.h"

#define N 64
#define DUP_EVERY 50

static MPI_Comm base[MT_MAX_THREADS];

static void typed_exchange(int id, long i, MPI_Comm comm)
{
    int out[2 * N], in[2 * N];
    MPI_Request r[2];
    MPI_Datatype send_type, recv_type;
    for (int k = 0; k < 2 * N; k++) {
        out[k] = (int) (i * 1000 + k);
        in[k] = -1;
    }
    MPI_Type_vector(N, 1, 2, MPI_INT, &recv_type);
    MPI_Type_commit(&recv_type);
    MPI_Irecv(in, 1, recv_type, mt.peer, id, comm, &r[0]);
    MPI_Type_free(&recv_type);
    MPI_Type_vector(N, 1, 2, MPI_INT, &send_type);
    MPI_Type_commit(&send_type);
    if (i % 2)
        MPI_Isend(out, 1, send_type, mt.peer, id, comm, &r[1]);
    else
        MPI_Issend(out, 1, send_type, mt.peer, id, comm, &r[1]);
    MPI_Type_free(&send_type);
    if (comm != base[id])
        MPI_Comm_free(&comm);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 2 * N; k++)
        MT_CHECK(in[k] == (k % 2 ? -1 : out[k]), "iteration %ld: element %d is %d", i, k, in[k]);
}

static void sum_ints(void *in, void *inout, int *len, MPI_Datatype * type)
{
    (void) type;
    for (int i = 0; i < *len; i++)
        ((int *) inout)[i] += ((int *) in)[i];
}

static void reduce_freed_op(int id, long i)
{
    int in = mt.rank + (int) i, out = -1;
    MPI_Op op;
    MPI_Request r;
    MPI_Op_create(sum_ints, 1, &op);
    MPI_Iallreduce(&in, &out, 1, MPI_INT, op, base[id], &r);
    MPI_Op_free(&op);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MT_CHECK(out == mt.size * (int) i + mt.size * (mt.size - 1) / 2, "reduced to %d", out);
}

/* The buffer may be used again only after the receiver's acknowledgement. */
static void freed_request(int id, long i)
{
    int out[N], in[N], ack = 0;
    MPI_Request r;
    for (int k = 0; k < N; k++)
        out[k] = (int) i + k + mt.rank;
    if (i % 3 == 0)
        MPI_Issend(out, N, MPI_INT, mt.peer, id, base[id], &r);
    else
        MPI_Isend(out, N, MPI_INT, mt.peer, id, base[id], &r);
    MPI_Request_free(&r);
    MT_CHECK(r == MPI_REQUEST_NULL, "freed request is not null");
    MPI_Recv(in, N, MPI_INT, mt.peer, id, base[id], MPI_STATUS_IGNORE);
    for (int k = 0; k < N; k++)
        MT_CHECK(in[k] == (int) i + k + mt.peer, "message of a freed request damaged");
    MPI_Sendrecv(&ack, 1, MPI_INT, mt.peer, id, &ack, 1, MPI_INT, mt.peer, id, base[id],
                 MPI_STATUS_IGNORE);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (long i = 0; i < mt.iters; i++) {
        MPI_Comm comm = base[t->id];
        if (i % DUP_EVERY == 0)
            MPI_Comm_dup(base[t->id], &comm);
        typed_exchange(t->id, i, comm);
        if (i % 8 == 0)
            reduce_freed_op(t->id, i);
        freed_request(t->id, i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 150);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &base[i]);
    mt_run(mt.threads, worker);
    for (int i = 0; i < mt.threads; i++)
        MPI_Comm_free(&base[i]);
    return mt_finish();
}
