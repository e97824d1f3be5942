/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Finalize with pending sends whose requests were freed and never waited for, by threads that
 * have ended.  The receiver must get all of them. */
#include "mt.h"

static char *out[MT_MAX_THREADS];

static void *sender(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Request r;
    out[t->id] = mt_alloc((size_t) mt.bytes);
    memset(out[t->id], t->id + 1, (size_t) mt.bytes);
    for (long i = 0; i < mt.iters; i++) {
        MPI_Isend(out[t->id], (int) mt.bytes, MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
    }
    return NULL;
}

static void *receiver(void *arg)
{
    mt_thread_t *t = arg;
    char *in = mt_alloc((size_t) mt.bytes);
    for (long i = 0; i < mt.iters; i++) {
        memset(in, 0, (size_t) mt.bytes);
        MPI_Recv(in, (int) mt.bytes, MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MT_CHECK(in[0] == t->id + 1 && in[mt.bytes - 1] == t->id + 1, "message %ld damaged", i);
    }
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 10);
    mt.bytes = mt.bytes ? mt.bytes : 64;
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    mt_run(mt.threads, mt.rank % 2 ? receiver : sender);
    MPI_Finalize();
    if (mt.rank == 1)           /* the receiver knows */
        printf(" No Errors\n");
    return 0;
}
