/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Isend returns although the peer receives nothing. Threads of process 0 start many sends,
 * short and long, of far more bytes than the network buffers; process 1 is outside MPI until all
 * of these calls have returned, and only then receives. The test never ends if MPI_Isend waits
 * for room. */
#include "mt.h"

#define LONGEST 100000

static MPI_Comm comm[MT_MAX_THREADS];
static MPI_Request *sends[MT_MAX_THREADS];
static char *out;
static atomic_long returned;

static int bytes_of(long i)
{
    static const int bytes[] = { 64, 8000, 1000, 12000, LONGEST, 8000 };
    return mt.bytes ? (int) mt.bytes : bytes[i % 6];
}

static void *sender(void *arg)
{
    mt_thread_t *t = arg;

    for (long i = 0; i < mt.iters; i++) {
        MT_OK(MPI_Isend(out + i % 64, bytes_of(i), MPI_BYTE, mt.peer, (int) (i % 100), comm[t->id],
                        &sends[t->id][i]));
        atomic_fetch_add(&returned, 1);
    }
    return NULL;
}

static void *receiver(void *arg)
{
    mt_thread_t *t = arg;
    char *in = mt_alloc(LONGEST);

    for (long i = 0; i < mt.iters; i++) {
        MPI_Status st;
        int got;
        MT_OK(MPI_Recv(in, LONGEST, MPI_BYTE, mt.peer, (int) (i % 100), comm[t->id], &st));
        MT_OK(MPI_Get_count(&st, MPI_BYTE, &got));
        MT_CHECK(got == bytes_of(i) && !memcmp(in, out + i % 64, (size_t) got),
                 "thread %d: message %ld of %d bytes is damaged", t->id, i, got);
    }
    free(in);
    return NULL;
}

static void *finisher(void *arg)
{
    mt_thread_t *t = arg;
    MT_OK(MPI_Waitall((int) mt.iters, sends[t->id], MPI_STATUSES_IGNORE));
    return NULL;
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 4, 1000);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_CHECK(mt.bytes <= LONGEST, "-s up to %d", LONGEST);
    out = mt_alloc(LONGEST + 64);
    for (int i = 0; i < LONGEST + 64; i++)
        out[i] = (char) mt_hash((uint64_t) i);
    for (int i = 0; i < mt.threads; i++) {
        sends[i] = mt_alloc((size_t) mt.iters * sizeof(MPI_Request));
        MT_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    }
    if (mt.rank == 1) {
        mt_stay_outside();
        mt_run(mt.threads, receiver);
    } else {
        int pid = mt_peer_outside();
        mt_run(mt.threads, sender);
        MT_CHECK(atomic_load(&returned) == mt.threads * mt.iters, "not all sends were started");
        mt_call_back(pid);
        mt_run(mt.threads, finisher);
    }
    for (int i = 0; i < mt.threads; i++) {
        MT_OK(MPI_Comm_free(&comm[i]));
        free(sends[i]);
    }
    free(out);
    return mt_finish();
}
