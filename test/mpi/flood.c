/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Every thread of a process sends far more than a netmod has room for, before it receives anything:
 * on a communicator that the threads of its process share, and the other process floods another
 * one, which is on another VCI if there are several. Each must go on receiving what the other sends
 * while its own sends find no room; the threads that are done wait outside MPI and do not help.
 * FI_PROVIDER=tcp in the list: with libfabric's sockets provider the kernel's TCP window closes for
 * minutes when a large segment is read down to a part of a header. */
#include "mt.h"

#define BYTES 8000
#define TAG(thread_, i_) ((thread_) * 100000 + (i_))

static MPI_Comm comm[2];
static pthread_barrier_t all_sent;

static void *worker(void *arg)
{
    mt_thread_t *t = arg;
    int n = (int) mt.iters;
    MPI_Request *r = mt_alloc(2 * (size_t) n * sizeof(*r));
    char *out = mt_alloc(BYTES), *in = mt_alloc((size_t) n * BYTES);
    memset(out, t->id + 1, BYTES);
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Isend(out, BYTES, MPI_BYTE, mt.peer, TAG(t->id, i), comm[mt.rank], &r[i]));
    pthread_barrier_wait(&all_sent);
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Irecv(in + (size_t) i * BYTES, BYTES, MPI_BYTE, mt.peer, TAG(t->id, i),
                        comm[mt.peer], &r[n + i]));
    MPI_Waitall(2 * n, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        MT_CHECK(!memcmp(in + (size_t) i * BYTES, out, BYTES), "message %d damaged", i);
    free(r);
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 500);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    pthread_barrier_init(&all_sent, NULL, (unsigned) mt.threads);
    mt_run(mt.threads, worker);
    pthread_barrier_destroy(&all_sent);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comm[i]);
    return mt_finish();
}
