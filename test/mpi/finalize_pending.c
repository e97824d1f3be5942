/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Finalize with work queued: sends whose requests were freed and never waited for, by
 * threads that are gone.  The receiver must get all of them. */
#include "mt.h"

#define BYTES 64
#define LARGE 300000

static char small_out[MT_MAX_THREADS][BYTES];
static char *large_out[MT_MAX_THREADS];

static void *sender(void *arg)
{
    mt_thread_t *t = arg;
    MPI_Request r;
    memset(small_out[t->id], t->id + 1, BYTES);
    large_out[t->id] = mt_alloc(LARGE);
    memset(large_out[t->id], t->id + 2, LARGE);
    for (long i = 0; i < mt.iters; i++) {
        MPI_Isend(small_out[t->id], BYTES, MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
    }
    MPI_Isend(large_out[t->id], LARGE, MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    return NULL;
}

static void *receiver(void *arg)
{
    mt_thread_t *t = arg;
    char *in = mt_alloc(LARGE);
    for (long i = 0; i < mt.iters; i++) {
        memset(in, 0, BYTES);
        MPI_Recv(in, LARGE, MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MT_CHECK(in[0] == t->id + 1 && in[BYTES - 1] == t->id + 1, "message %ld damaged", i);
    }
    MPI_Recv(in, LARGE, MPI_BYTE, mt.peer, t->id, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MT_CHECK(in[0] == t->id + 2 && in[LARGE - 1] == t->id + 2, "large message damaged");
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 50);
    MT_CHECK(mt.size % 2 == 0, "run with an even number of processes");
    mt_run(mt.threads, mt.rank % 2 ? receiver : sender);
    MPI_Finalize();
    if (mt.rank == 1)           /* the receiver knows */
        printf(" No Errors\n");
    return 0;
}
