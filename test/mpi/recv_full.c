/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Receives for which the network has no room must not keep a process from sending. One thread of each
 * process starts more receives than libfabric takes; a moment later another one starts the sends that
 * the peer waits for, on another communicator, and so on another VCI if there are several. Only these
 * make room. The test never ends if whichever thread retries the receives keeps the sends from going
 * out. */
#include "mt.h"

#define BYTES 64
#define ENOUGH 1000             /* receives before the sends begin */

static MPI_Comm comm[2];
static atomic_long started;

static void receive_all(void)
{
    const int n = (int) mt.iters;
    MPI_Request *r = mt_alloc((size_t) n * sizeof(*r));
    char *in = mt_alloc((size_t) n * BYTES);

    for (int i = 0; i < n; i++) {
        MT_OK(MPI_Irecv(in + (size_t) i * BYTES, BYTES, MPI_BYTE, mt.peer, i, comm[mt.peer], &r[i]));
        atomic_fetch_add(&started, 1);
    }
    MT_OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < n; i++)
        MT_CHECK(in[(size_t) i * BYTES] == (char) i, "message %d is damaged", i);
    free(in);
    free(r);
}

static void send_all(void)
{
    const int n = (int) mt.iters;
    MPI_Request *r = mt_alloc((size_t) n * sizeof(*r));
    char *out = mt_alloc((size_t) n * BYTES);

    while (atomic_load(&started) < ENOUGH)
        usleep(1000);
    usleep(100000);
    for (int i = 0; i < n; i++) {
        out[(size_t) i * BYTES] = (char) i;
        MT_OK(MPI_Isend(out + (size_t) i * BYTES, BYTES, MPI_BYTE, mt.peer, i, comm[mt.rank],
                        &r[i]));
    }
    MT_OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    free(out);
    free(r);
}

static void *worker(void *arg)
{
    if (((mt_thread_t *) arg)->id == 0)
        receive_all();
    else
        send_all();
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 2, 6000);
    MT_CHECK(mt.size == 2 && mt.threads == 2, "run with 2 processes, 2 threads");
    MT_CHECK(mt.iters >= ENOUGH, "-n %d or more", ENOUGH);
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    mt_run(mt.threads, worker);
    for (int i = 0; i < 2; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
    return mt_finish();
}
