/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A process that computes delays no message to another one (MPI-4.0 section 3.5, progress: a send and
 * a receive that match complete whatever else happens). Threads of process 0 start more sends to
 * process 1 than there is room for, then send to process 2, which waits; process 1 computes until
 * process 2 has got these messages. The test never ends if they wait behind those to process 1. */
#include "mt.h"
#include "latch.h"

#define LONGEST 100000
#define TO_2 9                  /* messages of each thread to process 2 */

static MPI_Comm comm[MT_MAX_THREADS];
static char *text;              /* the messages are parts of it */
static atomic_int arrived;      /* threads of process 2 that have got their messages */

/* -s is for process 1. By default its messages take no cell of shared memory; longer ones do, and a VCI
 * of the sender has 64 for all its messages. */
static int bytes_of(int to, int i)
{
    static const int to_1[] = { 4, 60, 100 }, to_2[] = { 4, 3000, LONGEST };
    if (to == 2)
        return to_2[i % 3];
    return mt.bytes ? (int) mt.bytes : to_1[i % 3];
}

static void *sender(void *arg)
{
    mt_thread_t *t = arg;
    int n = (int) mt.iters;
    MPI_Request *r = mt_alloc((size_t) n * sizeof(*r));

    for (int i = 0; i < n; i++)
        MT_OK(MPI_Isend(text + i % 64, bytes_of(1, i), MPI_BYTE, 1, 0, comm[t->id], &r[i]));
    for (int i = 0; i < TO_2; i++)
        MT_OK(MPI_Send(text + i, bytes_of(2, i), MPI_BYTE, 2, 0, comm[t->id]));
    MT_OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
    free(r);
    return NULL;
}

static void *receiver(void *arg)
{
    mt_thread_t *t = arg;
    int n = mt.rank == 1 ? (int) mt.iters : TO_2;
    char *in = mt_alloc(LONGEST);

    for (int i = 0; i < n; i++) {
        MPI_Status st;
        int got;
        MT_OK(MPI_Recv(in, LONGEST, MPI_BYTE, 0, 0, comm[t->id], &st));
        MT_OK(MPI_Get_count(&st, MPI_BYTE, &got));
        MT_CHECK(got == bytes_of(mt.rank, i) && !memcmp(in, text + i % 64, (size_t) got),
                 "thread %d: message %d, of %d bytes, is another one or damaged", t->id, i, got);
    }
    if (mt.rank == 2 && atomic_fetch_add(&arrived, 1) + 1 == mt.threads)
        open_latch();
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 2, 3000);
    MT_CHECK(mt.size == 3, "run with 3 processes");
    MT_CHECK(mt.bytes <= LONGEST, "-s up to %d", LONGEST);
    text = mt_alloc(LONGEST + 64);
    for (int i = 0; i < LONGEST + 64; i++)
        text[i] = (char) mt_hash((uint64_t) i);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    make_latch();
    if (mt.rank == 1)
        wait_latch();
    mt_run(mt.threads, mt.rank == 0 ? sender : receiver);
    for (int i = 0; i < mt.threads; i++)
        MT_OK(MPI_Comm_free(&comm[i]));
    free(text);
    return mt_finish();
}
