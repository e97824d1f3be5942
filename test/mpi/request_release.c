/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Two threads drop the last two references to a request: its user (MPI_Request_free) and the thread
 * that makes progress (MPICH #6637).  A thread tests a completed request while all other threads
 * are in the library (see test_done for #6629).  A double release shows as lost or wrong messages
 * or a crash of later requests, which reuse the memory. */
#include "mt.h"

#define N 16
#define LARGE 40000

static void freed(int id, long i)
{
    int out[N], in[N], done = 0, bytes;
    char *large = NULL;
    int small = i % 16 != 0;
    MPI_Request r[N];
    MPI_Status st;
    if (!small) {
        large = mt_alloc(LARGE);
        memset(large, 1 + (int) (i % 100), LARGE);
    }
    for (int k = 0; k < N; k++) {
        out[k] = (int) i + k;
        if (small)
            MPI_Issend(&out[k], 1, MPI_INT, mt.peer, id, MPI_COMM_WORLD, &r[k]);
        else
            MPI_Isend(large, k ? 1 : LARGE, MPI_BYTE, mt.peer, id, MPI_COMM_WORLD, &r[k]);
        MPI_Request_free(&r[k]);
    }
    for (int k = 0; k < N; k++) {
        if (small) {
            MPI_Recv(&in[k], 1, MPI_INT, mt.peer, id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MT_CHECK(in[k] == (int) i + k, "message %d of round %ld is %d", k, i, in[k]);
        } else {
            char *b = mt_alloc(LARGE);
            MPI_Recv(b, LARGE, MPI_BYTE, mt.peer, id, MPI_COMM_WORLD, &st);
            MPI_Get_count(&st, MPI_BYTE, &bytes);
            MT_CHECK(bytes == (k ? 1 : LARGE) && b[0] == 1 + i % 100 && b[bytes - 1] == 1 + i % 100,
                     "round %ld: %d bytes, %d to %d", i, bytes, b[0], b[bytes - 1]);
            free(b);
        }
    }
    /* the peer acknowledges when it has everything */
    MPI_Sendrecv_replace(&done, 1, MPI_INT, mt.peer, id, mt.peer, id, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    free(large);
}

static void tested(int id)
{
    int out = id, in = -1, flag = 0, index, n;
    MPI_Request r[2];
    MPI_Irecv(&in, 1, MPI_INT, mt.rank, 100 + id, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&out, 1, MPI_INT, mt.rank, 100 + id, MPI_COMM_WORLD, &r[1]);
    for (int k = 0; k < 2; k++)
        for (flag = 0; !flag;)
            MPI_Request_get_status(r[k], &flag, MPI_STATUS_IGNORE);
    switch (id % 4) {
        case 0:
            MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
            MT_CHECK(flag, "MPI_Testall of completed requests");
            break;
        case 1:
            for (int k = 0; k < 2; k++) {
                MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE);
                MT_CHECK(flag && index != MPI_UNDEFINED, "MPI_Testany of completed requests");
            }
            break;
        case 2:
            MPI_Testsome(2, r, &n, (int[2]) {0}, MPI_STATUSES_IGNORE);
            MT_CHECK(n == 2, "MPI_Testsome of completed requests");
            break;
        default:
            for (int k = 0; k < 2; k++) {
                MPI_Test(&r[k], &flag, MPI_STATUS_IGNORE);
                MT_CHECK(flag, "MPI_Test of a completed request");
            }
    }
    MT_CHECK(in == id, "message to self is %d", in);
}

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    for (long i = 0; i < mt.iters; i++) {
        freed(t->id, i);
        tested(t->id);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 6, 200);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    mt_run(mt.threads, worker);
    return mt_finish();
}
